//! A server that runs, of whatever kind.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_domain::ToolDefinition;
use tenon_sources::Logs;
use tenon_sources::mcp::{About, McpServer, Status};
use tenon_sources::openapi::{Handover, OpenapiServer};
use tenon_tools::ToolSource;
use tokio::sync::watch;

/// What is asked of each.
#[async_trait]
pub(super) trait Running: ToolSource {
    fn status(&self) -> Status;

    /// Counts up whenever the status or the tools have changed.
    fn changes(&self) -> watch::Receiver<u64>;

    fn logs(&self) -> &Logs;

    /// Begins anew, without waiting for it.
    fn restart(&self);

    /// Ends it for good.
    async fn stop(&self);

    /// Itself, if it is an OpenAPI server.
    fn openapi(&self) -> Option<&OpenapiServer> {
        None
    }
}

/// What is known of what a server offers, before it is up.
#[derive(Default)]
pub(super) struct Known {
    pub(super) tools: Option<Vec<ToolDefinition>>,
    /// Its tools are made of its documents, for which no list of them would do.
    pub(super) openapi: Option<Handover>,
}

impl Known {
    /// For the one that takes its place with other settings.
    pub(super) fn of(server: &dyn Running) -> Self {
        Self {
            tools: Some(server.tools()),
            openapi: server.openapi().and_then(OpenapiServer::handover),
        }
    }
}

pub(super) type Server = Arc<dyn Running>;

#[async_trait]
impl Running for McpServer {
    fn status(&self) -> Status {
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

    async fn stop(&self) {
        McpServer::stop(self).await;
    }
}

#[async_trait]
impl Running for OpenapiServer {
    fn status(&self) -> Status {
        let status = OpenapiServer::status(self);
        let about = status.about.map(|about| About {
            name: about.title.clone(),
            version: about.version.clone(),
            protocol: "OpenAPI".to_owned(),
        });
        Status {
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

    async fn stop(&self) {
        OpenapiServer::stop(self).await;
    }

    fn openapi(&self) -> Option<&OpenapiServer> {
        Some(self)
    }
}
