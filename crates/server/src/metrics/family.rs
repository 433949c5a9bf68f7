//! What is counted, before anybody writes it down: `/metrics` as text, an exporter as it likes.

/// All samples of one name.
#[derive(Debug, Clone)]
pub struct MetricFamily {
    pub name: &'static str,
    pub kind: MetricKind,
    pub help: &'static str,
    pub samples: Vec<MetricSample>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

#[derive(Debug, Clone)]
pub struct MetricSample {
    pub labels: Vec<(&'static str, String)>,
    pub value: SampleValue,
}

#[derive(Debug, Clone)]
pub enum SampleValue {
    Number(f64),
    /// How many came up to each bound and no bound below; the last count has no bound.
    Histogram {
        bounds: Vec<f64>,
        counts: Vec<u64>,
        sum: f64,
    },
}

impl MetricFamily {
    pub(super) fn new(name: &'static str, kind: MetricKind, help: &'static str) -> Self {
        Self {
            name,
            kind,
            help,
            samples: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, labels: &[(&'static str, &str)], number: f64) {
        self.push(labels, SampleValue::Number(number));
    }

    pub(super) fn push(&mut self, labels: &[(&'static str, &str)], value: SampleValue) {
        let labels = labels
            .iter()
            .map(|(name, text)| (*name, (*text).to_owned()));
        self.samples.push(MetricSample {
            labels: labels.collect(),
            value,
        });
    }
}
