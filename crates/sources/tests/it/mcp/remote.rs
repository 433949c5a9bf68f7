//! A server at an address: what it refuses and what it leaves unanswered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use serde_json::{Value, json};
use tenon_domain::{ErrorKind, SourceState};
use tenon_sources::SupervisedServer;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::bad_server::{nothing, until, until_failed, until_ready};
use super::harness::{McpHarness, http, settings};

#[tokio::test]
async fn one_that_asks_for_a_log_in_says_so_until_somebody_has_logged_in() {
    let flaky_server = FlakyMcpServer::start().await;
    flaky_server.set(ServerMode::AsksLogin);
    let harness = McpHarness::starting(settings(http(&flaky_server.url))).await;
    until_failed(&harness).await;
    let status = harness.server.status();
    let challenge = status.asks_login.flatten().unwrap();
    assert!(challenge.contains("resource_metadata"), "{challenge}");

    flaky_server.set(ServerMode::Good);
    harness.server.restart();
    let status = until_ready(&harness).await;
    assert_eq!(status.asks_login, None);
    assert_eq!(harness.text("read", nothing()).await, "done");

    // A token can end in the middle of everything.
    flaky_server.set(ServerMode::AsksLogin);
    let error = harness.call("read", nothing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.message.contains("has to log in"), "{error}");
    let status = until(&harness, |status| status.asks_login.is_some()).await;
    assert!(matches!(status.state, SourceState::Failed { .. }));
    assert_eq!(harness.server.status().tools, 2);
}

#[tokio::test]
async fn a_call_without_an_answer_is_repeated_only_without_harm_and_the_server_stays() {
    let flaky_server = FlakyMcpServer::start().await;
    let harness = McpHarness::starting(settings(http(&flaky_server.url))).await;
    until_ready(&harness).await;
    flaky_server.set(ServerMode::DropsCalls);
    for (tool, trusted, times) in [("read", true, 2), ("read", false, 1), ("write", true, 1)] {
        harness.server.set_trusted_hints(trusted);
        let before = flaky_server.calls.load(Ordering::SeqCst);
        let error = harness.call(tool, nothing()).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert!(error.message.contains("not known"), "{error}");
        assert_eq!(
            flaky_server.calls.load(Ordering::SeqCst) - before,
            times,
            "{tool}"
        );
    }
    flaky_server.set(ServerMode::Good);
    assert_eq!(harness.text("write", nothing()).await, "done");
    assert_eq!(until_ready(&harness).await.restarts, 0);
}

#[tokio::test]
async fn one_that_went_away_is_degraded_and_noticed_when_it_is_back() {
    let flaky_server = FlakyMcpServer::start().await;
    let harness = McpHarness::starting(settings(http(&flaky_server.url))).await;
    until_ready(&harness).await;
    flaky_server.set(ServerMode::DropsAll);
    harness.error("write", nothing()).await;
    let status = until(&harness, |status| status.state != SourceState::Ready).await;
    assert_eq!(status.tools, 2);
    flaky_server.set(ServerMode::Good);
    until_ready(&harness).await;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerMode {
    Good,
    AsksLogin,
    /// Hangs up when a tool is called.
    DropsCalls,
    DropsAll,
}

/// As much of HTTP and MCP as one client needs.
struct FlakyMcpServer {
    url: String,
    mode: Arc<AtomicU8>,
    calls: Arc<AtomicUsize>,
}

impl FlakyMcpServer {
    async fn start() -> Self {
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (mode, calls) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicUsize::new(0)));
        let flaky_server = Self {
            url,
            mode: mode.clone(),
            calls: calls.clone(),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, mode.clone(), calls.clone()));
            }
        });
        flaky_server
    }

    fn set(&self, mode: ServerMode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }
}

async fn serve(stream: TcpStream, mode: Arc<AtomicU8>, calls: Arc<AtomicUsize>) {
    let mut stream = BufReader::new(stream);
    while let Some((is_post, message)) = read(&mut stream).await {
        let is = |other: ServerMode| mode.load(Ordering::SeqCst) == other as u8;
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        if method == "tools/call" {
            calls.fetch_add(1, Ordering::SeqCst);
        }
        if is(ServerMode::DropsAll) || is(ServerMode::DropsCalls) && method == "tools/call" {
            return;
        }
        let (status, body) = match (is_post, message.get("id")) {
            _ if is(ServerMode::AsksLogin) => (
                "401 Unauthorized\r\nwww-authenticate: Bearer resource_metadata=\"http://127.0.0.1/meta\"",
                String::new(),
            ),
            (false, _) => ("405 Method Not Allowed", String::new()),
            (true, None) => ("202 Accepted", String::new()),
            (true, Some(id)) => (
                "200 OK\r\ncontent-type: application/json",
                answer(id, &method).to_string(),
            ),
        };
        let length = body.len();
        let response = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}");
        if stream.write_all(response.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Whether it is a POST, and what it says.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<(bool, Value)> {
    let (mut first, mut length) = (String::new(), 0);
    stream.read_line(&mut first).await.ok()?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let message = serde_json::from_slice(&body).unwrap_or_default();
    Some((first.starts_with("POST"), message))
}

fn answer(id: &Value, method: &str) -> Value {
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "site", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
            {"name": "write", "inputSchema": {"type": "object"}},
        ]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "done"}]}),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
