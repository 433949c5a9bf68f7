//! Where a text is no JSON or YAML, and why.

use crate::text;

/// The first place that cannot be read.
pub(crate) struct Flaw {
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) why: String,
}

impl From<serde_json::Error> for Flaw {
    fn from(error: serde_json::Error) -> Self {
        Self {
            line: error.line() as u64,
            column: error.column() as u64,
            why: reason(&error.to_string()),
        }
    }
}

impl From<serde_saphyr::Error> for Flaw {
    fn from(error: serde_saphyr::Error) -> Self {
        let place = error.location();
        Self {
            line: place.map_or(1, |place| place.line()),
            column: place.map_or(1, |place| place.column()),
            why: reason(&error.without_snippet().to_string()),
        }
    }
}

/// Without the place, which is told once.
fn reason(told: &str) -> String {
    let why = told.split(" at line ").next().unwrap_or(told);
    let why = why.lines().next().unwrap_or_default();
    text::line(why.trim_end_matches('.'), 200)
}
