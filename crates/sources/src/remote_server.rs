//! A server that runs at another server of the cluster, because it must run once: its calls are made there.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{ErrorDetail, SourceId, SourceInfo, SourceState, ToolDefinition, ToolResult};
use tenon_tools::{CallContext, ToolSource};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::interval;

use crate::call_error::{ServerCallError, unavailable};
use crate::call_routes::{CallRoutes, RouteError, RoutedCall};
use crate::{CallTimeouts, Logs, ServerStatus, SupervisedServer};

/// Topics on the bus.
pub const REMOTE_CALL: &str = "source.call";
pub const REMOTE_TOOLS: &str = "source.tools";
pub const REMOTE_RESTART: &str = "source.restart";

/// How often it is asked what it offers.
const TOOLS_INTERVAL: Duration = Duration::from_secs(5);
const TOOLS_TIMEOUT: Duration = Duration::from_secs(10);

/// Cheap to clone.
#[derive(Clone)]
pub struct RemoteServer(Arc<Inner>);

struct Inner {
    info: SourceInfo,
    /// The server that runs it, by its name on the bus.
    holder: String,
    routes: CallRoutes,
    tools: Mutex<Vec<ToolDefinition>>,
    status: Mutex<ServerStatus>,
    changes: watch::Sender<u64>,
    logs: Logs,
    has_trusted_hints: AtomicBool,
    asking: Mutex<Option<AbortHandle>>,
}

/// A call of a tool of a server that runs elsewhere.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoteServerCall {
    call: RoutedCall,
    pub source: SourceId,
    pub tool: String,
    pub input: Value,
}

impl RemoteServerCall {
    /// For its execution here.
    pub fn context(&self, routes: &CallRoutes, from: &Arc<str>) -> CallContext {
        routes.context(from, &self.call)
    }
}

/// What a server offers, and how it is where it runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoteServerTools {
    pub state: SourceState,
    pub tools: Vec<ToolDefinition>,
}

impl RemoteServer {
    pub fn start(
        info: SourceInfo,
        holder: String,
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
        let asking = tokio::spawn(server.clone().follow()).abort_handle();
        *lock(&server.0.asking) = Some(asking);
        server
    }

    async fn follow(self) {
        let mut ticks = interval(TOOLS_INTERVAL);
        loop {
            ticks.tick().await;
            let inner = &self.0;
            let ask = serde_json::to_vec(&inner.info.id).unwrap_or_default();
            let bus = inner.routes.bus();
            let reply = bus.request(&inner.holder, REMOTE_TOOLS, ask, TOOLS_TIMEOUT);
            // Who does not answer is not asked for ever: the lease says who runs it then.
            let Ok(reply) = reply.await else { continue };
            let told: Option<RemoteServerTools> =
                serde_json::from_slice(&reply).unwrap_or_default();
            if let Some(told) = told {
                self.take(told);
            }
        }
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
        let lost = || unavailable(ServerCallError::RemoteLost { name: name() });
        let reply = inner.routes.call(&inner.holder, REMOTE_CALL, call, context);
        match reply.await {
            Ok(reply) => serde_json::from_slice(&reply).unwrap_or_else(|_| Err(lost())),
            Err(RouteError::Lost) => Err(lost()),
            Err(RouteError::NotBegun) => {
                Err(unavailable(ServerCallError::RemoteAway { name: name() }))
            }
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

    /// It is restarted where it runs; how that goes is heard with its state.
    fn restart(&self) {
        let inner = &self.0;
        let id = serde_json::to_vec(&inner.info.id).unwrap_or_default();
        let bus = inner.routes.bus();
        bus.notify(&inner.holder, REMOTE_RESTART, id);
    }

    /// They are kept by the registry's entry.
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteServer")
            .field(&self.0.info.id)
            .finish()
    }
}
