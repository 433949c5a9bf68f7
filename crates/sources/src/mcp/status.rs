//! The status of an MCP server, and whether it can be called.

use std::sync::Arc;

use super::offered_tools::OfferedTools;
use super::startup::Startup;
use crate::cause::Cause;
use crate::status_cell::StatusCell;
use tenon_domain::{SourceState, ToolDefinition};
use tenon_mcp::{McpConnection, McpServerInfo};
use tokio::time::Instant;

/// How a server is, for those who show it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerStatus {
    pub state: SourceState,
    pub tools: usize,
    /// Counts up whenever the tools have changed: who keeps a copy asks again then.
    pub revision: u64,
    /// What is listed is what it offered when it last worked.
    pub stale: bool,
    /// Sentences.
    pub problems: Vec<String>,
    pub about: Option<McpServerInfo>,
    pub restarts: u64,
    pub pid: Option<u32>,
    /// How far a start is that is under way.
    pub startup: Option<Startup>,
    /// Why its program ended, where it has and is not up again.
    pub cause: Option<Cause>,
    /// It asks who comes; what its answer said about where to log in.
    pub asks_login: Option<Option<String>>,
}

/// Whether a call can be made now.
#[derive(Clone)]
pub(super) enum McpAvailability {
    Connected(ActiveConnection),
    Starting,
    Sleeping,
    Unavailable(UnavailableReason),
}

/// The connection there is. They are numbered, beginning with 1.
#[derive(Clone)]
pub(super) struct ActiveConnection {
    pub(super) number: u64,
    pub(super) connection: Arc<McpConnection>,
}

/// Why a call should not wait.
#[derive(Clone)]
pub(super) enum UnavailableReason {
    Failed {
        why: String,
        /// From then on a call has it tried again. None: that would not help.
        retry_at: Option<Instant>,
    },
    LoginRequired,
    /// It has been stopped for good.
    Off,
}

impl UnavailableReason {
    /// Whether a call has it tried again at once.
    pub(super) fn may_retry(&self) -> bool {
        match self {
            Self::Failed { retry_at, .. } => retry_at.is_some_and(|at| at <= Instant::now()),
            Self::LoginRequired | Self::Off => false,
        }
    }
}

pub(super) type McpStatusCell = StatusCell<ServerStatus, OfferedTools, McpAvailability>;

impl McpStatusCell {
    pub(super) fn new(known: Vec<ToolDefinition>) -> Self {
        let status = ServerStatus {
            state: SourceState::Starting,
            tools: known.len(),
            revision: 0,
            stale: true,
            problems: Vec::new(),
            about: None,
            restarts: 0,
            pid: None,
            startup: None,
            cause: None,
            asks_login: None,
        };
        Self::from_parts(status, OfferedTools::new(known), McpAvailability::Starting)
    }

    pub(super) fn state(&self) -> SourceState {
        self.read(|status| status.state.clone())
    }

    /// It is being started, after a failure or not.
    pub(super) fn starting(&self) {
        self.set(McpAvailability::Starting, |status| {
            status.state = SourceState::Starting;
            status.cause = None;
            // What it asked for before is not what it will ask for.
            status.asks_login = None;
        });
    }

    /// It can be called; what it offers is asked next.
    pub(super) fn connected(&self, active: ActiveConnection) {
        let (about, pid) = (
            active.connection.server_info().clone(),
            active.connection.pid(),
        );
        self.set(McpAvailability::Connected(active), |status| {
            status.about = Some(about);
            status.pid = pid;
            status.startup = None;
            status.cause = None;
            status.asks_login = None;
            // One that had failed and may be called again is on its way up.
            status.state = SourceState::Starting;
        });
    }

    pub(super) fn listed(&self, offer: OfferedTools, problems: Vec<String>) {
        self.update_all(|inner| {
            let status = &mut inner.status;
            status.state = SourceState::Ready;
            status.stale = false;
            status.problems = problems;
            if offer.tools != inner.offer.tools {
                status.tools = offer.tools.len();
                status.revision += 1;
                inner.offer = Arc::new(offer);
            }
        });
    }

    /// It can be called, but not all is well.
    pub(super) fn degraded(&self, why: String) {
        self.update(|status| status.state = SourceState::Degraded { why });
    }

    /// It ended, and calls may wait until it is back.
    pub(super) fn restarting(&self, why: String, cause: Option<Cause>) {
        self.set(McpAvailability::Starting, |status| {
            status.state = SourceState::Degraded { why };
            gone(status);
            status.cause = cause;
        });
    }

    pub(super) fn failed(&self, why: String, cause: Option<Cause>, retry_at: Option<Instant>) {
        let closed = UnavailableReason::Failed {
            why: why.clone(),
            retry_at,
        };
        self.set(McpAvailability::Unavailable(closed), |status| {
            status.state = SourceState::Failed { why };
            gone(status);
            status.cause = cause;
        });
    }

    /// How far its start is.
    pub(super) fn startup(&self, startup: Startup) {
        self.update(|status| status.startup = Some(startup));
    }

    pub(super) fn login_required(&self, challenge: Option<String>) {
        self.set(
            McpAvailability::Unavailable(UnavailableReason::LoginRequired),
            |status| {
                let why = "It asks for a log-in.".into();
                status.state = SourceState::Failed { why };
                gone(status);
                status.asks_login = Some(challenge);
            },
        );
    }

    /// It was to sleep, but there came a call.
    pub(super) fn awake(&self, active: ActiveConnection, state: SourceState) {
        let pid = active.connection.pid();
        self.set(McpAvailability::Connected(active), |status| {
            status.state = state;
            status.pid = pid;
        });
    }

    pub(super) fn asleep(&self) {
        self.set(McpAvailability::Sleeping, |status| {
            status.state = SourceState::Sleeping;
            status.pid = None;
            status.startup = None;
        });
    }

    pub(super) fn off(&self) {
        self.set(
            McpAvailability::Unavailable(UnavailableReason::Off),
            |status| {
                status.state = SourceState::Off;
                gone(status);
            },
        );
    }

    /// It is being started once more.
    pub(super) fn count_restart(&self) {
        self.update(|status| status.restarts += 1);
    }
}

/// The process is no more; what it offered stays, marked.
fn gone(status: &mut ServerStatus) {
    status.pid = None;
    status.startup = None;
    status.cause = None;
    status.stale = true;
    status.asks_login = None;
}
