//! Servers at an address: who gets in, where we go, and what is wrong in one sentence.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tenon_domain::{ErrorKind, McpTransport, SourceState};
use tenon_sources::mcp::{McpSettings, TokenProvider};
use tenon_sources::{Network, SupervisedServer};

use super::harness::{self, McpHarness, http, settings, sse};
use super::raw_http_server::{Answer, RawHttpServer, Request, stateless, whole};

/// Why it does not come up.
async fn failure(settings: McpSettings) -> String {
    let mut harness = McpHarness::starting(settings).await;
    harness.settle().await;
    match harness.server.status().state {
        SourceState::Failed { why } => why.message,
        other => panic!("{other:?}"),
    }
}

fn with_header(url: &str, name: &str, value: &str) -> McpSettings {
    let mut config = http(url);
    if let McpTransport::Http { headers, .. } = &mut config.transport {
        headers.insert(name.into(), value.into());
    }
    settings(config)
}

/// Whether the request may pass as whoever has the key.
fn passes(request: &Request) -> bool {
    request
        .headers
        .get("authorization")
        .is_some_and(|key| key == "Bearer good")
}

fn asks_who(request: &Request) -> Answer {
    match passes(request) {
        true => stateless(request),
        false => {
            let challenge = "www-authenticate: Bearer resource_metadata=\"https://x/y\"\r\n";
            Answer::Whole(401, challenge.into(), String::new())
        }
    }
}

/// Has an old token, and another one for whoever was refused with it.
#[derive(Default)]
struct FakeTokenProvider {
    refused: Mutex<Vec<String>>,
}

#[async_trait]
impl TokenProvider for FakeTokenProvider {
    async fn access_token(&self) -> Option<String> {
        let refused = self.refused.lock().unwrap();
        Some(if refused.is_empty() { "stale" } else { "good" }.into())
    }

    async fn replace_token(&self, refused: &str) -> Option<String> {
        self.refused.lock().unwrap().push(refused.into());
        Some("good".into())
    }
}

#[tokio::test]
async fn a_server_that_asks_who_comes_is_shown_as_that() {
    let raw_http_server = RawHttpServer::start(asks_who).await;
    let mut harness = McpHarness::starting(settings(http(&raw_http_server.url("/mcp")))).await;
    harness.settle().await;
    let challenge = harness.server.status().asks_login.unwrap();
    assert_eq!(
        challenge.as_deref(),
        Some("Bearer resource_metadata=\"https://x/y\"")
    );
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once_and_used_from_then_on() {
    let raw_http_server = RawHttpServer::start(asks_who).await;
    let token_provider = Arc::new(FakeTokenProvider::default());
    let mut settings = settings(http(&raw_http_server.url("/mcp")));
    settings.tokens = Some(token_provider.clone());
    let harness = McpHarness::ready(settings).await;
    assert_eq!(harness.text("echo", json!({})).await, "here");
    assert_eq!(*token_provider.refused.lock().unwrap(), ["stale"]);
    let (first, rest) = raw_http_server
        .seen()
        .split_first()
        .map(|(a, b)| (a.clone(), b.to_vec()))
        .unwrap();
    assert!(!passes(&first));
    assert!(rest.iter().all(passes));
}

#[tokio::test]
async fn every_request_says_what_it_is_in_its_headers() {
    let raw_http_server = RawHttpServer::start(stateless).await;
    let harness = McpHarness::ready(with_header(
        &raw_http_server.url("/mcp"),
        "X-Api-Key",
        "secret",
    ))
    .await;
    harness.text("echo", json!({})).await;
    let seen = raw_http_server.seen();
    let call = seen
        .iter()
        .find(|request| request.body["method"] == "tools/call")
        .unwrap();
    let expected = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
        ("x-api-key", "secret"),
    ];
    for (name, value) in expected {
        assert_eq!(
            call.headers.get(name).map(String::as_str),
            Some(value),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_stream() {
    let raw_http_server = RawHttpServer::start(|request| match request.body["method"].as_str() {
        Some("tools/call") => Answer::Open(": working\n\n".into()),
        _ => stateless(request),
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let call = harness.call("echo", json!({}));
    let dropped = tokio::time::timeout(Duration::from_millis(300), call).await;
    assert!(dropped.is_err());
    let closed = async {
        while *raw_http_server.closed.lock().unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), closed)
        .await
        .unwrap();
    let cancelled = |request: &Request| request.body["method"] == "notifications/cancelled";
    assert!(!raw_http_server.seen().iter().any(cancelled));
}

#[tokio::test]
async fn two_hundred_calls_at_once_do_not_wait_for_each_other() {
    let raw_http_server = RawHttpServer::start(stateless).await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let calls = (0..200).map(|_| harness.text("echo", json!({})));
    let answers = futures::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| answer == "here"));
}

#[tokio::test]
async fn a_log_in_that_ends_during_a_call_is_told() {
    let open = Arc::new(AtomicBool::new(true));
    let is_open = open.clone();
    let raw_http_server =
        RawHttpServer::start(move |request| match is_open.load(Ordering::Relaxed) {
            true => stateless(request),
            false => whole(401, "text/plain", ""),
        })
        .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    open.store(false, Ordering::Relaxed);
    let error = harness.error("echo", json!({})).await;
    assert!(error.to_lowercase().contains("log in"), "{error}");
}

#[tokio::test]
async fn a_redirect_to_another_site_is_told_and_not_followed() {
    let there = RawHttpServer::start(stateless).await;
    let target = there.url("/mcp");
    let here = RawHttpServer::start(move |_| {
        Answer::Whole(307, format!("location: {target}\r\n"), String::new())
    })
    .await;
    let expected = format!(
        "127.0.0.1 gave no usable answer: it redirects to {}, which is another site. If that is \
         the server, enter that address.",
        there.url("/mcp")
    );
    let with_key = with_header(&here.url("/mcp"), "X-Api-Key", "secret");
    for settings in [with_key, settings(http(&here.url("/mcp")))] {
        assert_eq!(failure(settings).await, expected);
    }
    assert!(there.seen().is_empty());
}

#[tokio::test]
async fn somebody_elses_server_must_be_on_the_internet() {
    let raw_http_server = RawHttpServer::start(stateless).await;
    let port = raw_http_server.address.port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"] {
        let mut settings = settings(http(&format!("http://{host}:{port}/mcp")));
        settings.network = Network::PublicOnly;
        let why = failure(settings).await;
        let expected = "is on a private network or on this machine. Only an administrator can add a server there.";
        assert!(why.ends_with(expected), "{why}");
    }
    assert!(raw_http_server.seen().is_empty());
}

#[tokio::test]
async fn a_legacy_server_must_be_spoken_to_where_it_is() {
    let raw_http_server = RawHttpServer::start(|_| {
        Answer::Open("event: endpoint\ndata: http://127.0.0.1:1/steal\n\n".into())
    })
    .await;
    let why = failure(settings(sse(&raw_http_server.url("/sse")))).await;
    assert_eq!(
        why,
        "The server wants to be spoken to at http://127.0.0.1:1, which is not where it is. That is refused."
    );
}

#[tokio::test]
async fn what_is_wrong_is_said_in_one_sentence() {
    for (status, content_type, body, expected) in [
        (
            200,
            "text/html",
            "<html>",
            "There is a web page at this address, not an MCP server.",
        ),
        (
            404,
            "text/plain",
            "",
            "There is no MCP server at this address (HTTP 404). Check the path: many are at /mcp or /sse.",
        ),
        (
            500,
            "text/plain",
            "oops",
            "The server failed (HTTP 500). Its own log says why. It said: oops",
        ),
        (
            403,
            "text/html",
            "<p>no",
            "The server denied access (HTTP 403). Check the credentials in its headers.",
        ),
    ] {
        let raw_http_server =
            RawHttpServer::start(move |_| whole(status, content_type, body)).await;
        let why = failure(settings(http(&raw_http_server.url("/mcp")))).await;
        assert_eq!(why, expected);
    }
    for (url, expected) in [
        (
            "http://127.0.0.1:1/mcp",
            "127.0.0.1 refuses connections at port 1.",
        ),
        (
            "http://no-such-host.invalid/mcp",
            "There is no host named no-such-host.invalid, or it has no address.",
        ),
        (
            // It may be one with a secret filled in.
            "sk-1.example/mcp",
            "The address is not a URL: http:// or https:// is missing. Write the whole address, such as https://example.com/.",
        ),
    ] {
        assert_eq!(failure(settings(http(url))).await, expected);
    }
    let raw_http_server = RawHttpServer::start(stateless).await;
    let secure = raw_http_server.url("/mcp").replace("http:", "https:");
    let why = failure(settings(http(&secure))).await;
    assert!(
        why.starts_with("No secure connection to 127.0.0.1 could be made"),
        "{why}"
    );
    let why = failure(with_header(&raw_http_server.url("/mcp"), "bad name", "x")).await;
    assert_eq!(
        why,
        "`bad name` cannot be the name of a header. Write letters, digits and dashes."
    );
    let why = failure(with_header(
        &raw_http_server.url("/mcp"),
        "Mcp-Session-Id",
        "x",
    ))
    .await;
    assert_eq!(
        why,
        "The header Mcp-Session-Id is set by Tenon itself. Leave it out."
    );
}

#[tokio::test]
async fn a_server_that_is_busy_is_unavailable_and_not_gone() {
    let raw_http_server = RawHttpServer::start(|request| match request.body["method"].as_str() {
        Some("tools/call") => whole(503, "text/plain", "busy"),
        _ => stateless(request),
    })
    .await;
    let harness = McpHarness::ready(harness::settings(http(&raw_http_server.url("/mcp")))).await;
    let error = harness.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
}
