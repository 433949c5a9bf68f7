//! Why an operation cannot be used.

use super::operations::MAX_PATH_BYTES;
use super::parameters::MAX_PARAMETERS;
use crate::note::ReferenceError;

/// Why an operation cannot be called; as text it is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum OperationError {
    #[error("`{0}` is not an object.")]
    NotAnObject(String),
    #[error("Its path is longer than {MAX_PATH_BYTES} bytes.")]
    PathTooLong,
    #[error("Its method is none of HTTP's.")]
    InvalidMethod,
    #[error("It has more than {MAX_PARAMETERS} parameters.")]
    TooManyParameters,
    #[error("A parameter it needs stands in `{0}`, which is not known.")]
    UnknownLocation(String),
    #[error("A parameter of it (in `{0}`) has no `name` or no `in`.")]
    UnnamedParameter(String),
    #[error("{}", error.sentence(subject))]
    Reference {
        /// The subject of the sentence.
        subject: &'static str,
        error: ReferenceError,
    },
}

impl OperationError {
    pub(super) fn reference(subject: &'static str, error: ReferenceError) -> Self {
        Self::Reference { subject, error }
    }
}
