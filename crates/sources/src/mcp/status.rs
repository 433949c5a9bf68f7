//! How the status of an MCP server changes.

use std::sync::Arc;

use tenon_domain::{ErrorDetail, SourceState};
use tenon_mcp::McpConnection;

use super::offered_tools::OfferedTools;
use crate::cause::Cause;
use crate::fault::ServerFault;
use crate::supervisor::{Availability, Startup, StatusCell, UnavailableReason};

/// The connection there is. They are numbered, beginning with 1.
#[derive(Clone)]
pub(crate) struct ActiveConnection {
    pub(crate) number: u64,
    pub(crate) connection: Arc<McpConnection>,
}

impl StatusCell<OfferedTools, ActiveConnection> {
    /// It can be called; what it offers is asked next.
    pub(super) fn connected(&self, active: ActiveConnection) {
        let (about, pid) = (
            active.connection.server_info().clone(),
            active.connection.pid(),
        );
        self.set(Availability::Open(active), |status| {
            status.about = Some(about);
            status.pid = pid;
            status.startup = None;
            status.cause = None;
            status.asks_login = None;
            // A connected server that had failed counts as starting until its tools are listed.
            status.state = SourceState::Starting;
        });
    }

    pub(super) fn listed(&self, offer: OfferedTools, problems: Vec<ErrorDetail>) {
        self.update_all(|inner| {
            let status = &mut inner.status;
            status.state = SourceState::Ready;
            status.stale = false;
            status.problems = problems;
            if !offer.is_same(&inner.offer) {
                status.tools = offer.tools.len();
                status.revision += 1;
                inner.offer = Arc::new(offer);
            }
        });
    }

    /// It can be called, but not all is well.
    pub(super) fn degraded(&self, why: ErrorDetail) {
        self.update(|status| status.state = SourceState::Degraded { why });
    }

    /// It ended, and calls may wait until it is back.
    pub(super) fn restarting(&self, why: ErrorDetail, cause: Option<Cause>) {
        self.set(Availability::Starting, |status| {
            status.state = SourceState::Degraded { why };
            status.set_gone();
            status.cause = cause;
        });
    }

    /// How far its start is.
    pub(super) fn startup(&self, startup: Startup) {
        self.update(|status| status.startup = Some(startup));
    }

    pub(super) fn login_required(&self, challenge: Option<String>) {
        self.set(
            Availability::Unavailable(UnavailableReason::LoginRequired),
            |status| {
                let why = ServerFault::LoginRequired.into();
                status.state = SourceState::Failed { why };
                status.set_gone();
                status.asks_login = Some(challenge);
            },
        );
    }

    /// A call arrived while the server was being put to sleep, so it stays up.
    pub(super) fn awake(&self, active: ActiveConnection, state: SourceState) {
        let pid = active.connection.pid();
        self.set(Availability::Open(active), |status| {
            status.state = state;
            status.pid = pid;
        });
    }

    pub(super) fn asleep(&self) {
        self.set(Availability::Sleeping, |status| {
            status.state = SourceState::Sleeping;
            status.pid = None;
            status.startup = None;
        });
    }

    /// It is being started once more.
    pub(super) fn count_restart(&self) {
        self.update(|status| status.restarts += 1);
    }
}
