//! What can go wrong with configured sources.

use tenon_sources::openapi::OpenapiError;

/// Why a source could not be added, changed or read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// What is wrong with it, in a sentence that says what to do.
    #[error("{0}")]
    Invalid(String),
    /// It is not theirs to do; the sentence says whose.
    #[error("{0}")]
    Forbidden(String),
    /// Somebody else did not answer as they should; the sentence says how.
    #[error("{0}")]
    Unreachable(String),
    /// The document of a server could not be read.
    #[error(transparent)]
    Unread(OpenapiError),
    /// It does not run; the sentence says what to do first.
    #[error("{0}")]
    Idle(&'static str),
    #[error(transparent)]
    Store(#[from] tenon_store::Error),
}

pub(super) fn wrong(message: &str) -> SourceError {
    SourceError::Invalid(message.to_owned())
}

pub(super) fn forbidden(message: &str) -> SourceError {
    SourceError::Forbidden(message.to_owned())
}
