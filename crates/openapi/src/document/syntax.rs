//! Syntax errors of JSON and YAML, in one form.

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

/// The first line of a message, without the position in it.
fn reason(message: &str) -> String {
    let reason = message.split(" at line ").next().unwrap_or(message);
    let reason = reason.lines().next().unwrap_or_default();
    text::line(reason.trim_end_matches('.'), 200)
}
