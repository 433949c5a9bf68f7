//! What MCP and OpenAPI servers have in common while they run.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_domain::ToolDefinition;
use tenon_sources::mcp::{McpServer, McpServerInfo, ServerStatus};
use tenon_sources::openapi::{InheritedState, OpenapiServer};
use tenon_sources::{CallTimeouts, Logs};
use tenon_tools::ToolSource;
use tokio::sync::watch;

/// What is asked of each.
#[async_trait]
pub(super) trait ManagedServer: ToolSource {
    fn status(&self) -> ServerStatus;

    /// Counts up whenever the status or the tools have changed.
    fn changes(&self) -> watch::Receiver<u64>;

    fn logs(&self) -> &Logs;

    /// Begins anew, without waiting for it.
    fn restart(&self);

    /// Other timeouts, which reach calls that wait.
    fn set_timeouts(&self, timeouts: CallTimeouts);

    /// Ends it for good.
    async fn stop(&self);

    /// Itself, if it is an OpenAPI server.
    fn openapi(&self) -> Option<&OpenapiServer> {
        None
    }
}

/// What is known of what a server offers, before it is up.
#[derive(Default)]
pub(super) struct KnownTools {
    pub(super) tools: Option<Vec<ToolDefinition>>,
    /// Its tools are made of its documents, for which no list of them would do.
    pub(super) openapi: Option<InheritedState>,
}

impl KnownTools {
    /// For the one that takes its place with other settings.
    pub(super) fn of(server: &dyn ManagedServer) -> Self {
        Self {
            tools: Some(server.tools()),
            openapi: server.openapi().and_then(OpenapiServer::inherited_state),
        }
    }
}

pub(super) type ServerHandle = Arc<dyn ManagedServer>;

#[async_trait]
impl ManagedServer for McpServer {
    fn status(&self) -> ServerStatus {
        McpServer::status(self)
    }

    fn changes(&self) -> watch::Receiver<u64> {
        McpServer::changes(self)
    }

    fn logs(&self) -> &Logs {
        McpServer::logs(self)
    }

    fn restart(&self) {
        McpServer::restart(self);
    }

    fn set_timeouts(&self, timeouts: CallTimeouts) {
        McpServer::set_timeouts(self, timeouts);
    }

    async fn stop(&self) {
        McpServer::stop(self).await;
    }
}

#[async_trait]
impl ManagedServer for OpenapiServer {
    fn status(&self) -> ServerStatus {
        let status = OpenapiServer::status(self);
        let about = status.about.map(|about| McpServerInfo {
            name: about.title.clone(),
            version: about.version.clone(),
            protocol: "OpenAPI".to_owned(),
        });
        ServerStatus {
            state: status.state,
            tools: status.tools,
            revision: status.revision,
            stale: status.stale,
            problems: status.problems,
            about,
            restarts: 0,
            pid: None,
            startup: None,
            cause: None,
            asks_login: None,
        }
    }

    fn changes(&self) -> watch::Receiver<u64> {
        OpenapiServer::changes(self)
    }

    fn logs(&self) -> &Logs {
        OpenapiServer::logs(self)
    }

    fn restart(&self) {
        OpenapiServer::restart(self);
    }

    fn set_timeouts(&self, timeouts: CallTimeouts) {
        OpenapiServer::set_timeouts(self, timeouts);
    }

    async fn stop(&self) {
        OpenapiServer::stop(self).await;
    }

    fn openapi(&self) -> Option<&OpenapiServer> {
        Some(self)
    }
}
