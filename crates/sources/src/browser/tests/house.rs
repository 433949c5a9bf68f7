//! People and their browsers, for the tests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_domain::{
    Access, CallId, SourceId, SourceState, ToolCall, ToolError, ToolId, ToolResult, UserId,
};
use tenon_tools::{
    Asker, CallContext, Errand, Limits, MemoryIdBook, MemoryShelf, Nobody, Pulse, Registry, Toolset,
};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::super::*;

/// Keeps what it is given, as the store would.
#[derive(Default)]
pub(super) struct Notes(pub(super) Mutex<Vec<Remembered>>);

#[async_trait]
impl Memory for Notes {
    async fn load(&self) -> Result<Vec<Remembered>, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    async fn keep(&self, server: &Remembered) -> Result<(), String> {
        let mut kept = self.0.lock().unwrap();
        kept.retain(|one| one.info.id != server.info.id);
        kept.push(server.clone());
        Ok(())
    }

    async fn seen(&self, _servers: &[SourceId]) -> Result<(), String> {
        Ok(())
    }

    async fn forget(&self, servers: &[SourceId]) -> Result<(), String> {
        self.0
            .lock()
            .unwrap()
            .retain(|one| !servers.contains(&one.info.id));
        Ok(())
    }
}

pub(super) struct House {
    pub(super) registry: Arc<Registry>,
    pub(super) desk: Desk,
    pub(super) notes: Arc<Notes>,
}

impl House {
    pub(super) fn new() -> Self {
        Self::with(Arc::default())
    }

    pub(super) fn with(notes: Arc<Notes>) -> Self {
        let ids = Arc::new(MemoryIdBook::default());
        let shelf = Arc::new(MemoryShelf::default());
        let registry = Registry::new(ids, shelf, Limits::default());
        let parses = Arc::new(Semaphore::new(2));
        let parses = Box::new(move |_: &UserId| parses.clone());
        let desk = Desk::new(registry.clone(), notes.clone(), parses);
        Self {
            registry,
            desk,
            notes,
        }
    }

    pub(super) async fn page(
        &self,
        user: &str,
        device: &str,
        page: &str,
        servers: Vec<Found>,
    ) -> Tab {
        let (gives, frames) = mpsc::channel(64);
        let registration = registration(device, page, servers);
        let user = UserId::new(user);
        let seat = self.desk.sit(&user, &registration, gives).unwrap();
        let registered = seat.register(registration).await.unwrap();
        Tab {
            seat,
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
        self.registry.toolset(Access::all(&UserId::new(user)))
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
            errand: Errand::default(),
            user: UserId::new(user),
            asker: Asker::Person,
            workspace: None,
            cancel: CancellationToken::new(),
            attendant: Arc::new(Nobody),
            pulse: Pulse::default(),
        };
        let toolset = self.tools(user);
        tokio::spawn(async move { toolset.call(&call, &context).await })
    }
}

/// A page, as far as Tenon sees it.
pub(super) struct Tab {
    pub(super) seat: Seat,
    pub(super) frames: AsyncMutex<mpsc::Receiver<Frame>>,
    pub(super) registered: Registered,
}

impl Tab {
    pub(super) async fn order(&self) -> Execute {
        let frame = self.frames.lock().await.recv().await;
        match frame {
            Some(Frame::Execute(order)) => *order,
            other => panic!("{other:?} is no call"),
        }
    }

    pub(super) async fn cancelled(&self) -> CallId {
        let frame = self.frames.lock().await.recv().await;
        match frame {
            Some(Frame::Cancel { call_id }) => call_id,
            other => panic!("{other:?} cancels nothing"),
        }
    }

    /// The next call, which it has begun with.
    pub(super) async fn begun(&self) -> Execute {
        let order = self.order().await;
        self.begin(&order);
        tokio::task::yield_now().await;
        order
    }

    pub(super) fn begin(&self, order: &Execute) {
        self.seat.sign(Sign {
            call_id: order.call_id.clone(),
            progress: None,
            total: None,
            message: None,
        });
    }

    pub(super) fn answer(&self, order: &Execute, outcome: Value) {
        let mut answered = outcome;
        answered["call_id"] = json!(order.call_id);
        self.seat.end(serde_json::from_value(answered).unwrap());
    }
}

pub(super) fn registration(device: &str, page: &str, servers: Vec<Found>) -> Registration {
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

pub(super) fn found(name: &str, offered: Option<Value>) -> Found {
    let via = match &offered {
        Some(offered) if offered["type"] == "mcp" => Via::Mcp,
        _ => Via::Mcpo,
    };
    Found {
        url: "http://localhost:8000".into(),
        name: name.into(),
        title: String::new(),
        via,
        hash: format!("hash of {name}"),
        offered: offered.map(|offered| serde_json::from_value(offered).unwrap()),
    }
}

/// The time server behind an mcpo, as far as it matters.
pub(super) fn time() -> Found {
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

pub(super) fn echo() -> Found {
    let tools = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
    found("echo", Some(json!({"type": "mcp", "tools": tools})))
}

pub(super) const NOW: &str = "local_time_now";

pub(super) fn error(result: ToolResult) -> ToolError {
    result.unwrap_err()
}
