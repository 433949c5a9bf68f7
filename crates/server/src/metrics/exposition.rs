//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Debug, Clone, Copy)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// A text that is being written, family by family.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

type Labels<'a> = [(&'a str, &'a str)];

impl Exposition {
    /// Begins a family; its samples follow.
    pub(super) fn family(&mut self, name: &str, kind: MetricKind, help: &str) {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    pub(super) fn sample(&mut self, name: &str, labels: &Labels<'_>, value: impl Display) {
        self.0.push_str(name);
        for (number, (label, text)) in labels.iter().enumerate() {
            let before = if number == 0 { '{' } else { ',' };
            let text = Escaped(text);
            // Writing to a string cannot fail.
            let _ = write!(self.0, "{before}{label}=\"{text}\"");
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        self.line(format_args!(" {value}"));
    }

    /// A histogram of counts that are not cumulative yet; the last one has no bound.
    pub(super) fn histogram(
        &mut self,
        name: &str,
        labels: &Labels<'_>,
        bounds: &[f64],
        counts: &[u64],
        sum: f64,
    ) {
        let bucket = format!("{name}_bucket");
        let bounds = bounds.iter().map(f64::to_string);
        let bounds = bounds.chain(["+Inf".to_owned()]);
        let mut total = 0;
        for (bound, count) in bounds.zip(counts) {
            total += count;
            let labels: Vec<_> = labels.iter().copied().chain([("le", &*bound)]).collect();
            self.sample(&bucket, &labels, total);
        }
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, total);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{text}");
    }
}

/// The value of a label, between quotes.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up_and_labels_are_escaped() {
        let mut out = Exposition::default();
        out.family("t", MetricKind::Histogram, "Time.");
        out.histogram(
            "t",
            &[("source", "a\"b\\c\nd")],
            &[0.5, 1.0],
            &[2, 0, 1],
            7.5,
        );
        let label = r#"source="a\"b\\c\nd""#;
        let expected = format!(
            "# HELP t Time.\n# TYPE t histogram\n\
             t_bucket{{{label},le=\"0.5\"}} 2\nt_bucket{{{label},le=\"1\"}} 2\n\
             t_bucket{{{label},le=\"+Inf\"}} 3\nt_sum{{{label}}} 7.5\nt_count{{{label}}} 3\n"
        );
        assert_eq!(out.finish(), expected);
    }
}
