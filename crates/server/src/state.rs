//! What handlers are given: the app, the hub as MCP clients see it, and the counters of HTTP.

use axum::extract::FromRef;
use tenon_app::app::App;
use tenon_mcp::server::McpEndpoint;

use crate::mcp::{self, HubService};
use crate::metrics::HttpMetrics;

#[derive(Debug, Clone)]
pub struct ServerState {
    pub(crate) app: App,
    /// The hub, for MCP clients.
    pub(crate) mcp: McpEndpoint<HubService>,
    pub(crate) metrics: HttpMetrics,
}

impl ServerState {
    pub(crate) fn new(app: App, metrics: HttpMetrics) -> Self {
        let mcp = mcp::hub(app.clone());
        Self { app, mcp, metrics }
    }
}

impl FromRef<ServerState> for HttpMetrics {
    fn from_ref(state: &ServerState) -> Self {
        state.metrics.clone()
    }
}

impl FromRef<ServerState> for App {
    fn from_ref(state: &ServerState) -> Self {
        state.app.clone()
    }
}
