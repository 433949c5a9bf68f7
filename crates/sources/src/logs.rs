//! What a server wrote to its standard error, where it has one, and what we noticed about it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// How many lines are kept, and how much of each.
const MAX_LINES: usize = 200;
const MAX_LENGTH: usize = 2000;

/// The last lines of one server. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Logs(Arc<Mutex<VecDeque<Line>>>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub at: SystemTime,
    /// Our own words. Otherwise the server's.
    pub ours: bool,
    pub text: String,
}

impl Logs {
    /// Something we noticed.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.push(true, text.into());
    }

    /// Something the server said.
    pub(crate) fn heard(&self, text: impl Into<String>) {
        self.push(false, text.into());
    }

    /// Oldest first.
    pub fn lines(&self) -> Vec<Line> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }

    fn push(&self, ours: bool, mut text: String) {
        text.truncate(text.floor_char_boundary(MAX_LENGTH));
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(Line {
            at: SystemTime::now(),
            ours,
            text,
        });
    }
}
