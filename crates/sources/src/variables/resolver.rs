//! The trait that resolves variables to values when a server is started.

use async_trait::async_trait;
use tenon_domain::ErrorDetail;

/// Fills in the variables of a configuration, at each start of the server.
#[async_trait]
pub trait VariableResolver<C>: Send + Sync {
    async fn fill(&self, config: &C) -> Result<C, FillError>;
}

/// Why variables have no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// A value is missing or not allowed. The server is not retried until somebody sets the value,
    /// which restarts it.
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
