//! The last good documents of a source, as its owner keeps them.

use std::time::SystemTime;

use async_trait::async_trait;
use tenon_domain::ErrorDetail;

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

/// Why documents could not be loaded or stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DocumentStoreError(pub ErrorDetail);

/// A document as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRecord {
    /// Name of the server behind an mcpo; empty for the document at the address itself.
    pub name: String,
    /// Where it was, after all redirects. Empty, if somebody gave it.
    pub url: String,
    pub body: Vec<u8>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub fetched_at: SystemTime,
}
