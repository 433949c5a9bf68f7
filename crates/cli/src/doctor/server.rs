//! A server that a page can use, and its tools.

use super::problem::{DoctorProblem, ProblemKind};

/// Of the tools that are left out no more are told.
const MAX_NOTES: usize = 5;

#[derive(Debug, Default)]
pub(super) struct UsableServer {
    pub(super) tools: usize,
    /// What a person should know besides.
    pub(super) notes: Vec<DoctorProblem>,
}

impl UsableServer {
    /// `left_out`: a sentence for each tool that Tenon cannot use.
    pub(super) fn new(tools: usize, mut left_out: Vec<String>) -> Self {
        let more = left_out.len().saturating_sub(MAX_NOTES);
        left_out.truncate(MAX_NOTES);
        if more > 0 {
            left_out.push(format!("… and {more} more like these."));
        }
        let notes = left_out
            .into_iter()
            .map(|note| ProblemKind::BadSpec.with(note));
        Self {
            tools,
            notes: notes.collect(),
        }
    }

    /// "lets it through: 3 tools"
    pub(super) fn verdict(&self) -> String {
        format!("lets it through: {}", self.count())
    }

    /// "3 tools"
    pub(super) fn count(&self) -> String {
        match self.tools {
            0 => "no tools".to_owned(),
            1 => "1 tool".to_owned(),
            many => format!("{many} tools"),
        }
    }
}
