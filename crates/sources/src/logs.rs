//! The log of one server: what its program wrote to standard error, and notes by Tenon about it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::lock::lock;

/// How many lines are kept, and how much of each.
const MAX_LINES: usize = 200;
const MAX_LINE_BYTES: usize = 2000;

/// Prefix of log lines for standard output that is not a JSON-RPC message.
const STRAY_PREFIX: &str = "Not a message of MCP: ";

/// The last lines of one server. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Logs(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    lines: VecDeque<ServerLogLine>,
    /// How many of them, at the end, are of the last run.
    of_last_run: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLogLine {
    pub at: SystemTime,
    /// Written by Tenon. Otherwise by the server.
    pub ours: bool,
    pub text: String,
}

impl Logs {
    /// Something we noticed.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.push(true, text.into());
    }

    /// Something the server said.
    pub(crate) fn output(&self, text: impl Into<String>) {
        self.push(false, text.into());
    }

    /// The server said something where only messages belong.
    pub(crate) fn stray_output(&self, text: &str) {
        self.note(format!("{STRAY_PREFIX}{text}"));
    }

    /// Marks the start of a new run of the program, so that `cause` looks only at lines after it.
    pub(crate) fn begin_run(&self) {
        self.inner().of_last_run = 0;
    }

    /// Oldest first.
    pub fn lines(&self) -> Vec<ServerLogLine> {
        self.inner().lines.iter().cloned().collect()
    }

    /// Why the server's program ended, by what it wrote in its last run.
    pub fn cause(&self) -> Cause {
        let written: Vec<String> = {
            let inner = self.inner();
            let before = inner.lines.len() - inner.of_last_run;
            let of_run = inner.lines.iter().skip(before);
            let written = of_run.filter_map(|line| {
                let text = line.text.as_str();
                if line.ours {
                    text.strip_prefix(STRAY_PREFIX)
                } else {
                    Some(text)
                }
            });
            written.map(str::to_owned).collect()
        };
        Cause::of(&written)
    }

    /// The newest line of that.
    pub(crate) fn last_line(&self) -> Option<String> {
        let inner = self.inner();
        let newest = inner.lines.iter().rev().take(inner.of_last_run);
        let mut output = newest.filter(|line| !line.ours);
        output.next().map(|line| line.text.trim_start().to_owned())
    }

    fn push(&self, ours: bool, mut text: String) {
        text.truncate(text.floor_char_boundary(MAX_LINE_BYTES));
        let mut inner = self.inner();
        if inner.lines.len() == MAX_LINES {
            inner.lines.pop_front();
        }
        inner.lines.push_back(ServerLogLine {
            at: SystemTime::now(),
            ours,
            text,
        });
        inner.of_last_run = (inner.of_last_run + 1).min(MAX_LINES);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.0)
    }
}
