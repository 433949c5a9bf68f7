//! What handlers are given: the app, and the hub as MCP clients see it.

use axum::extract::FromRef;
use tenon_app::app::App;
use tenon_mcp::server::McpEndpoint;

use crate::mcp::{self, HubService};

#[derive(Debug, Clone)]
pub struct ServerState {
    pub(crate) app: App,
    /// The hub, for MCP clients.
    pub(crate) mcp: McpEndpoint<HubService>,
}

impl ServerState {
    pub(crate) fn new(app: App) -> Self {
        let mcp = mcp::hub(app.clone());
        Self { app, mcp }
    }
}

impl FromRef<ServerState> for App {
    fn from_ref(state: &ServerState) -> Self {
        state.app.clone()
    }
}
