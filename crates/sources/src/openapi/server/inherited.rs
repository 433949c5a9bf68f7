//! What a server passes on to its replacement with other settings: tools stay listed while
//! somebody changes a key.

use std::fmt;
use std::sync::Arc;

use tenon_domain::OpenapiOrigin;

use super::document_set::DocumentSet;
use super::tools::OpenapiTools;
use crate::supervisor::ServerStatus;

/// What is known of a server. It is of use to another at the same address, with other
/// keys or another base URL.
#[derive(Clone)]
pub struct InheritedState {
    pub(super) origin: OpenapiOrigin,
    pub(super) loaded: LoadedDocuments,
    pub(super) tools: Arc<OpenapiTools>,
    pub(super) status: ServerStatus,
}

/// What was read last.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadedDocuments {
    pub(super) documents: Option<Arc<DocumentSet>>,
    /// It is not written down: it is asked for once more.
    pub(super) unstored: bool,
}

impl fmt::Debug for InheritedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InheritedState")
            .field("tools", &self.status.tools)
            .finish_non_exhaustive()
    }
}
