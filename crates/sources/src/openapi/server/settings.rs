//! Settings of an OpenAPI server and its dependencies.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tenon_domain::{OpenapiConfig, SourceInfo};
use tokio::sync::Semaphore;

use super::inherited::InheritedState;
use crate::openapi::document_store::DocumentStore;
use crate::openapi::fetch;
use crate::openapi::http_client::OpenapiHttpClient;
use crate::variables::VariableResolver;

/// Everything an [`super::OpenapiServer`] needs from its owner.
pub struct OpenapiSettings {
    pub info: SourceInfo,
    /// With its `${NAME}`s.
    pub config: OpenapiConfig,
    pub fill: Arc<dyn VariableResolver<OpenapiConfig>>,
    pub documents: Arc<dyn DocumentStore>,
    /// Knows where the server may be. All that may be in the same places share one.
    pub http: OpenapiHttpClient,
    /// How many documents may be parsed at once: all of one owner share it.
    pub parses: Arc<Semaphore>,
    /// State of the server that this one replaces: at the same address its tools are listed at
    /// once.
    pub inherited: Option<InheritedState>,
}

/// How often a server is asked for its document, and how long that may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshSchedule {
    /// While all is well.
    pub interval: Duration,
    /// Backoff after the first failure; each further one doubles it.
    pub backoff: Duration,
    pub max_backoff: Duration,
    /// For fetching all documents.
    pub fetch_timeout: Duration,
    /// For variables and stored documents.
    pub store_timeout: Duration,
}

impl Default for RefreshSchedule {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(600),
            backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(60),
            fetch_timeout: fetch::FETCH_TIMEOUT,
            store_timeout: Duration::from_secs(30),
        }
    }
}

impl fmt::Debug for OpenapiSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenapiSettings")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
