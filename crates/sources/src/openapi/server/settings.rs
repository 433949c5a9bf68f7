//! What a server is run with.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use tenon_domain::{OpenapiConfig, SourceInfo};
use tokio::sync::Semaphore;

use super::inherited::InheritedState;
use crate::openapi::fetch;
use crate::openapi::http_client::OpenapiHttpClient;
use crate::variables::Fill;

/// Everything an [`super::OpenapiServer`] needs from its owner.
pub struct OpenapiSettings {
    pub info: SourceInfo,
    /// With its `${NAME}`s.
    pub config: OpenapiConfig,
    pub fill: Arc<dyn Fill<OpenapiConfig>>,
    pub documents: Arc<dyn DocumentStore>,
    /// Knows where the server may be. All that may be in the same places share one.
    pub http: OpenapiHttpClient,
    /// How many documents may be parsed at once: all of one owner share it.
    pub parses: Arc<Semaphore>,
    /// What the one knows whose place it takes: at the same address it is listed at once.
    pub inherited: Option<InheritedState>,
}

/// Where the last good documents of one source are, so that its tools are there
/// before anything is fetched.
#[async_trait]
pub trait DocumentStore: Send + Sync {
    /// In any order. Of a source whose document was given, that one, under the empty name.
    async fn load(&self) -> Result<Vec<DocumentRecord>, DocumentStoreError>;

    /// Keeps these in the place of those with the same names, and forgets all
    /// whose names are not among `names`.
    async fn store(
        &self,
        documents: Vec<DocumentRecord>,
        names: Vec<String>,
    ) -> Result<(), DocumentStoreError>;
}

/// Why documents could not be loaded or stored: a sentence of the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DocumentStoreError(pub String);

/// A document as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRecord {
    /// Of the server behind an mcpo. Empty for the document of the address itself.
    pub name: String,
    /// Where it was, after all redirects. Empty, if somebody gave it.
    pub url: String,
    pub body: Vec<u8>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub fetched_at: SystemTime,
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
