//! What can go wrong with configured sources.

use tenon_domain::{CodedError, ErrorDetail};
use tenon_sources::openapi::OpenapiError;
use tenon_sources::variables::FillError;

use super::input_error::{SourceDenied, SourceIdle, SourceInputError};

/// Why a source could not be added, changed or read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error(transparent)]
    Invalid(ErrorDetail),
    /// It is not theirs to do.
    #[error(transparent)]
    Forbidden(ErrorDetail),
    /// Somebody else did not answer as they should.
    #[error(transparent)]
    Unreachable(ErrorDetail),
    /// The document of a server could not be read.
    #[error(transparent)]
    Unread(OpenapiError),
    /// It does not run.
    #[error(transparent)]
    Idle(#[from] SourceIdle),
    #[error(transparent)]
    Store(#[from] tenon_store::Error),
}

impl CodedError for SourceError {
    fn detail(&self) -> ErrorDetail {
        match self {
            Self::Invalid(error) | Self::Forbidden(error) | Self::Unreachable(error) => {
                error.clone()
            }
            Self::Unread(error) => error.detail(),
            Self::Idle(error) => error.detail(),
            Self::Store(error) => error.detail(),
        }
    }
}

impl From<SourceInputError> for SourceError {
    fn from(error: SourceInputError) -> Self {
        Self::Invalid(error.into())
    }
}

impl From<SourceDenied> for SourceError {
    fn from(error: SourceDenied) -> Self {
        Self::Forbidden(error.into())
    }
}

impl From<FillError> for SourceError {
    fn from(error: FillError) -> Self {
        let (FillError::Unset(why) | FillError::Unread(why)) = error;
        Self::Invalid(why)
    }
}

/// An error about a field that is known only here.
pub(super) fn in_field(field: &str, error: SourceInputError) -> SourceError {
    SourceError::Invalid(error.detail().in_field(field))
}
