//! Notes about parts of a document that could not be read: skipped operations, parameters and
//! schemas.

use std::fmt;

/// A part of inputs that could not be read. Displayed, a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentNote {
    /// An optional parameter of so many operations; the first is "GET /pets".
    ParameterDropped {
        first: String,
        operations: usize,
        why: ParameterError,
    },
    /// Those beyond the last that is told.
    MoreParameters { count: usize },
    /// Schemas in other documents, the first at this place.
    SchemasUnread { count: usize, first: String },
}

impl fmt::Display for DocumentNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParameterDropped {
                first,
                operations: 1,
                why,
            } => write!(f, "{first} has a parameter that is left out: {why}"),
            Self::ParameterDropped {
                first,
                operations,
                why,
            } => write!(
                f,
                "{operations} operations, such as {first}, have a parameter that is left out: {why}"
            ),
            Self::MoreParameters { count } => {
                write!(f, "{count} more parameters could not be read.")
            }
            Self::SchemasUnread { count: 1, first } => write!(
                f,
                "The schema of a part of an input is not known: it is in another document \
                 (`{first}`), which is not read."
            ),
            Self::SchemasUnread { count, first } => write!(
                f,
                "The schemas of {count} parts of inputs are not known: they are in other documents, \
                 which are not read, such as `{first}`."
            ),
        }
    }
}

/// Why an optional parameter was left out; as text it is the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ParameterError {
    #[error("it is in `{0}`, which is not a known location.")]
    UnknownLocation(String),
    #[error("it has no `name` or no `in`.")]
    Unnamed,
    #[error("{}", .0.sentence("it"))]
    Reference(ReferenceError),
}

/// Why a reference leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReferenceError {
    OtherDocument {
        reference: String,
        /// Why it could not be read, if that was tried.
        why: Option<String>,
    },
    Missing(String),
    Cycle(String),
}

impl ReferenceError {
    /// A sentence about `what`: "its parameter".
    pub(crate) fn sentence(&self, what: &str) -> String {
        match self {
            Self::OtherDocument { reference, why } => match why {
                None => {
                    format!("{what} is in another document (`{reference}`), which is not read.")
                }
                Some(why) => format!(
                    "{what} is in another document (`{reference}`), which could not be read: {why}."
                ),
            },
            Self::Missing(reference) => {
                format!("{what} refers to `{reference}`, which does not exist.")
            }
            Self::Cycle(reference) => format!("{what} refers to itself: `{reference}`."),
        }
    }
}

/// Why an operation cannot be called; as text it is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    #[error("`{0}` is not an object.")]
    NotAnObject(String),
    #[error("Its path is longer than {max_bytes} bytes.")]
    PathTooLong { max_bytes: usize },
    #[error("Its method is not an HTTP method.")]
    InvalidMethod,
    #[error("It has more than {max} parameters.")]
    TooManyParameters { max: usize },
    #[error("A required parameter is in `{0}`, which is not a known location.")]
    UnknownLocation(String),
    #[error("One of its parameters (in `{0}`) has no `name` or no `in`.")]
    UnnamedParameter(String),
    #[error("{}", error.sentence(part.subject()))]
    Reference {
        part: OperationPart,
        error: ReferenceError,
    },
    /// Of another form of description, whose reader says why.
    #[error("{0}")]
    Capability(String),
    /// Of so many operations, beyond the last that is read.
    #[error("{count} more operations are not read: only the first {max} are.")]
    TooManyOperations { count: usize, max: usize },
}

/// What of an operation is a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationPart {
    PathItem,
    Operation,
    Parameter,
    Body,
}

impl OperationPart {
    /// The subject of a sentence.
    pub fn subject(self) -> &'static str {
        match self {
            Self::PathItem => "Its path item",
            Self::Operation => "The operation",
            Self::Parameter => "One of its parameters",
            Self::Body => "Its request body",
        }
    }

    pub(crate) fn unresolved(self, error: ReferenceError) -> OperationError {
        OperationError::Reference { part: self, error }
    }
}
