//! Counters of tool calls: how many ended how, by source, and how long they took.
//!
//! A call pays for a few relaxed atomic additions: its tool holds the counters of its source, so
//! nothing is looked up. Sources of one person share one label, as do those beyond a bound: neither
//! the number of labels nor people's own server names are theirs to publish.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenon_domain::{ErrorKind, SourceInfo, SourceKind, ToolResult};

/// Shared sources beyond this many names are counted together.
const MAX_LABELS: usize = 256;

/// The name under which sources of one person are counted.
const PERSONAL: &str = "(personal)";

/// The name under which sources beyond [`MAX_LABELS`] are counted.
const OTHER: &str = "(other)";

/// Upper bounds of the latency histogram, in microseconds.
pub const LATENCY_BOUNDS_US: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 1_000_000,
    10_000_000, 60_000_000,
];

/// The outcomes of a call, as they are labelled.
const OUTCOMES: [&str; 9] = [
    "done",
    "unknown_tool",
    "invalid_input",
    "denied",
    "timed_out",
    "cancelled",
    "unavailable",
    "failed",
    "lost",
];

/// The counters of one source.
#[derive(Debug, Default)]
pub(crate) struct CallCounters {
    outcomes: [AtomicU64; OUTCOMES.len()],
    /// The last one is of calls that took longer than every bound.
    latencies: [AtomicU64; LATENCY_BOUNDS_US.len() + 1],
    total_us: AtomicU64,
}

/// Whose calls are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLabel {
    pub kind: &'static str,
    pub name: String,
}

/// What was counted for one source so far.
#[derive(Debug, Clone)]
pub struct CallStatistics {
    pub source: SourceLabel,
    /// How many calls ended in each outcome that occurred.
    pub outcomes: Vec<(&'static str, u64)>,
    /// How many took up to each of [`LATENCY_BOUNDS_US`] and no bound below; the last one: longer.
    /// Calls that were refused before they began are not among them.
    pub latencies: [u64; LATENCY_BOUNDS_US.len() + 1],
    pub total: Duration,
}

/// The counters of all sources, kept while the process runs.
#[derive(Debug, Default)]
pub(crate) struct CallMetrics(Mutex<BTreeMap<SourceLabel, Arc<CallCounters>>>);

impl CallCounters {
    /// A call that ran.
    pub(crate) fn ran(&self, result: &ToolResult, took: Duration) {
        let took = took.as_micros() as u64;
        let bucket = LATENCY_BOUNDS_US.partition_point(|bound| *bound < took);
        self.latencies[bucket].fetch_add(1, Ordering::Relaxed);
        self.total_us.fetch_add(took, Ordering::Relaxed);
        self.count(result.as_ref().err().map(|error| error.kind));
    }

    /// A call that was not made.
    pub(crate) fn refused(&self, kind: ErrorKind) {
        self.count(Some(kind));
    }

    fn count(&self, error: Option<ErrorKind>) {
        let outcome = match error {
            None => 0,
            Some(ErrorKind::UnknownTool) => 1,
            Some(ErrorKind::InvalidInput) => 2,
            Some(ErrorKind::Denied) => 3,
            Some(ErrorKind::TimedOut) => 4,
            Some(ErrorKind::Cancelled) => 5,
            Some(ErrorKind::Unavailable) => 6,
            Some(ErrorKind::Failed) => 7,
            Some(ErrorKind::Lost) => 8,
        };
        self.outcomes[outcome].fetch_add(1, Ordering::Relaxed);
    }

    fn statistics(&self, source: SourceLabel) -> CallStatistics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let outcomes = OUTCOMES.into_iter().zip(self.outcomes.iter().map(load));
        CallStatistics {
            source,
            outcomes: outcomes.filter(|(_, count)| *count > 0).collect(),
            latencies: std::array::from_fn(|bucket| load(&self.latencies[bucket])),
            total: Duration::from_micros(load(&self.total_us)),
        }
    }
}

impl CallMetrics {
    /// The counters of a source.
    pub(crate) fn counters(&self, source: &SourceInfo) -> Arc<CallCounters> {
        let mut label = SourceLabel {
            kind: kind_label(source.kind),
            name: match source.owner {
                None => source.name.clone(),
                Some(_) => PERSONAL.to_owned(),
            },
        };
        let mut labels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if labels.len() >= MAX_LABELS && !labels.contains_key(&label) {
            OTHER.clone_into(&mut label.name);
        }
        labels.entry(label).or_default().clone()
    }

    pub(crate) fn statistics(&self) -> Vec<CallStatistics> {
        let labels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = labels.iter();
        all.map(|(source, counters)| counters.statistics(source.clone()))
            .collect()
    }
}

pub(crate) fn kind_label(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Builtin => "builtin",
        SourceKind::Skill => "skill",
        SourceKind::Mcp => "mcp",
        SourceKind::Openapi => "openapi",
        SourceKind::Browser => "browser",
    }
}

#[cfg(test)]
mod tests {
    use tenon_domain::{SourceId, ToolError, ToolOutput, UserId};

    use super::*;

    fn source(name: &str, owner: Option<&str>) -> SourceInfo {
        SourceInfo {
            id: SourceId::new(name),
            kind: SourceKind::Mcp,
            name: name.to_owned(),
            title: name.to_owned(),
            owner: owner.map(UserId::new),
        }
    }

    #[test]
    fn a_call_is_counted_once_by_outcome_and_by_latency() {
        let metrics = CallMetrics::default();
        let time = metrics.counters(&source("time", None));
        let done = Ok(ToolOutput::text("noon"));
        time.ran(&done, Duration::from_micros(100));
        time.ran(&done, Duration::from_micros(101));
        time.ran(&Err(ToolError::lost()), Duration::from_secs(3600));
        time.refused(ErrorKind::InvalidInput);
        let [statistics] = &metrics.statistics()[..] else {
            panic!("one source");
        };
        let expected = [("done", 2), ("invalid_input", 1), ("lost", 1)];
        assert_eq!(statistics.outcomes, expected);
        let latencies = &statistics.latencies;
        assert_eq!((latencies[0], latencies[1], latencies[14]), (1, 1, 1));
        assert_eq!(latencies.iter().sum::<u64>(), 3);
    }

    #[test]
    fn labels_are_bounded_and_name_no_persons_server() {
        let metrics = CallMetrics::default();
        for number in 0..2 * MAX_LABELS {
            let counters = metrics.counters(&source(&format!("shared{number}"), None));
            counters.refused(ErrorKind::Denied);
        }
        metrics.counters(&source("diary", Some("ada")));
        let labels: Vec<String> = metrics
            .statistics()
            .into_iter()
            .map(|one| one.source.name)
            .collect();
        assert!(labels.len() <= MAX_LABELS + 1, "{}", labels.len());
        assert!(labels.iter().any(|label| label == OTHER));
        assert!(!labels.iter().any(|label| label == "diary"));
    }
}
