//! `make bench`: what the hub costs, each figure beside the floor it stands on.
//!
//! Times are medians of many rounds in one run. What counts is the ratio to
//! the floor of the same run; absolute figures belong to the machine.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[expect(dead_code, reason = "not every bench looks at the peak")]
#[path = "shared/heap.rs"]
mod heap;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_agent::Feed;
use tenon_bus::Bus;
use tenon_domain::{
    Annotations, CallId, Caller, EventBody, SourceId, SourceInfo, SourceKind, TitledBy, ToolAccess,
    ToolCall, ToolDefinition, ToolId, ToolOutput, ToolResult, UserId,
};
use tenon_store::Store;
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, Error, MemoryOutputStore, MemoryToolIdStore,
    NoClient, Registry, ToolIdStore, ToolSource,
};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 15;

#[tokio::main]
async fn main() {
    calls().await;
    snapshots().await;
    feed().await;
    idle_chats().await;
}

/// The overhead of the road around a tool that does nothing.
async fn calls() {
    const CALLS: u32 = 20_000;
    let registry = registry(&[1]).await;
    let toolset = registry.toolset(ToolAccess::all(&ada(), Caller::Person));
    let call = ToolCall {
        id: CallId::new("c"),
        tool_id: ToolId::new("mcp_s0_t0"),
        input: json!({"path": "notes/today.md", "limit": 20}),
    };
    let (context, source) = (context(), Many::new(0, 1));

    let floor = median(async || {
        let started = Instant::now();
        for _ in 0..CALLS {
            black_box(source.call("t0", call.input.clone(), &context).await).ok();
        }
        started.elapsed() / CALLS
    })
    .await;
    let road = median(async || {
        let started = Instant::now();
        for _ in 0..CALLS {
            black_box(toolset.call(&call, &context).await).ok();
        }
        started.elapsed() / CALLS
    })
    .await;
    println!("a call, the source alone        {floor:>12.2?}   floor");
    println!("a call, Toolset::call           {road:>12.2?}   target: under 5 µs over the floor");
}

/// A snapshot must not grow with the registry.
async fn snapshots() {
    const SNAPSHOTS: u32 = 100_000;
    for tools in [10, 10_000] {
        let registry = registry(&[tools]).await;
        let access = ToolAccess::all(&ada(), Caller::Person);
        let took = median(async || {
            let started = Instant::now();
            for _ in 0..SNAPSHOTS {
                black_box(registry.toolset(access.clone()));
            }
            started.elapsed() / SNAPSHOTS
        })
        .await;
        println!("a snapshot of {tools:>6} tools      {took:>12.2?}   target: the same for both");
    }
    let started = Instant::now();
    black_box(registry(&[10_000]).await);
    println!(
        "10,000 tools into the registry  {:>12.2?}",
        started.elapsed()
    );
    ids_on_disk().await;
}

/// A large server that is met for the first time, and again after a restart.
async fn ids_on_disk() {
    let folder = tempfile::tempdir().expect("a folder for the database");
    let store = Store::open_file(&folder.path().join("bench.db"))
        .await
        .expect("a database");
    for time in ["first", "next"] {
        let (tool_ids, outputs) = (StoredToolIds(store.clone()), MemoryOutputStore::default());
        let registry = Registry::new(Arc::new(tool_ids), Arc::new(outputs), CallLimits::default());
        let started = Instant::now();
        let connection = registry.connect(Arc::new(Many::new(0, 10_000))).await;
        println!(
            "10,000 tools, ids on disk, {time:<5} {:>11.2?}   target: under 1 s",
            started.elapsed()
        );
        drop(connection.expect("the source connects"));
    }
}

/// Events through the feed, against one transaction per event.
async fn feed() {
    const EVENTS: u32 = 2_000;
    const CHATS: usize = 32;
    let folder = tempfile::tempdir().expect("a folder for the database");
    let store = Store::open_file(&folder.path().join("bench.db"))
        .await
        .expect("a database");
    let feed = Feed::new(store.clone(), Bus::alone());
    let mut chats = Vec::new();
    for _ in 0..CHATS {
        chats.push(store.create_chat(&ada(), "").await.expect("a chat").id);
    }
    let event = || {
        vec![EventBody::ChatTitled {
            title: "a title of ordinary length".into(),
            by: TitledBy::Person,
        }]
    };

    let started = Instant::now();
    for _ in 0..EVENTS {
        store
            .append(&chats[0], event())
            .await
            .expect("the event is written");
    }
    let floor = f64::from(EVENTS) / started.elapsed().as_secs_f64();

    let started = Instant::now();
    let emitters = chats.iter().map(|chat| {
        let (feed, mut watch) = (feed.clone(), feed.watch(chat));
        let emits = async move {
            for _ in 0..EVENTS {
                feed.emit(chat, event())
                    .await
                    .expect("the event is written");
            }
        };
        let watches = async move {
            // A watcher that reads along is part of the price.
            for _ in 0..EVENTS {
                watch.next().await;
            }
        };
        async { tokio::join!(emits, watches) }
    });
    futures::future::join_all(emitters).await;
    let through = f64::from(EVENTS) * CHATS as f64 / started.elapsed().as_secs_f64();
    println!("events stored one by one        {floor:>10.0} /s   floor");
    println!(
        "events through the feed         {through:>10.0} /s   {CHATS} chats at once, {:.1} × the floor",
        through / floor
    );
}

/// A chat that nothing happens in should cost nothing.
async fn idle_chats() {
    const CHATS: isize = 1_000;
    let store = Store::open("sqlite::memory:").await.expect("a database");
    let feed = Feed::new(store.clone(), Bus::alone());
    let talk = async || {
        for _ in 0..CHATS {
            let chat = store.create_chat(&ada(), "").await.expect("a chat").id;
            let watch = feed.watch(&chat);
            let title = EventBody::ChatTitled {
                title: "x".into(),
                by: TitledBy::Person,
            };
            feed.emit(&chat, vec![title])
                .await
                .expect("the event is written");
            drop(watch);
        }
    };
    // The first round fills caches and buffers that stay whatever comes.
    talk().await;
    let before = heap::in_use();
    talk().await;
    let grown = heap::in_use() - before;
    println!(
        "an idle chat                    {:>10} B    {} channels open",
        grown / CHATS,
        feed.open_channels()
    );
}

async fn median(round: impl AsyncFn() -> Duration) -> Duration {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        rounds.push(round().await);
    }
    rounds.sort();
    rounds[ROUNDS / 2]
}

/// A registry with one source for each number of tools. It forgets none of them.
async fn registry(sizes: &[usize]) -> Arc<Registry> {
    let tool_ids = Arc::new(MemoryToolIdStore::default());
    let registry = Registry::new(
        tool_ids,
        Arc::new(MemoryOutputStore::default()),
        CallLimits::default(),
    );
    for (number, tools) in sizes.iter().enumerate() {
        let source = Arc::new(Many::new(number, *tools));
        std::mem::forget(registry.connect(source).await.expect("the source connects"));
    }
    registry
}

fn ada() -> UserId {
    UserId::new("ada")
}

fn context() -> CallContext {
    CallContext {
        call_id: CallId::new("c"),
        origin: CallOrigin::default(),
        user: ada(),
        workspace: None,
        cancel: CancellationToken::new(),
        client: Arc::new(NoClient),
        timer: CallTimer::default(),
    }
}

/// A tool id store as a server keeps it.
struct StoredToolIds(Store);

#[async_trait]
impl ToolIdStore for StoredToolIds {
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error> {
        let ids = self.0.tool_ids(source, names).await;
        ids.map_err(|error| Error(Box::new(error)))
    }
}

/// A source with many tools that do nothing.
struct Many {
    info: SourceInfo,
    tools: usize,
}

impl Many {
    fn new(number: usize, tools: usize) -> Self {
        let name = format!("s{number}");
        let info = SourceInfo {
            id: SourceId::new(&name),
            kind: SourceKind::Mcp,
            title: name.clone(),
            name,
            owner: None,
        };
        Self { info, tools }
    }
}

#[async_trait]
impl ToolSource for Many {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |number: usize| {
            ToolDefinition {
            name: format!("t{number}"),
            title: None,
            description: "Does nothing.".into(),
            input_schema: json!({
                "type": "object",
                "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
                "required": ["path"],
                "additionalProperties": false,
            }).into(),
            annotations: Annotations::default(),
        }
        };
        (0..self.tools).map(tool).collect()
    }

    async fn call(&self, _tool: &str, _input: Value, _context: &CallContext) -> ToolResult {
        Ok(ToolOutput::default())
    }
}
