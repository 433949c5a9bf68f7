//! A collector that nobody here wrote: rotel, which prints what it received.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::listening::Listening;
use crate::peer::installed;
use crate::server::TEST_TIMEOUT;

pub struct Receiver {
    rotel: Listening,
    folder: TempDir,
}

/// A span as it arrived. Values are as rotel prints them: `Str(…)`, `Int(…)`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReceivedSpan {
    pub trace: String,
    pub id: String,
    pub parent: String,
    pub name: String,
    pub kind: String,
    pub attributes: BTreeMap<String, String>,
}

impl ReceivedSpan {
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// One metric, with the attributes of each of its data points.
#[derive(Debug, Clone, Default)]
pub struct ReceivedMetric {
    pub unit: String,
    pub points: Vec<BTreeMap<String, String>>,
}

impl ReceivedMetric {
    fn has_point(&self, attributes: &[(&str, &str)]) -> bool {
        let has = |point: &BTreeMap<String, String>, (name, value): &(&str, &str)| {
            point.get(*name).is_some_and(|found| found == value)
        };
        let mut points = self.points.iter();
        points.any(|point| attributes.iter().all(|attribute| has(point, attribute)))
    }
}

impl Receiver {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (rotel, here) = (program(), folder.path().to_owned());
        let rotel = Listening::start(move |port| {
            let mut shell = Command::new("sh");
            shell
                .args([
                    "-c",
                    "exec \"$0\" start \"$@\" --pid-file pid --log-file log >received 2>&1",
                ])
                .arg(&rotel)
                .args(["--otlp-http-endpoint", &format!("127.0.0.1:{port}")])
                .args(["--otlp-grpc-endpoint", "127.0.0.1:0"])
                .args(["--exporter", "blackhole", "--batch-timeout", "20ms"])
                .args(["--debug-log", "traces", "--debug-log", "metrics"])
                .args(["--debug-log-verbosity", "detailed"])
                .current_dir(&here);
            shell
        });
        Self { rotel, folder }
    }

    pub fn url(&self) -> &str {
        &self.rotel.address
    }

    /// All that it printed.
    pub fn printed(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("received")).unwrap()
    }

    /// The spans of a trace, once they pass.
    pub async fn spans(
        &self,
        trace: &str,
        passes: impl Fn(&[ReceivedSpan]) -> bool,
    ) -> Vec<ReceivedSpan> {
        let begun = Instant::now();
        loop {
            let mut spans = read_spans(&self.printed());
            spans.retain(|span| span.trace == trace);
            if passes(&spans) {
                return spans;
            }
            assert!(begun.elapsed() < TEST_TIMEOUT, "{spans:#?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The metrics by name, once each of these has a data point with at least these attributes.
    pub async fn metrics(
        &self,
        expected: &[(&str, &[(&str, &str)])],
    ) -> BTreeMap<String, ReceivedMetric> {
        let begun = Instant::now();
        loop {
            let metrics = read_metrics(&self.printed());
            let is_missing = |(name, attributes): &&(&str, &[(&str, &str)])| {
                !metrics
                    .get(*name)
                    .is_some_and(|metric| metric.has_point(attributes))
            };
            let Some(missing) = expected.iter().find(is_missing) else {
                return metrics;
            };
            assert!(
                begun.elapsed() < TEST_TIMEOUT,
                "{missing:?} is not among {metrics:#?}"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn program() -> PathBuf {
    let libraries = installed("venv-telemetry/lib");
    let mut pythons = std::fs::read_dir(libraries).unwrap();
    let python = pythons.next().unwrap().unwrap().path();
    python.join("site-packages/rotel/rotel-agent")
}

/// `     -> name: Str(value)`
fn read_attribute(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().strip_prefix("-> ")?.split_once(": ")?;
    Some((name.to_owned(), value.to_owned()))
}

fn read_spans(printed: &str) -> Vec<ReceivedSpan> {
    let mut spans: Vec<ReceivedSpan> = Vec::new();
    let mut is_in_span = false;
    for line in printed.lines() {
        if line.starts_with("Span #") {
            spans.push(ReceivedSpan::default());
            is_in_span = true;
        } else if line.starts_with("Resource") || line.starts_with("Scope") {
            is_in_span = false;
        }
        let Some(span) = spans.last_mut().filter(|_| is_in_span) else {
            continue;
        };
        if let Some((name, value)) = read_attribute(line) {
            span.attributes.insert(name, value);
        } else if let Some((name, value)) = line.split_once(" : ") {
            let field = match name.trim() {
                "Trace ID" => &mut span.trace,
                "Parent ID" => &mut span.parent,
                "ID" => &mut span.id,
                "Name" => &mut span.name,
                "Kind" => &mut span.kind,
                _ => continue,
            };
            value.trim().clone_into(field);
        }
    }
    spans
}

fn read_metrics(printed: &str) -> BTreeMap<String, ReceivedMetric> {
    let mut metrics: BTreeMap<String, ReceivedMetric> = BTreeMap::new();
    let (mut name, mut is_in_point) = (String::new(), false);
    for line in printed.lines() {
        match read_attribute(line) {
            Some((key, value)) if key == "Name" => {
                metrics.entry(value.clone()).or_default();
                (name, is_in_point) = (value, false);
            }
            Some((key, value)) => {
                let Some(metric) = metrics.get_mut(&name) else {
                    continue;
                };
                match metric.points.last_mut().filter(|_| is_in_point) {
                    Some(point) => {
                        point.insert(key, value);
                    }
                    None if key == "Unit" => metric.unit = value,
                    None => {}
                }
            }
            None if line.contains("DataPoints #") => {
                is_in_point = true;
                if let Some(metric) = metrics.get_mut(&name) {
                    metric.points.push(BTreeMap::new());
                }
            }
            None => is_in_point &= !line.starts_with("Resource"),
        }
    }
    metrics
}
