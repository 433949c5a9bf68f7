//! State that a replaced server hands to its successor, so that tools stay listed while somebody
//! changes a key.

use std::fmt;
use std::sync::Arc;

use tenon_domain::OpenapiOrigin;

use super::document_set::DocumentSet;
use super::tools::OpenapiTools;
use crate::supervisor::ServerStatus;

/// State of a running server. A successor at the same address can use it, even with other keys or
/// another base URL.
#[derive(Clone)]
pub struct InheritedState {
    pub(super) origin: OpenapiOrigin,
    pub(super) loaded: LoadedDocuments,
    pub(super) tools: Arc<OpenapiTools>,
    pub(super) status: ServerStatus,
}

/// The documents that were read last.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadedDocuments {
    pub(super) documents: Option<Arc<DocumentSet>>,
    /// Whether the documents are not in the store yet and have to be fetched again.
    pub(super) unstored: bool,
}

impl fmt::Debug for InheritedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InheritedState")
            .field("tools", &self.status.tools)
            .finish_non_exhaustive()
    }
}
