//! Who uses the hub over MCP.

use std::sync::Arc;

use tenon_app::auth::CurrentUser;

/// A user and their credential. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HubCaller(Arc<AuthenticatedClient>);

#[derive(Debug)]
struct AuthenticatedClient {
    user: CurrentUser,
    /// Where the request came from, for the audit log.
    address: String,
}

impl HubCaller {
    pub fn new(user: CurrentUser, address: String) -> Self {
        Self(Arc::new(AuthenticatedClient { user, address }))
    }

    pub(super) fn user(&self) -> &CurrentUser {
        &self.0.user
    }

    pub(super) fn address(&self) -> &str {
        &self.0.address
    }
}

/// Sessions belong to a credential, wherever its requests come from.
impl PartialEq for HubCaller {
    fn eq(&self, other: &Self) -> bool {
        self.0.user == other.0.user
    }
}
