//! The status of a server: its supervisor writes it, everybody reads it from memory.

use std::sync::Arc;
use std::time::SystemTime;

use tenon_domain::SourceState;

use super::client::OpenapiClient;
use super::tools::{DocumentSummary, OpenapiTools, ToolChanges};
use crate::status_cell::{Inner, StatusCell};

/// How a server is, for those who show it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenapiStatus {
    pub state: SourceState,
    pub tools: usize,
    /// Counts up whenever the tools have changed: who keeps a copy asks again then.
    pub revision: u64,
    /// What is listed is what it offered when it was last read.
    pub stale: bool,
    /// Sentences.
    pub problems: Vec<String>,
    pub about: Option<Arc<DocumentSummary>>,
    /// When its document was last read, whether it was the same or not.
    pub read_at: Option<SystemTime>,
    /// What the last reading that changed anything has changed. Nothing, as long as
    /// there was nothing before it.
    pub change: Option<Arc<ToolChanges>>,
}

/// Whether calls can be made.
#[derive(Clone)]
pub(super) enum OpenapiAvailability {
    Ready(Arc<OpenapiClient>),
    Starting,
    Failed(String),
    /// It has been stopped for good.
    Off,
}

pub(super) type OpenapiState = StatusCell<OpenapiStatus, OpenapiTools, OpenapiAvailability>;

/// What a new document changes in the status.
pub(super) struct StatusUpdate {
    pub(super) tools: OpenapiTools,
    pub(super) about: DocumentSummary,
    pub(super) problems: Vec<String>,
    pub(super) change: Option<ToolChanges>,
    /// When, if that was before now.
    pub(super) read_at: Option<SystemTime>,
}

impl OpenapiState {
    pub(super) fn new() -> Self {
        let status = OpenapiStatus {
            state: SourceState::Starting,
            tools: 0,
            revision: 0,
            stale: true,
            problems: Vec::new(),
            about: None,
            read_at: None,
            change: None,
        };
        Self::from_parts(
            status,
            OpenapiTools::default(),
            OpenapiAvailability::Starting,
        )
    }

    pub(super) fn source_state(&self) -> SourceState {
        self.read(|status| status.state.clone())
    }

    /// It is on its way up.
    pub(super) fn set_starting(&self) {
        self.set(OpenapiAvailability::Starting, |status| {
            status.state = SourceState::Starting
        });
    }

    /// What the one before it offered is listed as its own.
    pub(super) fn inherit(&self, status: OpenapiStatus, offer: Arc<OpenapiTools>) {
        self.update_all(|inner| {
            inner.status = OpenapiStatus {
                state: SourceState::Starting,
                stale: true,
                ..status
            };
            inner.offer = offer;
        });
    }

    /// What it offered last is listed until it says otherwise.
    pub(super) fn set_stale(&self, update: StatusUpdate) {
        self.update_all(|inner| inner.take(update));
    }

    /// What it offered last can be called; whether it is still there shows then.
    pub(super) fn set_callable(&self, client: Arc<OpenapiClient>) {
        self.set_availability(OpenapiAvailability::Ready(client));
    }

    /// It was read. None: it is what it was.
    pub(super) fn set_ready(
        &self,
        client: Arc<OpenapiClient>,
        update: Option<StatusUpdate>,
        problems: Vec<String>,
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

    /// It was not read, but what it offered last may work.
    pub(super) fn set_degraded(&self, client: Arc<OpenapiClient>, why: String) {
        self.set(OpenapiAvailability::Ready(client), |status| {
            status.state = SourceState::Degraded { why };
            status.stale = true;
        });
    }

    pub(super) fn set_failed(&self, why: String) {
        self.set(OpenapiAvailability::Failed(why.clone()), |status| {
            status.state = SourceState::Failed { why };
            status.stale = true;
        });
    }

    pub(super) fn set_off(&self) {
        self.set(OpenapiAvailability::Off, |status| {
            status.state = SourceState::Off
        });
    }
}

impl Inner<OpenapiStatus, OpenapiTools> {
    fn take(&mut self, update: StatusUpdate) {
        let status = &mut self.status;
        status.tools = update.tools.len();
        status.revision += 1;
        status.problems = update.problems;
        status.about = Some(Arc::new(update.about));
        status.read_at = update.read_at.or(status.read_at);
        status.change = update.change.map(Arc::new).or(status.change.take());
        self.offer = Arc::new(update.tools);
    }
}
