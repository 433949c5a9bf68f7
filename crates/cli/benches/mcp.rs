//! `make bench`: what MCP servers over standard input and output cost us.
//!
//! The server is a program of its own, so what it costs is not in the figures:
//! they are the time all threads of this process spent on a processor. What
//! counts is the distance to the floor and to the bare client of the same run.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/echo.rs"]
mod echo;
#[expect(dead_code, reason = "not every bench looks at the peak")]
#[path = "shared/heap.rs"]
mod heap;
#[path = "shared/round.rs"]
mod round;

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use echo::ByHand;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::RunningService;
use rmcp::{Peer, RoleClient, ServiceExt};
use round::{Round, measured, middle, side_by_side};
use serde_json::json;
use tenon_domain::{
    CallId, Caller, McpConfig, McpTransport, SourceId, SourceInfo, SourceKind, SourceState,
    ToolAccess, ToolCall, ToolId, UserId,
};
use tenon_sources::mcp::{McpServer, McpSettings, StartMode};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{Network, SupervisedServer};
use tenon_store::Store;
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, Connection, Error, MemoryOutputStore,
    MemoryToolIdStore, NoClient, Registry, ToolIdStore, Toolset,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 7;
const CALLS: u32 = 8_192;
/// How many calls are on their way at once.
const IN_FLIGHT: [u32; 3] = [1, 32, 256];

fn main() {
    echo::serve_if_asked();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        calls().await;
        registration().await;
        idle().await;
        cold_start().await;
    });
}

/// One call over one child, by hand, with the bare client, and all in.
async fn calls() {
    let mut by_hand = ByHand::start(1);
    let (bare, _child) = bare_client().await;
    let ours = Ours::start(1, Arc::new(MemoryToolIdStore::default())).await;
    for in_flight in IN_FLIGHT {
        println!("{in_flight} in flight on one server, our CPU for each call:");
        let by_hand = median(async || {
            measured(async || {
                for first in (0..CALLS).step_by(in_flight as usize) {
                    by_hand.calls(first..first + in_flight);
                }
            })
            .await
        });
        by_hand.await.print("lines by hand", CALLS, "floor");
        let bare = median(async || {
            let client = bare.peer().clone();
            let call = move |number| bare_call(client.clone(), number);
            measured(async || side_by_side(CALLS, in_flight, call).await).await
        });
        bare.await.print("the bare client", CALLS, "");
        let all_in = median(async || {
            let toolset = ours.toolset.clone();
            let call = move |number| our_call(toolset.clone(), number);
            measured(async || side_by_side(CALLS, in_flight, call).await).await
        });
        all_in
            .await
            .print("Toolset::call", CALLS, "target: under 35 µs");
    }
    ours.server.stop().await;
}

/// From the answer with ten thousand tools to all of them in the registry.
async fn registration() {
    const TOOLS: usize = 10_000;
    let mut by_hand = ByHand::start(TOOLS);
    // Once it answers, it has made its list.
    by_hand.calls(0..1);
    let asked = Instant::now();
    let bytes = by_hand.list();
    let floor = asked.elapsed();
    println!(
        "{TOOLS} tools, {} KiB, by hand   {floor:>12.2?}   floor: read and not looked at",
        bytes / 1024
    );

    let mut took = Vec::new();
    for tools in [1, TOOLS] {
        let folder = tempfile::tempdir().expect("a folder for the database");
        let store = Store::open_file(&folder.path().join("bench.db")).await;
        let tool_ids = Arc::new(StoredToolIds(store.expect("a database")));
        let started = Instant::now();
        let ours = Ours::start(tools, tool_ids).await;
        took.push(started.elapsed());
        assert_eq!(ours.toolset.tools().len(), tools);
        ours.server.stop().await;
    }
    println!(
        "{TOOLS} tools into the registry   {:>12.2?}   target: under 1 s, beyond the {:.0?} of one tool",
        took[1].saturating_sub(took[0]),
        took[0]
    );
}

/// What a server that is ready and has nothing to do keeps of ours.
async fn idle() {
    const SERVERS: usize = 24;
    // The first one fills what stays whatever comes.
    let first = Ours::start(1, Arc::new(MemoryToolIdStore::default())).await;
    let before = heap::in_use();
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        servers.push(Ours::start(1, Arc::new(MemoryToolIdStore::default())).await);
    }
    let grown = (heap::in_use() - before) / SERVERS as isize;
    println!(
        "an idle server                  {:>9} KiB   target: under 200 KiB",
        grown / 1024
    );
    servers.push(first);
    for ours in servers {
        ours.server.stop().await;
    }
}

/// Forty servers of somebody else from nothing until all have listed their tools, as many
/// at once as we start them, beside the official client that starts two at a time.
async fn cold_start() {
    const SERVERS: usize = 40;
    let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers");
    let program = format!("{peers}/mcp/node_modules/.bin/mcp-server-everything");
    if !std::path::Path::new(&program).exists() {
        println!("{SERVERS} servers from a cold start: not measured, tests/setup installs them");
        return;
    }
    let begun = Instant::now();
    let turns = Semaphore::new(2);
    let clients = (0..SERVERS).map(|_| async {
        let _turn = turns.acquire().await.expect("turns stay open");
        let (client, child) = official_client(&program, &["stdio".into()]).await;
        let tools = client.list_all_tools().await.expect("its tools");
        assert!(!tools.is_empty());
        (client, child)
    });
    let clients = futures::future::join_all(clients).await;
    let official = begun.elapsed();
    drop(clients);

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let starts = Arc::new(Semaphore::new(cores.max(2)));
    let begun = Instant::now();
    let servers: Vec<_> = (0..SERVERS)
        .map(|_| McpServer::new(settings(&program, &["stdio".into()], starts.clone())))
        .collect();
    for server in &servers {
        until_ready(server, Duration::from_secs(300)).await;
    }
    let ours = begun.elapsed();
    let restarts: u64 = servers.iter().map(|server| server.status().restarts).sum();
    println!("{SERVERS} servers, official client    {official:>9.1?}   two at a time");
    println!(
        "{SERVERS} servers from a cold start   {ours:>9.1?}   {:.2} of that, {restarts} restarts; target: no more than 1.1",
        ours.as_secs_f64() / official.as_secs_f64()
    );
    for server in servers {
        server.stop().await;
    }
}

/// A server in a registry of its own.
struct Ours {
    server: Arc<McpServer>,
    toolset: Toolset,
    _connected: Connection,
}

impl Ours {
    /// Comes back when its tools are in the registry.
    async fn start(tools: usize, tool_ids: Arc<dyn ToolIdStore>) -> Self {
        let (command, args) = echo::command(tools);
        let server = McpServer::new(settings(&command, &args, Arc::new(Semaphore::new(1))));
        until_ready(&server, Duration::from_secs(30)).await;
        let registry = Registry::new(
            tool_ids,
            Arc::new(MemoryOutputStore::default()),
            CallLimits::default(),
        );
        let connected = registry.connect(server.clone()).await;
        Self {
            toolset: registry.toolset(ToolAccess::all(&ada(), Caller::Person)),
            _connected: connected.expect("the source connects"),
            server,
        }
    }
}

fn settings(command: &str, args: &[String], starts: Arc<Semaphore>) -> McpSettings {
    let transport = McpTransport::Stdio {
        command: command.to_owned(),
        args: args.to_vec(),
        env: Default::default(),
        cwd: None,
    };
    McpSettings {
        info: SourceInfo {
            id: SourceId::new("echo"),
            kind: SourceKind::Mcp,
            name: "echo".into(),
            title: "Echo".into(),
            owner: None,
        },
        config: McpConfig {
            transport,
            timeout_ms: None,
            tool_timeouts_ms: Default::default(),
            sleep_after_ms: None,
            start_timeout_ms: None,
            exclusive: false,
            client: None,
        },
        fill: Arc::new(LiteralConfig),
        tokens: None,
        network: Network::Anywhere,
        known: Vec::new(),
        start: StartMode::Now,
        starts,
        viewers: tokio::sync::watch::channel(0).1,
    }
}

async fn until_ready(server: &McpServer, longest: Duration) {
    let mut changes = server.changes();
    let ready = async {
        while server.status().state != SourceState::Ready {
            changes.changed().await.expect("the server is still there");
        }
    };
    let ready = tokio::time::timeout(longest, ready).await;
    ready.expect("it starts in time");
}

async fn our_call(toolset: Toolset, number: u32) {
    let call = ToolCall {
        id: CallId::new("c"),
        tool_id: ToolId::new("mcp_echo_echo_0"),
        input: json!({"text": number.to_string()}),
    };
    let context = CallContext {
        call_id: call.id.clone(),
        origin: CallOrigin::default(),
        user: ada(),
        workspace: None,
        cancel: CancellationToken::new(),
        client: Arc::new(NoClient),
        timer: CallTimer::default(),
    };
    let output = toolset.call(&call, &context).await.expect("an echo");
    assert_eq!(output.to_text(), number.to_string());
}

/// rmcp's own client, with nothing of ours around it, and the process it talks to.
async fn bare_client() -> (RunningService<RoleClient, ()>, tokio::process::Child) {
    let (program, arguments) = echo::command(1);
    official_client(&program, &arguments).await
}

async fn official_client(
    program: &str,
    arguments: &[String],
) -> (RunningService<RoleClient, ()>, tokio::process::Child) {
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the bench starts once more");
    let output = child.stdout.take().expect("it is piped");
    let input = child.stdin.take().expect("it is piped");
    let client = ().serve((output, input)).await.expect("it greets back");
    (client, child)
}

async fn bare_call(client: Peer<RoleClient>, number: u32) {
    let arguments = json!({"text": number.to_string()});
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new("echo_0").with_arguments(arguments);
    let answer = client.call_tool_once(params).await.expect("an echo");
    let CallToolResponse::Complete(result) = answer else {
        panic!("an echo asks for nothing");
    };
    let said = result.content[0].as_text().expect("an echo is text");
    assert_eq!(said.text, number.to_string());
}

async fn median(mut round: impl AsyncFnMut() -> Round) -> Round {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        rounds.push(round().await);
    }
    middle(rounds)
}

fn ada() -> UserId {
    UserId::new("ada")
}

/// A tool id store as the server keeps it.
struct StoredToolIds(Store);

#[async_trait]
impl ToolIdStore for StoredToolIds {
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error> {
        let ids = self.0.tool_ids(source, names).await;
        ids.map_err(|error| Error(Box::new(error)))
    }
}
