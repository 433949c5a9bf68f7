//! What is wrong with a list of tools.

use std::fmt;

use tenon_text as text;

use crate::transport::header_params::HeaderParamError;

/// A problem may quote names of the server, so its text is cut.
const MAX_PROBLEM_CHARS: usize = 500;

/// One sentence each, by [`fmt::Display`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolListProblem {
    NoTools,
    /// The tool at this place of the list cannot be read.
    Unreadable {
        number: usize,
        cause: String,
    },
    NoName {
        number: usize,
    },
    LeftOut {
        tool: String,
        defect: ToolDefect,
    },
    /// The tool can be used after a change.
    Repaired {
        tool: String,
        repair: SchemaRepair,
    },
    Duplicate {
        tool: String,
    },
    TooManyTools {
        limit: usize,
    },
    TooManyBytes {
        megabytes: usize,
    },
    CursorTooLong,
    /// A cursor came a second time.
    CursorRepeated,
    MoreProblems {
        count: usize,
    },
}

/// Why a tool cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolDefect {
    #[error("its name is too long")]
    NameTooLong,
    #[error("its name contains control characters")]
    ControlCharacters,
    #[error("its schema allows no input at all")]
    NoInputAllowed,
    #[error("its input is not an object but a {0}")]
    NotAnObject(String),
    #[error("its input is not an object")]
    NeverAnObject,
    #[error(transparent)]
    HeaderParam(#[from] HeaderParamError),
}

/// Why a schema was replaced by one that takes any arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SchemaRepair {
    #[error("it has no input schema, so it accepts any arguments")]
    Missing,
    #[error("its input schema is empty, so it accepts any arguments")]
    True,
    #[error("its input schema is not valid, so it accepts any arguments")]
    NoSchema,
    #[error("its input schema is too long, so it accepts any arguments")]
    TooLong,
    #[error("its input schema refers to itself in a circle, so it accepts any arguments")]
    Circular,
}

impl fmt::Display for ToolListProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = match self {
            Self::NoTools => "It offers no tools.".to_owned(),
            Self::Unreadable { number, cause } => {
                format!("Tool {number} is left out, because it cannot be read: {cause}.")
            }
            Self::NoName { number } => {
                format!("Tool {number} is left out, because it has no name.")
            }
            Self::LeftOut { tool, defect } => format!("`{tool}` is left out: {defect}."),
            Self::Repaired { tool, repair } => format!("`{tool}`: {repair}."),
            Self::Duplicate { tool } => {
                format!("`{tool}` is offered twice. The first one counts.")
            }
            Self::TooManyTools { limit } => {
                format!("It offers more than {limit} tools. The others are left out.")
            }
            Self::TooManyBytes { megabytes } => {
                format!("Its list of tools is longer than {megabytes} MB. The rest is left out.")
            }
            Self::CursorTooLong => {
                "The cursor for the next page of its tools is too long. The rest is left out."
                    .to_owned()
            }
            Self::CursorRepeated => {
                "The pages of its list of tools repeat. The list may not be complete.".to_owned()
            }
            Self::MoreProblems { count } => {
                format!("There are {count} more problems like these.")
            }
        };
        f.write_str(&text::line(&sentence, MAX_PROBLEM_CHARS))
    }
}
