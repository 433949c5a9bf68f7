//! A server at an address that is restarted, changed or gone is noticed, whether
//! anybody calls it or not.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tenon_domain::{ErrorKind, SourceState};
use tenon_sources::mcp::{McpSettings, ServerTimeouts};
use tokio::time::Instant;

use super::bad_server::{until, until_failed, until_ready};
use super::harness::{McpHarness, http, settings, sse};
use super::peers::{Listening, fast};
use super::raw_http_server::{Answer, RawHttpServer, Request, shaking, whole};

/// Looks often, because a test does not wait for minutes.
fn impatient() -> ServerTimeouts {
    ServerTimeouts {
        watched_poll: Duration::from_millis(300),
        ..ServerTimeouts::default()
    }
}

/// One page is open.
fn viewed(mut settings: McpSettings) -> McpSettings {
    settings.viewers = tokio::sync::watch::channel(1).1;
    settings
}

/// FastMCP with more tools each time it is started.
fn growing(transport: &'static str) -> Listening {
    let ((python, script), starts): ((PathBuf, String), _) = (fast(), AtomicUsize::new(0));
    Listening::start(move |port| {
        let more = starts.fetch_add(1, Ordering::SeqCst);
        let mut command = Command::new(&python);
        command
            .args([&script, transport, &port.to_string()])
            .env("MORE_TOOLS", more.to_string());
        command
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_that_nobody_announced_is_noticed_with_what_is_new() {
    for transport in ["http", "sse"] {
        let mut server = growing(transport);
        let config = match transport {
            "http" => http(&format!("{}/mcp/", server.address)),
            _ => sse(&format!("{}/sse", server.address)),
        };
        let harness = McpHarness::starting_with(viewed(settings(config)), impatient()).await;
        let before = until_ready(&harness).await.tools;
        tokio::task::block_in_place(|| server.restart());
        let status = until(&harness, |status| {
            status.state == SourceState::Ready && status.tools == before + 1
        })
        .await;
        assert!(!status.stale, "{transport}");
        assert_eq!(harness.text("add", json!({"a": 1, "b": 2})).await, "3");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_to_a_server_that_came_back_connects_at_once() {
    for transport in ["http", "sse"] {
        let mut server = growing(transport);
        let config = match transport {
            "http" => http(&format!("{}/mcp/", server.address)),
            _ => sse(&format!("{}/sse", server.address)),
        };
        let harness = McpHarness::starting(settings(config)).await;
        let restarts = until_ready(&harness).await.restarts;
        server.stop();
        if transport == "sse" {
            // What is sent over a kept-alive connection that is just ending may have arrived.
            until(&harness, |status| status.state != SourceState::Ready).await;
        }
        // Nothing arrived, and that is what is said.
        let error = harness
            .call("weather", json!({"city": "Ulm"}))
            .await
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert!(
            !error.message.contains("took effect"),
            "{transport}: {error}"
        );
        until_failed(&harness).await;
        // By now it would not be tried again by itself for seconds.
        until(&harness, |status| status.restarts >= restarts + 5).await;
        tokio::task::block_in_place(|| server.restart());
        let begun = Instant::now();
        let said = harness.text("add", json!({"a": 1, "b": 2})).await;
        assert_eq!(said, "3", "{transport}");
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_without_a_stream_is_asked_now_and_then_and_is_gone_when_it_is() {
    let tools = Arc::new(AtomicUsize::new(1));
    let (count, answer) = (tools.clone(), shaking);
    let raw_http_server = RawHttpServer::start(move |request: &Request| {
        if count.load(Ordering::SeqCst) == 0 {
            return Answer::Whole(503, String::new(), String::new());
        }
        match request.body["method"].as_str() {
            // It offers no stream to listen on.
            None => Answer::Whole(405, String::new(), String::new()),
            Some("tools/list") => {
                let tools: Vec<_> = (0..count.load(Ordering::SeqCst))
                    .map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}}))
                    .collect();
                let body =
                    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": {"tools": tools}});
                whole(200, "application/json", &body.to_string())
            }
            Some(_) => answer(request),
        }
    })
    .await;
    let config = http(&raw_http_server.url("/mcp"));
    let harness = McpHarness::starting_with(viewed(settings(config)), impatient()).await;
    assert_eq!(until_ready(&harness).await.tools, 1);
    tools.store(3, Ordering::SeqCst);
    until(&harness, |status| status.tools == 3).await;
    tools.store(0, Ordering::SeqCst);
    until(&harness, |status| status.state != SourceState::Ready).await;
    tools.store(2, Ordering::SeqCst);
    let status = until_ready(&harness).await;
    assert_eq!(status.tools, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_connection_is_told_as_what_it_is() {
    let mut server = Listening::python(fast(), "http");
    let config = http(&format!("{}/mcp/", server.address));
    let harness = McpHarness::starting(settings(config)).await;
    until_ready(&harness).await;
    server.stop();
    let error = harness
        .error("sleeps", json!({"seconds": 1, "mark": "x"}))
        .await;
    assert!(error.contains("refuses connections at port"), "{error}");
    assert!(!error.contains("took effect"), "{error}");
    let state = until_failed(&harness).await;
    assert!(state.contains("refuses connections"), "{state}");
}
