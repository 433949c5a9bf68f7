//! The status of a server: its supervisor writes it, everybody reads it from memory.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tenon_domain::{ErrorDetail, SourceState};
use tenon_mcp::McpServerInfo;
use tenon_openapi::operation::{SecurityScheme, SkippedOperation};
use tokio::sync::watch;
use tokio::time::Instant;
use ts_rs::TS;

use crate::cause::Cause;
use crate::lock::lock;

/// How a server is, for those who show it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerStatus {
    pub state: SourceState,
    pub tools: usize,
    /// Counts up whenever the tools have changed: who keeps a copy asks again then.
    pub revision: u64,
    /// Whether the listed tools are from an earlier run, not from the current one.
    pub stale: bool,
    /// Problems that do not stop the server from working.
    pub problems: Vec<ErrorDetail>,
    /// The protocol of an OpenAPI server is "OpenAPI".
    pub about: Option<McpServerInfo>,
    pub restarts: u64,
    pub pid: Option<u32>,
    /// How far a start is that is under way.
    pub startup: Option<Startup>,
    /// Why its program ended, where it has and is not up again.
    pub cause: Option<Cause>,
    /// Set if the server demands a log-in: what its response said about where, if anything.
    pub asks_login: Option<Option<String>>,
    /// Summary of the documents of an OpenAPI server.
    pub document: Option<Arc<DocumentSummary>>,
    /// When those were last read, whether they were the same or not.
    pub read_at: Option<SystemTime>,
    /// Changes found by the last reading that differed from the one before. None until there are
    /// two different readings.
    pub change: Option<Arc<ToolChanges>>,
}

impl ServerStatus {
    /// The status of a server of which only the state is known.
    pub fn new(state: SourceState) -> Self {
        Self {
            state,
            tools: 0,
            revision: 0,
            stale: false,
            problems: Vec::new(),
            about: None,
            restarts: 0,
            pid: None,
            startup: None,
            cause: None,
            asks_login: None,
            document: None,
            read_at: None,
            change: None,
        }
    }

    /// The process has ended; its tools stay listed as stale.
    pub(crate) fn set_gone(&mut self) {
        self.pid = None;
        self.startup = None;
        self.cause = None;
        self.stale = true;
        self.asks_login = None;
    }
}

/// A start that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Startup {
    pub since: SystemTime,
    pub step: StartupStep,
    /// The last line it wrote, only for those who may read its log.
    pub line: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum StartupStep {
    /// Others are before it.
    Queued,
    /// Its command fetches packages before it runs them, and has not got to that.
    Installing,
    Starting,
}

/// Tools that were added, removed or changed, by their native names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolChanges {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<String>,
}

/// The title, version and counts of an OpenAPI document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentSummary {
    pub title: String,
    pub version: String,
    pub description: String,
    /// Operations that did not become tools.
    pub skipped: Vec<SkippedOperation>,
    /// Security schemes of the documents.
    pub schemes: Vec<SecurityScheme>,
    /// The servers behind it, if it is an mcpo.
    pub servers: Vec<String>,
}

/// Whether a call can be made now, and over what.
#[derive(Clone)]
pub(crate) enum Availability<C> {
    Open(C),
    Starting,
    Sleeping,
    Unavailable(UnavailableReason),
}

/// Why a call should not wait.
#[derive(Clone)]
pub(crate) enum UnavailableReason {
    Failed {
        why: ErrorDetail,
        /// From then on a call has it tried again. None: that would not help.
        retry_at: Option<Instant>,
    },
    LoginRequired,
    /// Stopped for good.
    Off,
}

impl UnavailableReason {
    /// Whether a call has it tried again at once.
    pub(crate) fn may_retry(&self) -> bool {
        match self {
            Self::Failed { retry_at, .. } => retry_at.is_some_and(|at| at <= Instant::now()),
            Self::LoginRequired | Self::Off => false,
        }
    }
}

/// A status for those who show it, the tools it offers, and whether calls can be made.
pub(crate) struct StatusCell<O, C> {
    inner: Mutex<Inner<O>>,
    availability: watch::Sender<Availability<C>>,
    changes: watch::Sender<u64>,
}

pub(crate) struct Inner<O> {
    pub(crate) status: ServerStatus,
    pub(crate) offer: Arc<O>,
}

impl<O, C: Clone> StatusCell<O, C> {
    /// The status of a server that starts, with the tools from its last run.
    pub(crate) fn new(offer: O, tools: usize) -> Self {
        let status = ServerStatus {
            tools,
            stale: true,
            ..ServerStatus::new(SourceState::Starting)
        };
        let offer = Arc::new(offer);
        Self {
            inner: Mutex::new(Inner { status, offer }),
            availability: watch::Sender::new(Availability::Starting),
            changes: watch::Sender::new(0),
        }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        self.read(ServerStatus::clone)
    }

    /// A part of the status.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&ServerStatus) -> T) -> T {
        self.with(|inner| read(&inner.status))
    }

    pub(crate) fn offer(&self) -> Arc<O> {
        self.with(|inner| inner.offer.clone())
    }

    pub(crate) fn state(&self) -> SourceState {
        self.read(|status| status.state.clone())
    }

    /// Counts up whenever the status has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn availability(&self) -> Availability<C> {
        self.availability.borrow().clone()
    }

    pub(crate) fn watch_availability(&self) -> watch::Receiver<Availability<C>> {
        self.availability.subscribe()
    }

    /// The status first: a call that becomes possible finds the status true.
    pub(crate) fn set(
        &self,
        availability: Availability<C>,
        change: impl FnOnce(&mut ServerStatus),
    ) {
        self.update(change);
        self.set_availability(availability);
    }

    pub(crate) fn set_availability(&self, availability: Availability<C>) {
        self.availability.send_replace(availability);
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut ServerStatus)) {
        self.update_all(|inner| change(&mut inner.status));
    }

    /// Changes the status, and notifies subscribers only if the result differs.
    pub(crate) fn update_all(&self, change: impl FnOnce(&mut Inner<O>)) {
        let is_new = self.with(|inner| {
            let before = inner.status.clone();
            change(inner);
            inner.status != before
        });
        if is_new {
            self.changes.send_modify(|times| *times += 1);
        }
    }

    /// Sets the state to starting, after a failure or for the first time.
    pub(crate) fn starting(&self) {
        self.set(Availability::Starting, |status| {
            status.state = SourceState::Starting;
            status.cause = None;
            // A challenge from the previous run says nothing about this one.
            status.asks_login = None;
        });
    }

    pub(crate) fn failed(&self, why: ErrorDetail, cause: Option<Cause>, retry_at: Option<Instant>) {
        let reason = UnavailableReason::Failed {
            why: why.clone(),
            retry_at,
        };
        self.set(Availability::Unavailable(reason), |status| {
            status.state = SourceState::Failed { why };
            status.set_gone();
            status.cause = cause;
        });
    }

    pub(crate) fn off(&self) {
        let reason = UnavailableReason::Off;
        self.set(Availability::Unavailable(reason), |status| {
            status.state = SourceState::Off;
            status.set_gone();
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner<O>) -> T) -> T {
        work(&mut lock(&self.inner))
    }
}
