//! How YAML is read, and syntax errors of it and of JSON in one form.

use serde_saphyr::{DuplicateKeyPolicy, Options};
use tenon_text as text;

/// The first error of a parser, with its position counted from one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct SyntaxError {
    pub line: u64,
    pub column: u64,
    /// Without the position, one line.
    pub reason: String,
}

impl From<serde_json::Error> for SyntaxError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            line: error.line() as u64,
            column: error.column() as u64,
            reason: reason(&error.to_string()),
        }
    }
}

impl From<serde_saphyr::Error> for SyntaxError {
    fn from(error: serde_saphyr::Error) -> Self {
        let position = error.location();
        Self {
            line: position.map_or(1, |at| at.line()),
            column: position.map_or(1, |at| at.column()),
            reason: reason(&error.without_snippet().to_string()),
        }
    }
}

/// For YAML that a person writes, such as a configuration: strict, and bounded.
pub fn strict_yaml(max_documents: usize) -> Options {
    /// Deeper than any file of a person, far from where a stack ends.
    const MAX_DEPTH: usize = 64;
    /// Bounds the expansion of aliases ("billion laughs"); a thousand servers fit.
    const MAX_NODES: usize = 50_000;
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_documents: max_documents,
            max_aliases: 1000,
            max_anchors: 1000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        // `yes` and `on` are words in an environment variable or a description.
        strict_booleans: true,
        with_snippet: false,
    }
}

/// The first line of a message, without the position in it.
fn reason(message: &str) -> String {
    let reason = message.split(" at line ").next().unwrap_or(message);
    let reason = reason.lines().next().unwrap_or_default();
    text::line(reason.trim_end_matches('.'), 200)
}
