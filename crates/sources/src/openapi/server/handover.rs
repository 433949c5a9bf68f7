//! What a server hands over to the one that takes its place: tools stay listed
//! while somebody changes a key.

use std::fmt;
use std::sync::Arc;

use tenon_domain::OpenapiOrigin;

use super::library::Library;
use super::offer::Offer;
use super::state::Status;

/// What is known of a server. It is of use to another at the same address, with other
/// keys or another base URL.
#[derive(Clone)]
pub struct Handover {
    pub(super) origin: OpenapiOrigin,
    pub(super) holding: Holding,
    pub(super) offer: Arc<Offer>,
    pub(super) status: Status,
}

/// What was read last.
#[derive(Debug, Clone, Default)]
pub(super) struct Holding {
    pub(super) library: Option<Arc<Library>>,
    /// It is not written down: it is asked for once more.
    pub(super) unkept: bool,
}

impl fmt::Debug for Handover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handover")
            .field("tools", &self.status.tools)
            .finish_non_exhaustive()
    }
}
