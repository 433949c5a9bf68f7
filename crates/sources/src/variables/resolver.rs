//! Who puts values in, where a server is run.

use async_trait::async_trait;
use tenon_domain::ErrorDetail;

/// Fills in the variables of a configuration, anew at each start.
#[async_trait]
pub trait VariableResolver<C>: Send + Sync {
    async fn fill(&self, config: &C) -> Result<C, FillError>;
}

/// Why variables have no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// Something is not set, or is no good. It stays so until somebody sets it:
    /// whoever runs the server restarts it then, and until then it is not tried again.
    #[error("{0}")]
    Unset(ErrorDetail),
    /// They could not be read, which may be over in a while.
    #[error("{0}")]
    Unread(ErrorDetail),
}

/// For a configuration that is written out: a `${NAME}` in it is only text.
#[derive(Debug, Clone, Copy)]
pub struct LiteralConfig;

#[async_trait]
impl<C: Clone + Send + Sync> VariableResolver<C> for LiteralConfig {
    async fn fill(&self, config: &C) -> Result<C, FillError> {
        Ok(config.clone())
    }
}
