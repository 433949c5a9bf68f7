//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

use super::family::{MetricFamily, MetricKind, SampleValue};

pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn write(families: &[MetricFamily]) -> String {
    let mut out = Exposition::default();
    for family in families {
        out.family(family);
    }
    out.0
}

/// A text that is being written, family by family.
#[derive(Debug, Default)]
struct Exposition(String);

type Labels = [(&'static str, String)];

impl Exposition {
    fn family(&mut self, family: &MetricFamily) {
        let (name, help) = (family.name, family.help);
        let kind = match family.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
        for sample in &family.samples {
            match &sample.value {
                SampleValue::Number(number) => self.sample(name, &sample.labels, number),
                SampleValue::Histogram {
                    bounds,
                    counts,
                    sum,
                } => self.histogram(name, &sample.labels, bounds, (counts, *sum)),
            }
        }
    }

    fn sample(&mut self, name: &str, labels: &Labels, value: impl Display) {
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

    /// Its counts are cumulative in this format.
    fn histogram(
        &mut self,
        name: &str,
        labels: &Labels,
        bounds: &[f64],
        (counts, sum): (&[u64], f64),
    ) {
        let bucket = format!("{name}_bucket");
        let bounds = bounds.iter().map(f64::to_string);
        let bounds = bounds.chain(["+Inf".to_owned()]);
        let mut total = 0;
        for (bound, count) in bounds.zip(counts) {
            total += count;
            let labels: Vec<_> = labels.iter().cloned().chain([("le", bound)]).collect();
            self.sample(&bucket, &labels, total);
        }
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, total);
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
        let mut family = MetricFamily::new("t", MetricKind::Histogram, "Time.");
        let value = SampleValue::Histogram {
            bounds: vec![0.5, 1.0],
            counts: vec![2, 0, 1],
            sum: 7.5,
        };
        family.push(&[("source", "a\"b\\c\nd")], value);
        let label = r#"source="a\"b\\c\nd""#;
        let expected = format!(
            "# HELP t Time.\n# TYPE t histogram\n\
             t_bucket{{{label},le=\"0.5\"}} 2\nt_bucket{{{label},le=\"1\"}} 2\n\
             t_bucket{{{label},le=\"+Inf\"}} 3\nt_sum{{{label}}} 7.5\nt_count{{{label}}} 3\n"
        );
        assert_eq!(write(&[family]), expected);
    }
}
