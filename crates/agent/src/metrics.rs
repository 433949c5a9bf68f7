//! Counters of runs of the loop, by outcome, and of the tokens that models took.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tenon_domain::{TurnOutcome, Usage};

use crate::lock::lock;

/// Models beyond this many names are counted together.
const MAX_MODELS: usize = 256;

/// The name under which models beyond [`MAX_MODELS`] are counted.
const OTHER: &str = "(other)";

const OUTCOMES: [&str; 5] = ["done", "stopped", "step_limit", "interrupted", "failed"];

/// What ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// A turn of a chat.
    Turn,
    /// An answer for a client that stores the conversation itself.
    Completion,
}

impl RunKind {
    const LABELS: [&str; 2] = ["turn", "completion"];
}

/// How many runs ended in an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCount {
    pub kind: &'static str,
    pub outcome: &'static str,
    pub runs: u64,
}

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunMetrics(Arc<RunCounters>);

#[derive(Debug, Default)]
struct RunCounters {
    runs: [[AtomicU64; OUTCOMES.len()]; RunKind::LABELS.len()],
    tokens: Mutex<BTreeMap<String, Usage>>,
}

impl RunMetrics {
    pub(crate) fn ended(&self, kind: RunKind, outcome: &TurnOutcome, model: &str, usage: Usage) {
        let outcome = match outcome {
            TurnOutcome::Done => 0,
            TurnOutcome::Stopped => 1,
            TurnOutcome::StepLimit => 2,
            TurnOutcome::Interrupted(_) => 3,
            TurnOutcome::Failed(_) => 4,
        };
        self.0.runs[kind as usize][outcome].fetch_add(1, Ordering::Relaxed);
        let mut tokens = lock(&self.0.tokens);
        let is_full = tokens.len() >= MAX_MODELS && !tokens.contains_key(model);
        let model = if is_full { OTHER } else { model };
        *tokens.entry(model.to_owned()).or_default() += usage;
    }

    /// All outcomes, those that have not occurred included.
    pub(crate) fn runs(&self) -> Vec<RunCount> {
        let kinds = RunKind::LABELS.into_iter().zip(&self.0.runs);
        let counts = kinds.flat_map(|(kind, counts)| {
            let outcomes = OUTCOMES.into_iter().zip(counts);
            outcomes.map(move |(outcome, runs)| RunCount {
                kind,
                outcome,
                runs: runs.load(Ordering::Relaxed),
            })
        });
        counts.collect()
    }

    pub(crate) fn tokens(&self) -> BTreeMap<String, Usage> {
        let tokens = lock(&self.0.tokens);
        tokens.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_counted_by_name_up_to_a_bound() {
        let metrics = RunMetrics::default();
        let usage = Usage {
            input_tokens: 2,
            output_tokens: 1,
            ..Usage::default()
        };
        for number in 0..MAX_MODELS + 10 {
            let model = format!("m{number}");
            metrics.ended(RunKind::Turn, &TurnOutcome::Done, &model, usage);
        }
        metrics.ended(RunKind::Turn, &TurnOutcome::Done, "m0", usage);
        let tokens = metrics.tokens();
        assert_eq!(tokens.len(), MAX_MODELS + 1);
        assert_eq!(tokens["m0"].input_tokens, 4);
        assert_eq!(tokens[OTHER].output_tokens, 10);
        let done = &metrics.runs()[0];
        assert_eq!((done.kind, done.outcome, done.runs), ("turn", "done", 267));
    }
}
