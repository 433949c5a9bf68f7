//! An MCP server as the registry holds it: it outlives every connection, and every call
//! goes over the one there is.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{
    ErrorDetail, InputSchema, SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult,
};
use tenon_mcp::{CallHandler, Error};
use tenon_tools::{CallContext, ContextSource, ProgressUpdate, RemoteReply, ToolSource};
use tokio::sync::{Notify, watch};
use tokio_util::sync::DropGuard;

use super::call_activity::CallActivity;
use super::call_handler::ContextHandler;
use super::content;
use super::context_cache::ContextCache;
use super::explain::{explain_connection, tool_error};
use super::offered_tools::OfferedTools;
use super::settings::{McpSettings, StartMode};
use super::shared::{LoginDemand, McpShared};
use super::status::ActiveConnection;
use super::supervisor::supervise;
use super::timeouts::ServerTimeouts;
use crate::call_error::ServerRemedy;
use crate::call_timeouts::CallTimeouts;
use crate::supervisor::{
    Availability, CallErrors, HasCore, ServerCore, StatusCell, SupervisorTimeouts,
    UnavailableReason,
};

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
    pub(super) shared: Arc<McpShared>,
    _stops: DropGuard,
}

impl McpServer {
    /// Starts its supervisor, and the server when that is wanted.
    pub fn new(settings: McpSettings) -> Arc<Self> {
        Self::with_timeouts(settings, ServerTimeouts::default())
    }

    pub fn with_timeouts(mut settings: McpSettings, timeouts: ServerTimeouts) -> Arc<Self> {
        let known = std::mem::take(&mut settings.known);
        let tools = known.len();
        let status = StatusCell::new(OfferedTools::new(known), tools);
        // Before the supervisor has run, too.
        if settings.start == StartMode::OnCall {
            status.asleep();
        }
        let errors = CallErrors {
            title: settings.info.title.clone(),
            remedy: ServerRemedy::Restart,
        };
        let config = &settings.config;
        let call_timeouts = CallTimeouts::from_millis(config.timeout_ms, &config.tool_timeouts_ms);
        let waits = SupervisorTimeouts {
            start: timeouts.start * 3 / 2,
            stop: timeouts.end * 2,
        };
        let core = Arc::new(ServerCore::new(status, errors, call_timeouts, waits));
        let stops = core.stopping.clone().drop_guard();
        let shared = Arc::new(McpShared {
            settings,
            timeouts,
            core,
            activity: CallActivity::default(),
            context: ContextCache::default(),
            doubt: Notify::new(),
            login_demand: watch::Sender::new(LoginDemand::default()),
        });
        tokio::spawn(supervise(shared.clone()));
        Arc::new(Self {
            shared,
            _stops: stops,
        })
    }

    /// The connection a call can go over, as soon as there is one. After `lost`, a newer one.
    async fn connection(
        &self,
        tool: &str,
        lost: Option<u64>,
        context: &CallContext,
    ) -> Result<ActiveConnection, ToolError> {
        let is_usable = |active: &ActiveConnection| Some(active.number) != lost;
        let wake = || self.shared.activity.request_start();
        tokio::select! {
            biased;
            connected = self.shared.core.connection(tool, is_usable, wake) => connected,
            never = self.report_waiting(context) => match never {},
        }
    }

    /// Reports what a call waits for. That does not reset the timeout of the call.
    async fn report_waiting(&self, context: &CallContext) -> Infallible {
        loop {
            tokio::time::sleep(WAIT_REPORT_INTERVAL).await;
            let status = &self.shared.core.status;
            let startup = status.read(|status| status.startup.clone());
            context.client.progress(ProgressUpdate {
                progress: 0.0,
                total: None,
                message: Some(self.errors().waiting(startup.as_ref()).to_string()),
            });
        }
    }

    async fn call_over(
        &self,
        active: &ActiveConnection,
        tool: &str,
        input: &Value,
        handler: &Arc<ContextHandler>,
    ) -> AttemptOutcome {
        let shared = &self.shared;
        let as_handler: Arc<dyn CallHandler> = handler.clone();
        let why = match active.connection.call_tool(tool, input, &as_handler).await {
            Ok(result) => return AttemptOutcome::Done(content::convert(result)),
            Err(Error::LoginRequired { challenge }) => {
                shared.demand_login(active.number, challenge);
                let reason = UnavailableReason::LoginRequired;
                return AttemptOutcome::Done(Err(self.errors().unavailable(&reason)));
            }
            Err(Error::NotSent(why)) => {
                // Whether the server is gone, or only this request failed, shows when it is
                // asked something else.
                shared.doubt.notify_one();
                let mut availability = shared.core.status.watch_availability();
                let is_over = |now: &Availability<ActiveConnection>| !matches!(now, Availability::Open(now) if now.number == active.number);
                let over = availability.wait_for(is_over);
                let _ = tokio::time::timeout(HEALTH_CHECK_TIMEOUT, over).await;
                return AttemptOutcome::NotSent(explain_connection(&why));
            }
            Err(Error::ConnectionLost(why)) => why,
            Err(error) => {
                if let Error::Rpc(refusal) = &error {
                    handler.0.client.remote_reply(RemoteReply::Error {
                        code: refusal.code,
                        message: &refusal.message,
                        data: refusal.data.as_ref(),
                    });
                }
                return AttemptOutcome::Done(Err(tool_error(&error)));
            }
        };
        let closed = tokio::time::timeout(CLOSED_TIMEOUT, active.connection.closed()).await;
        match closed {
            Ok(closed) => AttemptOutcome::Lost(Some(active.number), explain_connection(&closed)),
            Err(_) => {
                // Whether it was more than this request shows when it is asked something else.
                shared.doubt.notify_one();
                AttemptOutcome::Lost(None, explain_connection(&why))
            }
        }
    }

    fn errors(&self) -> &CallErrors {
        &self.shared.core.errors
    }
}

impl HasCore for McpServer {
    type Offer = OfferedTools;
    type Connection = ActiveConnection;

    fn core(&self) -> &ServerCore<OfferedTools, ActiveConnection> {
        &self.shared.core
    }
}

#[async_trait]
impl ToolSource for McpServer {
    fn info(&self) -> &SourceInfo {
        &self.shared.settings.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.shared.core.status.offer().tools.clone()
    }

    fn output_schema(&self, tool: &str) -> Option<InputSchema> {
        self.shared.core.status.offer().output_schema(tool)
    }

    fn state(&self) -> SourceState {
        self.shared.core.status.state()
    }

    fn can_be_called(&self) -> bool {
        match self.shared.core.status.availability() {
            Availability::Open(_) | Availability::Starting | Availability::Sleeping => true,
            Availability::Unavailable(reason) => reason.may_retry(),
        }
    }

    fn unavailable(&self) -> Option<ErrorDetail> {
        self.shared.core.unavailable()
    }

    fn has_trusted_hints(&self) -> bool {
        self.shared.core.has_trusted_hints()
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        self.shared.core.call_timeouts.of(tool)
    }

    fn context(&self) -> Option<&dyn ContextSource> {
        Some(self)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let _guard = self.shared.activity.begin();
        let is_repeatable =
            self.has_trusted_hints() && self.shared.core.status.offer().is_repeatable(tool);
        let handler = Arc::new(ContextHandler(context.clone()));
        let active = self.connection(tool, None, context).await?;
        let (lost, why) = match self.call_over(&active, tool, &input, &handler).await {
            AttemptOutcome::Done(result) => return result,
            AttemptOutcome::NotSent(why) => (None, why),
            // A second try is only for what, by a word that is trusted, does no harm done twice.
            AttemptOutcome::Lost(_, why) if !is_repeatable => {
                return Err(self.errors().lost(tool, &why));
            }
            AttemptOutcome::Lost(lost, why) => (lost, why),
        };
        let logs = &self.shared.core.logs;
        logs.note(format!(
            "A call did not get through and is made once more. {why}"
        ));
        // Boxed: it is rare, and twice the state of every call.
        let again = async {
            let active = self.connection(tool, lost, context).await?;
            match self.call_over(&active, tool, &input, &handler).await {
                AttemptOutcome::Done(result) => result,
                AttemptOutcome::NotSent(why) => Err(self.errors().not_sent(tool, &why)),
                AttemptOutcome::Lost(_, why) => Err(self.errors().lost(tool, &why)),
            }
        };
        Box::pin(again).await
    }
}

/// The outcome of one attempt to make a call.
enum AttemptOutcome {
    Done(ToolResult),
    /// Nothing was sent, and why.
    NotSent(ErrorDetail),
    /// There was no response, and why. The number of the connection, if that has ended.
    Lost(Option<u64>, ErrorDetail),
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("McpServer")
            .field(&self.shared.settings.info.id)
            .finish()
    }
}
