//! Servers that want more than their share of memory, connections or attention.

use std::time::Duration;

use serde_json::{Value, json};
use tenon_domain::SourceState;
use tenon_sources::SupervisedServer;

use super::harness::{McpHarness, http, settings};
use super::raw_http_server::{Answer, RawHttpServer, Request, shaking, stateless, whole};
use super::recording_client::RecordingClient;

/// More pings than anybody answers, on one stream.
fn pings() -> String {
    let ping = |id| {
        format!(
            "data: {}\n\n",
            json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
        )
    };
    (0..5000).map(ping).collect()
}

fn is_reply(request: &Request) -> bool {
    request.body.get("result").is_some()
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(5), waiting).await;
    assert!(waited.is_ok(), "{what}");
}

/// One answer to all the pings is on its way, and it ends with the connection.
async fn costs_one_connection(raw_http_server: &RawHttpServer, harness: McpHarness) {
    let replies = || {
        raw_http_server
            .seen()
            .iter()
            .filter(|request| is_reply(request))
            .count()
    };
    let note = "It asks more than it takes answers to. Some of them are not sent.";
    let notes = || {
        let lines = harness.server.logs().lines();
        lines.iter().filter(|line| line.text == note).count()
    };
    until("a ping is answered", || replies() > 0).await;
    until("the rest is not", || notes() > 0).await;
    assert_eq!((replies(), notes()), (1, 1));
    let open = *raw_http_server.closed.lock().unwrap();
    harness.server.stop().await;
    // The stream itself and the one answer.
    until("nothing is left", || {
        *raw_http_server.closed.lock().unwrap() >= open + 2
    })
    .await;
}

#[tokio::test]
async fn pings_without_end_cost_one_connection() {
    let raw_http_server = RawHttpServer::start(|request| match request {
        request if request.body.is_null() => Answer::Open(pings()),
        request if is_reply(request) => Answer::Silence,
        request => shaking(request),
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    costs_one_connection(&raw_http_server, harness).await;
}

#[tokio::test]
async fn a_stream_that_ends_at_once_is_not_taken_up_in_a_hot_loop() {
    let raw_http_server = RawHttpServer::start(|request| match request.body["method"].as_str() {
        None | Some("tools/call") => whole(200, "text/event-stream", "id: 1\nretry: 0\ndata: \n\n"),
        _ => stateless(request),
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let call = harness.call("echo", json!({}));
    let ended = tokio::time::timeout(Duration::from_millis(1200), call).await;
    assert!(ended.is_err());
    let seen = raw_http_server.seen();
    let resumed = seen.iter().filter(|request| request.body.is_null()).count();
    assert!((1..=2).contains(&resumed), "{resumed}");
}

#[tokio::test]
async fn more_forms_at_once_than_anybody_fills_in_are_refused() {
    let raw_http_server = RawHttpServer::start(|request| match request.body["method"].as_str() {
        Some("tools/call") => {
            let form = json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": { "type": "object" } } });
            let forms: serde_json::Map<String, Value> =
                (0..9).map(|n| (n.to_string(), form.clone())).collect();
            let result = json!({ "resultType": "input_required", "inputRequests": forms });
            let body = json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": result });
            whole(200, "application/json", &body.to_string())
        }
        _ => stateless(request),
    })
    .await;
    let harness = McpHarness::http(&raw_http_server.url("/mcp")).await;
    let person = RecordingClient::accepting(json!({}));
    let error = harness
        .call_as(&person.context(), "echo", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "The tool asks more than 8 things at once, which nobody would answer."
    );
    assert_eq!(person.questions(), Vec::<String>::new());
}

#[tokio::test]
async fn a_refusal_of_eight_megabytes_is_told_in_a_line() {
    let raw_http_server = RawHttpServer::start(|request| {
        let words = "\u{1b}[31m\u{202e}no ".repeat(1_000_000);
        let error = json!({ "code": -32000, "message": words });
        let body = json!({ "jsonrpc": "2.0", "id": request.body["id"], "error": error });
        whole(200, "application/json", &body.to_string())
    })
    .await;
    let mut harness = McpHarness::starting(settings(http(&raw_http_server.url("/mcp")))).await;
    harness.settle().await;
    let SourceState::Failed { why } = harness.server.status().state else {
        panic!("{:?}", harness.server.status().state);
    };
    assert!(
        why.message
            .starts_with("The server refused. It said: [31mno [31mno"),
        "{why}"
    );
    assert!(why.message.chars().count() < 400, "{why}");
}
