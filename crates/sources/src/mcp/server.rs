//! An MCP server as the registry holds it: it outlives every connection, and every call
//! goes over the one there is.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult};
use tenon_mcp::{CallHandler, Error};
use tenon_tools::{CallContext, ProgressUpdate, ToolSource};
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::call_activity::CallActivity;
use super::call_handler::ContextHandler;
use super::content;
use super::explain::{explain_connection, tool_error};
use super::logs::Logs;
use super::messages::CallErrors;
use super::settings::{McpSettings, StartMode};
use super::status::{
    ActiveConnection, McpAvailability, McpStatusCell, ServerStatus, UnavailableReason,
};
use super::supervisor::supervise;
use super::timeouts::ServerTimeouts;
use crate::call_timeouts::{CallTimeouts, CurrentTimeouts};

/// A connection that broke is known to have ended within this. If not, only one request has
/// failed, and the connection still stands.
const CLOSED_TIMEOUT: Duration = Duration::from_secs(1);

/// How often a call that waits reports what for.
const WAIT_REPORT_INTERVAL: Duration = Duration::from_secs(2);

/// Within this the supervisor finds out whether a server is gone, once there is doubt.
const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// One MCP server, started, watched and started again by a task of its own.
/// The task and the process end when this is dropped or stopped.
pub struct McpServer {
    shared: Arc<SupervisedServer>,
    _stops: DropGuard,
}

/// What a server and its supervisor have in common.
pub(super) struct SupervisedServer {
    pub(super) settings: McpSettings,
    pub(super) timeouts: ServerTimeouts,
    call_timeouts: CurrentTimeouts,
    pub(super) logs: Logs,
    pub(super) status: McpStatusCell,
    pub(super) activity: CallActivity,
    /// Somebody wants it ended and started anew.
    pub(super) restart: Notify,
    /// A call failed, and nobody knows whether the server is all right.
    pub(super) doubt: Notify,
    /// The newest connection over which a log-in was asked for.
    pub(super) login_demand: watch::Sender<LoginDemand>,
    /// It is to end for good.
    pub(super) stopping: CancellationToken,
    /// It has.
    pub(super) stopped: CancellationToken,
}

/// A log-in that was asked for in the middle of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct LoginDemand {
    /// The number of the connection. There is no connection 0.
    pub(super) number: u64,
    pub(super) challenge: Option<String>,
}

impl SupervisedServer {
    /// A log-in was asked for over this connection.
    fn demand_login(&self, number: u64, challenge: Option<String>) {
        self.login_demand.send_if_modified(|demand| {
            let is_newer = demand.number < number;
            if is_newer {
                *demand = LoginDemand { number, challenge };
            }
            is_newer
        });
    }
}

impl McpServer {
    /// Starts its supervisor, and the server when that is wanted.
    pub fn new(settings: McpSettings) -> Arc<Self> {
        Self::with_timeouts(settings, ServerTimeouts::default())
    }

    pub fn with_timeouts(mut settings: McpSettings, timeouts: ServerTimeouts) -> Arc<Self> {
        let status = McpStatusCell::new(std::mem::take(&mut settings.known));
        // Before the supervisor has run, too.
        if settings.start == StartMode::OnCall {
            status.asleep();
        }
        let config = &settings.config;
        let call_timeouts = CallTimeouts::from_millis(config.timeout_ms, &config.tool_timeouts_ms);
        let shared = Arc::new(SupervisedServer {
            settings,
            timeouts,
            call_timeouts: CurrentTimeouts::new(call_timeouts),
            logs: Logs::default(),
            status,
            activity: CallActivity::default(),
            restart: Notify::new(),
            doubt: Notify::new(),
            login_demand: watch::Sender::new(LoginDemand::default()),
            stopping: CancellationToken::new(),
            stopped: CancellationToken::new(),
        });
        tokio::spawn(supervise(shared.clone()));
        Arc::new(Self {
            _stops: shared.stopping.clone().drop_guard(),
            shared,
        })
    }

    pub fn status(&self) -> ServerStatus {
        self.shared.status.status()
    }

    /// Counts up whenever the status or the tools have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.status.changes()
    }

    pub fn logs(&self) -> &Logs {
        &self.shared.logs
    }

    /// Ends it and starts it anew, without waiting for either. Calls that come
    /// meanwhile wait for the new one.
    pub fn restart(&self) {
        self.shared.restart.notify_one();
    }

    /// Other timeouts for calls. Calls that wait for the server heed them at once.
    pub fn set_timeouts(&self, timeouts: CallTimeouts) {
        self.shared.call_timeouts.set(timeouts);
    }

    /// Ends it for good: the process and all its children are gone when this returns.
    pub async fn stop(&self) {
        self.shared.stopping.cancel();
        let stopped = self.shared.stopped.cancelled();
        // The supervisor has a deadline of its own; this one is for the day it fails.
        let timeout = self.shared.timeouts.end * 2;
        if tokio::time::timeout(timeout, stopped).await.is_err() {
            let source = &self.shared.settings.info.id;
            tracing::warn!(%source, "an MCP server did not end in time");
        }
    }

    /// The connection a call can go over, as soon as there is one. After `lost`, a newer one.
    async fn connection(
        &self,
        tool: &str,
        lost: Option<u64>,
        context: &CallContext,
    ) -> Result<ActiveConnection, ToolError> {
        let shared = &self.shared;
        // Nearly always.
        if let McpAvailability::Connected(active) = shared.status.availability()
            && Some(active.number) != lost
        {
            return Ok(active);
        }
        let mut availability = shared.status.watch_availability();
        let mut has_waited = false;
        let connected = async {
            loop {
                let now = availability.borrow_and_update().clone();
                match now {
                    McpAvailability::Connected(active) if Some(active.number) != lost => {
                        return Ok(active);
                    }
                    // The supervisor is about to find out.
                    McpAvailability::Connected(_) => {}
                    McpAvailability::Starting | McpAvailability::Sleeping => shared.activity.want(),
                    // One attempt for each call: what it waited for failed.
                    McpAvailability::Unavailable(reason) if !has_waited && reason.may_retry() => {
                        shared.activity.want();
                    }
                    McpAvailability::Unavailable(reason) => {
                        return Err(self.errors().unavailable(&reason));
                    }
                }
                has_waited = true;
                let changed = tokio::select! {
                    changed = availability.changed() => changed,
                    never = self.report_waiting(context) => match never {},
                };
                if changed.is_err() {
                    return Err(self.errors().unavailable(&UnavailableReason::Off));
                }
            }
        };
        let default = shared.timeouts.start * 3 / 2;
        let connected = shared.call_timeouts.wait(tool, default, connected).await;
        connected.unwrap_or_else(|| {
            let startup = shared.status.read(|status| status.startup.clone());
            Err(self.errors().still_starting(startup.as_ref()))
        })
    }

    /// Reports what a call waits for. That is no sign of life of the call.
    async fn report_waiting(&self, context: &CallContext) -> Infallible {
        loop {
            tokio::time::sleep(WAIT_REPORT_INTERVAL).await;
            let startup = self.shared.status.read(|status| status.startup.clone());
            context.client.progress(ProgressUpdate {
                progress: 0.0,
                total: None,
                message: Some(self.errors().waiting(startup.as_ref())),
            });
        }
    }

    async fn call_over(
        &self,
        active: &ActiveConnection,
        tool: &str,
        input: &Value,
        handler: &Arc<dyn CallHandler>,
    ) -> CallOutcome {
        let shared = &self.shared;
        let why = match active.connection.call_tool(tool, input, handler).await {
            Ok(result) => return CallOutcome::Done(content::convert(result)),
            Err(Error::LoginRequired { challenge }) => {
                shared.demand_login(active.number, challenge);
                let reason = UnavailableReason::LoginRequired;
                return CallOutcome::Done(Err(self.errors().unavailable(&reason)));
            }
            Err(Error::NotSent(why)) => {
                // Whether the server is gone, or only this request failed, shows when it is
                // asked something else.
                shared.doubt.notify_one();
                let mut availability = shared.status.watch_availability();
                let is_over = |now: &McpAvailability| !matches!(now, McpAvailability::Connected(now) if now.number == active.number);
                let over = availability.wait_for(is_over);
                let _ = tokio::time::timeout(HEALTH_CHECK_TIMEOUT, over).await;
                return CallOutcome::NotSent(explain_connection(&why));
            }
            Err(Error::ConnectionLost(why)) => why,
            Err(error) => return CallOutcome::Done(Err(tool_error(&error))),
        };
        let closed = tokio::time::timeout(CLOSED_TIMEOUT, active.connection.closed()).await;
        match closed {
            Ok(closed) => CallOutcome::Lost(Some(active.number), explain_connection(&closed)),
            Err(_) => {
                // Whether it was more than this request shows when it is asked something else.
                shared.doubt.notify_one();
                CallOutcome::Lost(None, explain_connection(&why))
            }
        }
    }

    fn errors(&self) -> CallErrors<'_> {
        CallErrors {
            title: &self.shared.settings.info.title,
        }
    }
}

#[async_trait]
impl ToolSource for McpServer {
    fn info(&self) -> &SourceInfo {
        &self.shared.settings.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.shared.status.offer().tools.clone()
    }

    fn state(&self) -> SourceState {
        self.shared.status.state()
    }

    fn can_be_called(&self) -> bool {
        match self.shared.status.availability() {
            McpAvailability::Connected(_)
            | McpAvailability::Starting
            | McpAvailability::Sleeping => true,
            McpAvailability::Unavailable(reason) => reason.may_retry(),
        }
    }

    fn unavailable(&self) -> Option<String> {
        match self.shared.status.availability() {
            McpAvailability::Unavailable(reason) => {
                Some(self.errors().unavailable(&reason).message)
            }
            McpAvailability::Connected(_)
            | McpAvailability::Starting
            | McpAvailability::Sleeping => None,
        }
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        self.shared.call_timeouts.of(tool)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let _guard = self.shared.activity.begin();
        let is_repeatable = self.shared.status.offer().is_repeatable(tool);
        let handler: Arc<dyn CallHandler> = Arc::new(ContextHandler(context.clone()));
        let active = self.connection(tool, None, context).await?;
        let (lost, why) = match self.call_over(&active, tool, &input, &handler).await {
            CallOutcome::Done(result) => return result,
            CallOutcome::NotSent(why) => (None, why),
            // A second try is only for what does no harm when it is done twice.
            CallOutcome::Lost(_, why) if !is_repeatable => {
                return Err(self.errors().lost(tool, &why));
            }
            CallOutcome::Lost(lost, why) => (lost, why),
        };
        let logs = &self.shared.logs;
        logs.note(format!(
            "A call did not get through and is made once more. {why}"
        ));
        let active = self.connection(tool, lost, context).await?;
        match self.call_over(&active, tool, &input, &handler).await {
            CallOutcome::Done(result) => result,
            CallOutcome::NotSent(why) => Err(self.errors().not_sent(tool, &why)),
            CallOutcome::Lost(_, why) => Err(self.errors().lost(tool, &why)),
        }
    }
}

/// What came of a call over one connection.
enum CallOutcome {
    Done(ToolResult),
    /// Nothing was sent, and why.
    NotSent(String),
    /// There was no response, and why. The number of the connection, if that has ended.
    Lost(Option<u64>, String),
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("McpServer")
            .field(&self.shared.settings.info.id)
            .finish()
    }
}
