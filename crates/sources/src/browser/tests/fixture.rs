//! A hub with users and their browsers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_bus::Bus;
use tenon_domain::{
    CallId, Caller, SourceId, SourceState, ToolAccess, ToolCall, ToolError, ToolId, ToolResult,
    UserId,
};
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, MemoryOutputStore, MemoryToolIdStore, NoClient,
    Registry, Toolset,
};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::super::*;
use crate::CallRoutes;

/// Keeps what it is given, as the store would.
#[derive(Default)]
pub(super) struct Notes(
    pub(super) Mutex<Vec<LocalServerRecord>>,
    /// Those that no page has seen for long.
    pub(super) Mutex<Vec<SourceId>>,
);

#[async_trait]
impl LocalServerStore for Notes {
    async fn load(&self) -> Result<Vec<LocalServerRecord>, BrowserError> {
        Ok(self.0.lock().unwrap().clone())
    }

    async fn load_device(
        &self,
        user: &UserId,
        device: &str,
    ) -> Result<Vec<LocalServerRecord>, BrowserError> {
        let mut kept = self.load().await?;
        kept.retain(|one| one.info.owner.as_ref() == Some(user) && one.device.id == device);
        Ok(kept)
    }

    async fn save(&self, server: &LocalServerRecord) -> Result<(), BrowserError> {
        let mut kept = self.0.lock().unwrap();
        kept.retain(|one| one.info.id != server.info.id);
        kept.push(server.clone());
        Ok(())
    }

    async fn mark_seen(&self, _servers: &[SourceId]) -> Result<(), BrowserError> {
        Ok(())
    }

    async fn delete_unseen(&self) -> Result<Vec<SourceId>, BrowserError> {
        let unseen = std::mem::take(&mut *self.1.lock().unwrap());
        self.delete(&unseen).await?;
        let left = self.0.lock().unwrap();
        Ok(left.iter().map(|one| one.info.id.clone()).collect())
    }

    async fn delete(&self, servers: &[SourceId]) -> Result<(), BrowserError> {
        self.0
            .lock()
            .unwrap()
            .retain(|one| !servers.contains(&one.info.id));
        Ok(())
    }
}

pub(super) struct Fixture {
    pub(super) registry: Arc<Registry>,
    pub(super) hub: DeviceHub,
    pub(super) notes: Arc<Notes>,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self::with(Arc::default())
    }

    pub(super) fn with(notes: Arc<Notes>) -> Self {
        let ids = Arc::new(MemoryToolIdStore::default());
        let outputs = Arc::new(MemoryOutputStore::default());
        let registry = Registry::new(ids, outputs, CallLimits::default());
        let parses = Arc::new(Semaphore::new(2));
        let parses = Box::new(move |_: &UserId| parses.clone());
        let hub = DeviceHub::new(
            registry.clone(),
            notes.clone(),
            parses,
            CallRoutes::new(Bus::alone()),
        );
        Self {
            registry,
            hub,
            notes,
        }
    }

    pub(super) async fn page(
        &self,
        user: &str,
        device: &str,
        page: &str,
        servers: Vec<DiscoveredServer>,
    ) -> Tab {
        let (gives, frames) = mpsc::channel(64);
        let registration = registration(device, page, servers);
        let user = UserId::new(user);
        let connection = self.hub.connect(&user, &registration, gives).unwrap();
        let registered = connection.register(registration).await.unwrap();
        Tab {
            connection,
            frames: AsyncMutex::new(frames),
            registered,
        }
    }

    /// The only page of Ada's laptop, which has found the time.
    pub(super) async fn laptop(&self) -> Tab {
        self.page("ada", "laptop", "1", vec![time()]).await
    }

    /// Ada's call to what was found there.
    pub(super) fn call_now(&self) -> tokio::task::JoinHandle<ToolResult> {
        self.call("ada", NOW, json!({"zone": "UTC"}))
    }

    pub(super) fn tools(&self, user: &str) -> Toolset {
        self.registry
            .toolset(ToolAccess::all(&UserId::new(user), Caller::Person))
    }

    pub(super) fn ids(&self, user: &str) -> Vec<String> {
        let toolset = self.tools(user);
        let listed = toolset.listed();
        listed.iter().map(|tool| tool.spec.id.to_string()).collect()
    }

    pub(super) fn state(&self, user: &str) -> SourceState {
        let toolset = self.tools(user);
        toolset.listed()[0].source.state()
    }

    /// A call that somebody makes by hand.
    pub(super) fn call(
        &self,
        user: &str,
        tool: &str,
        input: Value,
    ) -> tokio::task::JoinHandle<ToolResult> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let call = ToolCall {
            id: CallId(format!("call-{number}")),
            tool_id: ToolId::new(tool),
            input,
        };
        let context = CallContext {
            call_id: call.id.clone(),
            origin: CallOrigin::default(),
            user: UserId::new(user),
            workspace: None,
            cancel: CancellationToken::new(),
            client: Arc::new(NoClient),
            timer: CallTimer::default(),
        };
        let toolset = self.tools(user);
        tokio::spawn(async move { toolset.call(&call, &context).await })
    }
}

/// A paused clock advances only when every task waits for something.
pub(super) async fn all_tasks_wait() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// A page, as far as Tenon sees it.
pub(super) struct Tab {
    pub(super) connection: PageConnection,
    pub(super) frames: AsyncMutex<mpsc::Receiver<PageCommand>>,
    pub(super) registered: RegistrationResult,
}

impl Tab {
    pub(super) async fn order(&self) -> ExecuteTool {
        let frame = self.frames.lock().await.recv().await;
        match frame {
            Some(PageCommand::Execute(order)) => *order,
            other => panic!("{other:?} is no call"),
        }
    }

    pub(super) async fn cancelled(&self) -> CallId {
        let frame = self.frames.lock().await.recv().await;
        match frame {
            Some(PageCommand::Cancel { call_id }) => call_id,
            other => panic!("{other:?} cancels nothing"),
        }
    }

    /// The next call, which it has begun with.
    pub(super) async fn begun(&self) -> ExecuteTool {
        let order = self.order().await;
        self.begin(&order);
        all_tasks_wait().await;
        order
    }

    pub(super) fn begin(&self, order: &ExecuteTool) {
        self.connection.progress(RemoteCallProgress {
            call_id: order.call_id.clone(),
            progress: None,
            total: None,
            message: None,
        });
    }

    pub(super) fn answer(&self, order: &ExecuteTool, outcome: Value) {
        let mut answered = outcome;
        answered["call_id"] = json!(order.call_id);
        self.connection
            .finish(serde_json::from_value(answered).unwrap());
    }
}

pub(super) fn registration(
    device: &str,
    page: &str,
    servers: Vec<DiscoveredServer>,
) -> Registration {
    Registration {
        device: DeviceInfo {
            id: format!("device-{device}"),
            name: format!("Chrome on {device}"),
        },
        page: format!("page-{page}-of-{device}"),
        servers,
        looking: Vec::new(),
        calls: Vec::new(),
    }
}

pub(super) fn found(name: &str, offered: Option<Value>) -> DiscoveredServer {
    let via = match &offered {
        Some(offered) if offered["type"] == "mcp" => LocalProtocol::Mcp,
        _ => LocalProtocol::Mcpo,
    };
    DiscoveredServer {
        url: "http://localhost:8000".into(),
        name: name.into(),
        title: String::new(),
        via,
        hash: format!("hash of {name}"),
        offered: offered.map(|offered| serde_json::from_value(offered).unwrap()),
    }
}

/// The time server behind an mcpo, as far as it matters.
pub(super) fn time() -> DiscoveredServer {
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "mcp-time", "version": "1"},
        "servers": [{"url": "/time"}],
        "paths": {"/now": {"post": {
            "operationId": "now",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {
                "type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"],
            }}}},
        }}},
    });
    let url = "http://127.0.0.1:8000/time/openapi.json";
    found(
        "time",
        Some(json!({"type": "openapi", "document": document.to_string(), "url": url})),
    )
}

pub(super) fn echo() -> DiscoveredServer {
    let tools = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
    found("echo", Some(json!({"type": "mcp", "tools": tools})))
}

pub(super) const NOW: &str = "local_time_now";

pub(super) fn error(result: ToolResult) -> ToolError {
    result.unwrap_err()
}
