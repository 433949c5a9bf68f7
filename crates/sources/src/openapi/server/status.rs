//! How the status of an OpenAPI server changes.

use std::sync::Arc;
use std::time::SystemTime;

use tenon_domain::{ErrorDetail, SourceState};
use tenon_mcp::McpServerInfo;

use super::client::OpenapiClient;
use super::tools::OpenapiTools;
use crate::supervisor::{
    Availability, DocumentSummary, Inner, ServerStatus, StatusCell, ToolChanges,
};

/// Changes of the status that a new document causes.
pub(super) struct StatusUpdate {
    pub(super) tools: OpenapiTools,
    pub(super) about: DocumentSummary,
    pub(super) problems: Vec<ErrorDetail>,
    pub(super) change: Option<ToolChanges>,
    /// When, if that was before now.
    pub(super) read_at: Option<SystemTime>,
}

impl StatusCell<OpenapiTools, Arc<OpenapiClient>> {
    /// Takes over status and tools of the replaced server.
    pub(super) fn inherit(&self, status: ServerStatus, offer: Arc<OpenapiTools>) {
        self.update_all(|inner| {
            inner.status = ServerStatus {
                state: SourceState::Starting,
                stale: true,
                ..status
            };
            inner.offer = offer;
        });
    }

    /// Lists the tools of the last reading as stale, until the document is read again.
    pub(super) fn set_stale(&self, update: StatusUpdate) {
        self.update_all(|inner| inner.take(update));
    }

    /// Opens the server for calls with the last known tools; a call shows whether they still exist.
    pub(super) fn set_callable(&self, client: Arc<OpenapiClient>) {
        self.set_availability(Availability::Open(client));
    }

    /// Sets the state to ready. `update` is None if the document is unchanged.
    pub(super) fn set_ready(
        &self,
        client: Arc<OpenapiClient>,
        update: Option<StatusUpdate>,
        problems: Vec<ErrorDetail>,
    ) {
        self.update_all(|inner| {
            if let Some(update) = update {
                inner.take(update);
            }
            let status = &mut inner.status;
            status.state = SourceState::Ready;
            status.stale = false;
            status.problems = problems;
            status.read_at = Some(SystemTime::now());
        });
        self.set_callable(client);
    }

    /// Reading failed, but the last known tools may still work.
    pub(super) fn set_degraded(&self, client: Arc<OpenapiClient>, why: ErrorDetail) {
        self.set(Availability::Open(client), |status| {
            status.state = SourceState::Degraded { why };
            status.stale = true;
        });
    }
}

impl Inner<OpenapiTools> {
    fn take(&mut self, update: StatusUpdate) {
        let status = &mut self.status;
        status.tools = update.tools.len();
        status.revision += 1;
        status.problems = update.problems;
        status.about = Some(McpServerInfo {
            name: update.about.title.clone(),
            version: update.about.version.clone(),
            protocol: "OpenAPI".to_owned(),
            instructions: None,
        });
        status.document = Some(Arc::new(update.about));
        status.read_at = update.read_at.or(status.read_at);
        status.change = update.change.map(Arc::new).or(status.change.take());
        self.offer = Arc::new(update.tools);
    }
}
