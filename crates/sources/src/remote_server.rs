//! A server that runs at another server of the cluster, because it must run once: its calls are made there.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{ErrorDetail, SourceId, SourceInfo, SourceState, ToolDefinition, ToolResult};
use tenon_tools::{CallContext, ToolSource};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::interval;
use tracing::Span;

use crate::call_error::{ServerCallError, unavailable};
use crate::call_routes::{CallRoutes, RouteError, RoutedCall};
use crate::lock::lock;
use crate::{CallTimeouts, Logs, ServerLogLine, ServerStatus, SupervisedServer};

/// Topics on the bus.
pub const REMOTE_CALL: &str = "source.call";
pub const REMOTE_TOOLS: &str = "source.tools";
pub const REMOTE_LOGS: &str = "source.logs";
pub const REMOTE_RESTART: &str = "source.restart";

/// How often the tools are requested from the server that runs it.
const TOOLS_INTERVAL: Duration = Duration::from_secs(5);
const TOOLS_TIMEOUT: Duration = Duration::from_secs(10);

/// Somebody looks at a page meanwhile.
const LOGS_TIMEOUT: Duration = Duration::from_secs(4);

/// Cheap to clone.
#[derive(Clone)]
pub struct RemoteServer(Arc<Inner>);

struct Inner {
    info: SourceInfo,
    /// The server that runs it, by its name on the bus. None while it is unknown.
    holder: Option<String>,
    routes: CallRoutes,
    tools: Mutex<Vec<ToolDefinition>>,
    status: Mutex<ServerStatus>,
    changes: watch::Sender<u64>,
    logs: Logs,
    has_trusted_hints: AtomicBool,
    asking: Mutex<Option<AbortHandle>>,
}

/// A call to a tool of an MCP server that another Tenon server runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoteServerCall {
    call: RoutedCall,
    pub source: SourceId,
    pub tool: String,
    pub input: Value,
}

impl RemoteServerCall {
    /// The span of executing it for the server that sent it.
    pub fn span(&self) -> Span {
        self.call.span()
    }

    /// The context to execute it with: its progress goes back to the server that sent it.
    pub fn context(&self, routes: &CallRoutes, from: &Arc<str>) -> CallContext {
        routes.context(from, &self.call)
    }
}

/// The tools of a server and its status, as reported by the Tenon server that runs it.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoteServerTools {
    pub state: SourceState,
    pub tools: Vec<ToolDefinition>,
}

impl RemoteServer {
    pub fn start(
        info: SourceInfo,
        holder: Option<String>,
        routes: CallRoutes,
        known: Vec<ToolDefinition>,
    ) -> Self {
        let mut status = ServerStatus::new(SourceState::Starting);
        status.tools = known.len();
        let server = Self(Arc::new(Inner {
            info,
            holder,
            routes,
            tools: Mutex::new(known),
            status: Mutex::new(status),
            changes: watch::Sender::new(0),
            logs: Logs::default(),
            has_trusted_hints: AtomicBool::new(false),
            asking: Mutex::default(),
        }));
        let logs = &server.0.logs;
        logs.note(match &server.0.holder {
            Some(_) => "It runs at another server of the cluster.",
            None => "It is not known which server of the cluster runs it.",
        });
        if let Some(holder) = server.0.holder.clone() {
            let asking = tokio::spawn(follow(Arc::downgrade(&server.0), holder));
            *lock(&server.0.asking) = Some(asking.abort_handle());
        }
        server
    }

    /// None: it cannot be had for now.
    async fn remote_log(&self) -> Option<Vec<ServerLogLine>> {
        let inner = &self.0;
        let ask = serde_json::to_vec(&inner.info.id).ok()?;
        let (holder, bus) = (inner.holder.as_ref()?, inner.routes.bus());
        let reply = bus.request(holder, REMOTE_LOGS, ask, LOGS_TIMEOUT).await;
        serde_json::from_slice(&reply.ok()?).ok()?
    }

    fn take(&self, told: RemoteServerTools) {
        let mut status = lock(&self.0.status);
        let mut tools = lock(&self.0.tools);
        let is_new = *tools != told.tools;
        if is_new {
            status.revision += 1;
            status.tools = told.tools.len();
            *tools = told.tools;
        }
        if !is_new && status.state == told.state {
            return;
        }
        status.state = told.state;
        drop((status, tools));
        self.0.changes.send_modify(|changes| *changes += 1);
    }
}

/// Polls tools and status until the server is dropped or stopped.
async fn follow(server: Weak<Inner>, holder: String) {
    let mut ticks = interval(TOOLS_INTERVAL);
    loop {
        ticks.tick().await;
        let Some(inner) = server.upgrade() else {
            return;
        };
        let ask = serde_json::to_vec(&inner.info.id).unwrap_or_default();
        let bus = inner.routes.bus().clone();
        drop(inner);
        let reply = bus.request(&holder, REMOTE_TOOLS, ask, TOOLS_TIMEOUT);
        // Where it moves, the lease says so.
        let Ok(reply) = reply.await else { continue };
        let told: Option<RemoteServerTools> = serde_json::from_slice(&reply).unwrap_or_default();
        if let (Some(told), Some(inner)) = (told, server.upgrade()) {
            RemoteServer(inner).take(told);
        }
    }
}

#[async_trait]
impl ToolSource for RemoteServer {
    fn info(&self) -> &SourceInfo {
        &self.0.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        lock(&self.0.tools).clone()
    }

    fn state(&self) -> SourceState {
        lock(&self.0.status).state.clone()
    }

    fn unavailable(&self) -> Option<ErrorDetail> {
        None
    }

    fn has_trusted_hints(&self) -> bool {
        self.0.has_trusted_hints.load(Ordering::Relaxed)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let inner = &self.0;
        let call = RemoteServerCall {
            call: RoutedCall::new(context),
            source: inner.info.id.clone(),
            tool: tool.to_owned(),
            input,
        };
        let call = serde_json::to_vec(&call).unwrap_or_default();
        let name = || inner.info.title.clone().into();
        let away = || Err(unavailable(ServerCallError::RemoteAway { name: name() }));
        let lost = || Err(unavailable(ServerCallError::RemoteLost { name: name() }));
        let Some(holder) = &inner.holder else {
            return away();
        };
        let reply = inner.routes.call(holder, REMOTE_CALL, call, context).await;
        match reply.map(|reply| serde_json::from_slice(&reply)) {
            Ok(Ok(Some(result))) => result,
            Ok(Ok(None)) | Err(RouteError::NotBegun) => away(),
            Ok(Err(_)) | Err(RouteError::Lost) => lost(),
        }
    }
}

#[async_trait]
impl SupervisedServer for RemoteServer {
    fn status(&self) -> ServerStatus {
        lock(&self.0.status).clone()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    fn logs(&self) -> &Logs {
        &self.0.logs
    }

    async fn log_lines(&self) -> Vec<ServerLogLine> {
        let mut lines = self.0.logs.lines();
        match self.remote_log().await {
            Some(log) => lines.extend(log),
            None => lines.push(ServerLogLine {
                at: SystemTime::now(),
                ours: true,
                text: "Its log there cannot be read for now.".into(),
            }),
        }
        lines
    }

    /// Asks the server that holds the lease to restart it. The outcome arrives later, with the
    /// status updates.
    fn restart(&self) {
        let inner = &self.0;
        let id = serde_json::to_vec(&inner.info.id).unwrap_or_default();
        if let Some(holder) = &inner.holder {
            inner.routes.bus().notify(holder, REMOTE_RESTART, id);
        }
    }

    /// Does nothing: timeouts are kept by the entry in the registry.
    fn set_timeouts(&self, _timeouts: CallTimeouts) {}

    fn set_trusted_hints(&self, are_trusted: bool) {
        self.0
            .has_trusted_hints
            .store(are_trusted, Ordering::Relaxed);
    }

    async fn stop(&self) {
        if let Some(asking) = lock(&self.0.asking).take() {
            asking.abort();
        }
    }
}

impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteServer")
            .field(&self.0.info.id)
            .finish()
    }
}
