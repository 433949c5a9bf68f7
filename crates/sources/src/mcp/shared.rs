//! What a server and its supervisor have in common.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use super::call_activity::CallActivity;
use super::context_cache::ContextCache;
use super::offered_tools::OfferedTools;
use super::settings::McpSettings;
use super::status::ActiveConnection;
use super::timeouts::ServerTimeouts;
use crate::supervisor::ServerCore;

pub(super) struct McpShared {
    pub(super) settings: McpSettings,
    pub(super) timeouts: ServerTimeouts,
    pub(super) core: Arc<ServerCore<OfferedTools, ActiveConnection>>,
    pub(super) activity: CallActivity,
    pub(super) context: ContextCache,
    /// A call failed in a way that leaves the server's health unclear.
    pub(super) doubt: Notify,
    /// The newest connection over which a log-in was asked for.
    pub(super) login_demand: watch::Sender<LoginDemand>,
}

/// A log-in that was asked for in the middle of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct LoginDemand {
    /// Number of the connection, starting at 1.
    pub(super) number: u64,
    pub(super) challenge: Option<String>,
}

impl McpShared {
    /// A log-in was asked for over this connection.
    pub(super) fn demand_login(&self, number: u64, challenge: Option<String>) {
        self.login_demand.send_if_modified(|demand| {
            let is_newer = demand.number < number;
            if is_newer {
                *demand = LoginDemand { number, challenge };
            }
            is_newer
        });
    }
}
