//! The authenticated caller of the hub over MCP.

use std::sync::Arc;

use serde::Deserialize;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::experts::Expert;
use tenon_app::tools::ToolCaller;
use tenon_domain::{CallInterface, ToolAccess};
use ts_rs::TS;

/// A user and their credential. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HubCaller(Arc<AuthenticatedClient>);

#[derive(Debug)]
struct AuthenticatedClient {
    user: CurrentUser,
    /// Where the request came from, for the audit log.
    address: String,
    /// The expert whose tools alone are offered, as read when the request came.
    expert: Option<Expert>,
    mode: ToolsMode,
}

/// What the list of tools has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ToolsMode {
    #[default]
    All,
    /// Three tools that find, describe and call the others.
    Search,
}

impl HubCaller {
    pub fn new(user: CurrentUser, address: String) -> Self {
        Self::with_mode(user, address, ToolsMode::All)
    }

    /// The same with another list of tools.
    pub(crate) fn with_mode(user: CurrentUser, address: String, mode: ToolsMode) -> Self {
        Self(Arc::new(AuthenticatedClient {
            user,
            address,
            expert: None,
            mode,
        }))
    }

    /// The same for what one expert may use.
    pub(crate) fn with_expert(
        user: CurrentUser,
        address: String,
        expert: Expert,
        mode: ToolsMode,
    ) -> Self {
        Self(Arc::new(AuthenticatedClient {
            user,
            address,
            expert: Some(expert),
            mode,
        }))
    }

    pub(super) fn mode(&self) -> ToolsMode {
        self.0.mode
    }

    pub(crate) fn user(&self) -> &CurrentUser {
        &self.0.user
    }

    pub(super) fn expert(&self) -> Option<&Expert> {
        self.0.expert.as_ref()
    }

    pub(super) fn tool_caller(&self) -> ToolCaller<'_> {
        ToolCaller {
            user: &self.0.user,
            address: &self.0.address,
            interface: CallInterface::Mcp,
            client: None,
            expert: self.expert(),
            searches: self.0.mode == ToolsMode::Search,
        }
    }

    /// The tools that are allowed now: the expert may have changed since a stream was opened.
    pub(super) async fn access(&self, app: &App) -> tenon_store::Result<ToolAccess> {
        let user = self.user();
        match self.expert() {
            // Boxed: most callers have none.
            Some(expert) => {
                Box::pin(async {
                    let expert = app.experts.find(&user.id, &expert.id).await?;
                    app.tools.expert_access(user, &expert).await
                })
                .await
            }
            None => app.tools.access(user, None).await,
        }
    }
}

/// Sessions belong to a credential, wherever its requests come from, and to what they are about.
impl PartialEq for HubCaller {
    fn eq(&self, other: &Self) -> bool {
        let id = |caller: &Self| caller.expert().map(|expert| expert.id.clone());
        self.0.user == other.0.user && self.0.mode == other.0.mode && id(self) == id(other)
    }
}
