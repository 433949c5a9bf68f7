//! `make bench`: `tenon bridge` beside mcpo, and its MCP endpoint beside other gateways. The same
//! echo server is behind all of them, and all are measured in the same run. A name runs one part
//! alone: `-- calls`, `tools`, `faults`, `mcp`, or `hub` for Tenon's own MCP endpoints without the
//! others.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/echo.rs"]
#[expect(dead_code, reason = "nothing is written by hand here")]
mod echo;
#[path = "shared/gateways.rs"]
mod gateways;
#[path = "shared/http_client.rs"]
mod http_client;
#[path = "shared/process.rs"]
#[expect(dead_code, reason = "there is no database here")]
mod process;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateways::{Gateway, GatewayAddress};
use http_client::HttpClient;
use serde_json::json;

const CONNECTIONS: [u32; 3] = [1, 32, 256];

/// How often each of those that are measured together is loaded, in turn, and for how long.
const ROUNDS: usize = 4;
const WINDOW: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 1000 });

/// A pooled memory is released after some seconds.
const RELEASED_AFTER: Duration = Duration::from_secs(8);

/// Whoever takes longer does not start at all.
const MAX_START: Duration = Duration::from_secs(30);

/// mcpo takes minutes to list this many, so it is measured with fewer.
const MANY_TOOLS: usize = 10_000;
const MCPO_TOOLS: usize = 1_000;

fn main() {
    echo::serve_if_asked();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        // cargo adds `--bench`.
        let part = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
        match part.as_deref() {
            None => {
                calls(folder).await;
                many_tools(folder).await;
                faults(folder).await;
                mcp(folder, true).await;
            }
            Some("calls") => calls(folder).await,
            Some("tools") => many_tools(folder).await,
            Some("faults") => faults(folder).await,
            Some("mcp") => mcp(folder, true).await,
            Some("hub") => mcp(folder, false).await,
            Some(other) => panic!("there is no part `{other}`"),
        }
    });
}

/// What one gateway reaches.
#[derive(Clone, Copy, Default)]
struct Figures {
    calls_per_second: [f64; CONNECTIONS.len()],
    /// At 32 connections.
    cpu_per_call: Duration,
    /// In MB.
    idle: f64,
    loaded: f64,
    cold_start: Duration,
}

/// Calls over OpenAPI.
async fn calls(folder: &Path) {
    let alone = started_alone().await;
    println!("calls over OpenAPI, the child's own start is {alone:.1?}:");
    let [mcpo] = measure([&Gateway::mcpo(folder, 1)], &rest_client).await;
    let [ours] = measure([&Gateway::bridge(folder, 1)], &rest_client).await;
    for (number, (connections, target)) in CONNECTIONS.iter().zip([12.0, 40.0, 40.0]).enumerate() {
        let (theirs, reached) = (mcpo.calls_per_second[number], ours.calls_per_second[number]);
        println!(
            "  {connections:>3} connections: {theirs:>6.0} calls/s mcpo, {reached:>6.0} ours: {:.0} times (target: {target:.0})",
            reached / theirs
        );
    }
    println!(
        "  CPU a call: {:.2?} mcpo, {:.1?} ours (target: 50 µs)",
        mcpo.cpu_per_call, ours.cpu_per_call
    );
    println!(
        "  start to first answer: {:.2?} mcpo, {:.0?} ours (target: 150 ms over the child's)",
        mcpo.cold_start, ours.cold_start
    );
    println!(
        "  resident idle/after the load: {:.0}/{:.0} MB mcpo, {:.1}/{:.1} MB ours (target: 12/30)",
        mcpo.idle, mcpo.loaded, ours.idle, ours.loaded
    );
}

/// Many tools: until the document is there, and whether the last tool is called as fast as the
/// first.
async fn many_tools(folder: &Path) {
    for (tools, gateway) in [
        (MCPO_TOOLS, Gateway::mcpo as fn(&Path, usize) -> Gateway),
        (MANY_TOOLS, Gateway::bridge),
    ] {
        let gateway = gateway(folder, tools);
        let address = &gateway.at.address;
        let document = get("/echo/openapi.json");
        until_answered(address, &document).await;
        let ready = gateway.started.elapsed();
        let mut client = HttpClient::connect(address).await;
        let again = Instant::now();
        client.call(&document).await;
        let again = again.elapsed();
        let first = median(&mut client, &post("/echo/echo_0", ARGUMENTS, "")).await;
        let path = format!("/echo/echo_{}", tools - 1);
        let last = median(&mut client, &post(&path, ARGUMENTS, "")).await;
        println!(
            "{tools} tools, {}: document after {ready:.2?} (target: 1 s), again in {again:.1?}; first tool {first:.1?}, last {last:.1?}",
            gateway.name
        );
    }
}

/// A child that is killed, and a tool that never answers.
async fn faults(folder: &Path) {
    let ours = Gateway::bridge(folder, 1);
    let address = &ours.at.address;
    let call = post("/echo/echo_0", ARGUMENTS, "");
    until_answered(address, &call).await;
    kill_children(ours.used.0);
    let killed = Instant::now();
    until_answered(address, &call).await;
    println!(
        "child killed: back after {:.0?} (target: 1 s)",
        killed.elapsed()
    );
    let arguments = json!({ "text": echo::STUCK }).to_string();
    let stuck = post("/echo/echo_0", &arguments, "");
    let began = Instant::now();
    let stuck_at = address.clone();
    let waiting =
        tokio::spawn(async move { HttpClient::connect(&stuck_at).await.call(&stuck).await });
    let mut client = HttpClient::connect(address).await;
    let others = median(&mut client, &call).await;
    let status = waiting.await.expect("it is answered");
    println!(
        "stuck tool: status {status:?} after {:.2?} (its deadline is 2 s), other calls meanwhile {others:.1?}",
        began.elapsed()
    );
}

/// Calls over MCP, beside other gateways or by ourselves.
async fn mcp(folder: &Path, with_others: bool) {
    println!("calls over MCP (Streamable HTTP, one session for each connection):");
    // In turn, because the machine is not as fast now as it is a minute later.
    let ours = [&Gateway::bridge_mcp(folder), &Gateway::hub(folder)];
    let mut fastest = [0.0_f64; CONNECTIONS.len()];
    let [bridge, hub] = if with_others {
        let others = [
            &Gateway::mcpway(),
            &Gateway::mcp_proxy(folder),
            &Gateway::fastmcp(),
        ];
        let [mcpway, mcp_proxy, fastmcp] = others;
        let all = [mcpway, mcp_proxy, fastmcp, ours[0], ours[1]];
        let [first, second, third, bridge, hub] = measure(all, &mcp_client).await;
        for (gateway, figures) in others.into_iter().zip([first, second, third]) {
            print_mcp(gateway, &figures);
            for (fastest, reached) in fastest.iter_mut().zip(figures.calls_per_second) {
                *fastest = fastest.max(reached);
            }
        }
        [bridge, hub]
    } else {
        measure(ours, &mcp_client).await
    };
    print_mcp(ours[0], &bridge);
    print_mcp(ours[1], &hub);
    for (number, connections) in CONNECTIONS.into_iter().enumerate() {
        let (bridge, hub) = (
            bridge.calls_per_second[number],
            hub.calls_per_second[number],
        );
        if with_others {
            println!(
                "  {connections:>3} connections: the bridge is {:.2} times the fastest of the others (target: above 1)",
                bridge / fastest[number]
            );
        }
        println!(
            "  {connections:>3} connections: `tenon serve` reaches {:.2} of the bridge (target: 0.67)",
            hub / bridge
        );
    }
}

fn print_mcp(gateway: &Gateway, figures: &Figures) {
    let [one, some, many] = figures.calls_per_second;
    println!(
        "  {:<20} {one:>7.0} / {some:>7.0} / {many:>7.0} calls/s, {:>8.1?} of CPU a call, {:.0}/{:.0} MB",
        gateway.name, figures.cpu_per_call, figures.idle, figures.loaded
    );
}

const ARGUMENTS: &str = r#"{"text":"somebody or something"}"#;

/// A connection, and the request it repeats.
type Client = (HttpClient, Arc<[u8]>);

async fn rest_client(gateway: Arc<GatewayAddress>) -> Client {
    let client = HttpClient::connect(&gateway.address).await;
    (client, post(gateway.path, ARGUMENTS, ""))
}

async fn mcp_client(gateway: Arc<GatewayAddress>) -> Client {
    let accept = "accept: application/json, text/event-stream\r\n";
    let common = format!("{accept}{}", gateway.headers);
    let mut client = HttpClient::connect(&gateway.address).await;
    // A number would do for all but mcpway, which never answers it within a session.
    let initialize = json!({
        "jsonrpc": "2.0", "id": "initialize", "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        },
    });
    let request = post(gateway.path, &initialize.to_string(), &common);
    let (status, answer) = client.exchange(&request).await.expect("an answer");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(answer));
    let head = String::from_utf8_lossy(answer).into_owned();
    let session = head
        .lines()
        .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
    let session = session
        .map(|line| format!("{line}\r\n"))
        .unwrap_or_default();
    let headers = format!("{common}mcp-protocol-version: 2025-11-25\r\n{session}");
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    client.call(&post(gateway.path, ready, &headers)).await;
    let arguments: serde_json::Value = serde_json::from_str(ARGUMENTS).expect("JSON");
    let params = json!({ "name": gateway.tool, "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params });
    (client, post(gateway.path, &call.to_string(), &headers))
}

/// Those that are given together are loaded in turn, so that whatever else the machine does meets all
/// of them. All but the first have had time to start before they are asked.
async fn measure<const N: usize, C, F>(gateways: [&Gateway; N], connect: &C) -> [Figures; N]
where
    C: Fn(Arc<GatewayAddress>) -> F,
    F: Future<Output = Client> + Send + 'static,
{
    let mut all = [Figures::default(); N];
    for (gateway, figures) in gateways.into_iter().zip(&mut all) {
        until_called(gateway, connect).await;
        figures.cold_start = gateway.started.elapsed();
    }
    tokio::time::sleep(RELEASED_AFTER).await;
    for (gateway, figures) in gateways.into_iter().zip(&mut all) {
        figures.idle = gateway.resident();
    }
    for (number, connections) in CONNECTIONS.into_iter().enumerate() {
        let mut clients: [Vec<Client>; N] = std::array::from_fn(|_| Vec::new());
        for (gateway, clients) in gateways.into_iter().zip(&mut clients) {
            let at = Arc::new(gateway.at.clone());
            for _ in 0..connections {
                clients.push(connect(at.clone()).await);
            }
        }
        let mut loads = [Load::default(); N];
        for _ in 0..ROUNDS {
            let turns = gateways.into_iter().zip(&mut clients).zip(&mut loads);
            for ((gateway, clients), load) in turns {
                load.add(gateway, clients).await;
            }
        }
        for (load, figures) in loads.iter().zip(&mut all) {
            figures.calls_per_second[number] = f64::from(load.calls) / load.took.as_secs_f64();
            if connections == 32 {
                figures.cpu_per_call = load.on_processor / load.calls;
            }
        }
    }
    tokio::time::sleep(RELEASED_AFTER).await;
    for (gateway, figures) in gateways.into_iter().zip(&mut all) {
        figures.loaded = gateway.resident();
    }
    all
}

/// The first call that is answered. Before it is ready a gateway answers, but not that.
async fn until_called<C, F>(gateway: &Gateway, connect: &C)
where
    C: Fn(Arc<GatewayAddress>) -> F,
    F: Future<Output = Client> + Send + 'static,
{
    let at = Arc::new(gateway.at.clone());
    until_listening(&at.address).await;
    loop {
        let (mut client, request) = connect(at.clone()).await;
        let status = client.call(&request).await;
        if status == Some(200) {
            return;
        }
        let is_late = gateway.started.elapsed() > MAX_START;
        assert!(!is_late, "{}: {status:?}", gateway.name);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The calls that a gateway answered, and what they took.
#[derive(Clone, Copy, Default)]
struct Load {
    calls: u32,
    took: Duration,
    on_processor: Duration,
}

impl Load {
    /// One more turn: all clients at once, each with one call after another.
    async fn add(&mut self, gateway: &Gateway, clients: &mut Vec<Client>) {
        let (before, began) = (gateway.used.on_processor(), Instant::now());
        let running = clients.drain(..).map(|(mut client, request)| {
            tokio::spawn(async move {
                let mut calls = 0_u32;
                while began.elapsed() < WINDOW {
                    let (status, answer) = client.exchange(&request).await.expect("an answer");
                    assert_eq!(status, 200);
                    let said = answer.windows(8).any(|some| some == b"somebody");
                    assert!(said, "{}", String::from_utf8_lossy(answer));
                    calls += 1;
                }
                (calls, (client, request))
            })
        });
        let running: Vec<_> = running.collect();
        for client in running {
            let (calls, client) = client.await.expect("every call is answered");
            self.calls += calls;
            clients.push(client);
        }
        self.took += began.elapsed();
        self.on_processor += gateway.used.on_processor() - before;
    }
}

/// How long the echo server itself takes until its first answer.
async fn started_alone() -> Duration {
    let began = Instant::now();
    tokio::task::spawn_blocking(|| echo::ByHand::start(1).calls(0..1))
        .await
        .expect("it answers");
    began.elapsed()
}

/// The time of one call.
async fn median(client: &mut HttpClient, request: &[u8]) -> Duration {
    let mut times = Vec::new();
    for _ in 0..101 {
        let began = Instant::now();
        assert_eq!(client.call(request).await, Some(200));
        times.push(began.elapsed());
    }
    times.sort();
    times[50]
}

fn post(path: &str, body: &str, headers: &str) -> Arc<[u8]> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    head.into_bytes().into()
}

fn get(path: &str) -> Arc<[u8]> {
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    head.into_bytes().into()
}

async fn until_listening(address: &str) {
    let listening = async {
        while tokio::net::TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let listening = tokio::time::timeout(Duration::from_secs(300), listening).await;
    listening.expect("it listens in time");
}

async fn until_answered(address: &str, request: &[u8]) {
    until_listening(address).await;
    let answered = async {
        while HttpClient::connect(address).await.call(request).await != Some(200) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let answered = tokio::time::timeout(Duration::from_secs(300), answered).await;
    answered.expect("it answers in time");
}

/// The processes that a process has started.
fn kill_children(parent: u32) {
    let children = format!("/proc/{parent}/task");
    let threads = std::fs::read_dir(children).into_iter().flatten().flatten();
    for thread in threads {
        let children = std::fs::read_to_string(thread.path().join("children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let killed = std::process::Command::new("kill")
                .args(["-9", child])
                .status();
            assert!(killed.is_ok_and(|status| status.success()));
        }
    }
}
