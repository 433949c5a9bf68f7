//! Sessions over Streamable HTTP.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{EventReader, TestClient, json_of, request};

#[tokio::test]
async fn a_session_has_the_version_that_was_asked_for_or_the_newest_with_a_handshake() {
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let params = json!({ "protocolVersion": asked, "capabilities": {} });
        let initialize = request(json!(1), "initialize", params);
        let (status, response) = json_of(TestClient::new().post(&initialize).await).await;
        let expected = json!({
            "protocolVersion": given,
            "capabilities": {
                "tools": { "listChanged": true },
                "resources": { "listChanged": true, "subscribe": true },
                "prompts": { "listChanged": true },
                "completions": {},
                "logging": {},
            },
            "serverInfo": { "name": "fixture", "version": "1.0.0", "title": "Fixture" },
            "instructions": "For tests.",
        });
        assert_eq!((status, &response["result"]), (StatusCode::OK, &expected));
    }
}

#[tokio::test]
async fn a_session_is_its_callers_alone_and_ends_when_they_say_so() {
    let client = TestClient::new();
    let ping = request(json!(1), "ping", json!({}));
    let status = |client: TestClient| {
        let ping = ping.clone();
        async move { client.post(&ping).await.status() }
    };
    assert_eq!(status(client.clone()).await, StatusCode::BAD_REQUEST);
    let invented = client.clone().with("mcp-session-id", "0");
    assert_eq!(status(invented).await, StatusCode::NOT_FOUND);
    let client = client.initialize("2025-11-25").await;
    assert_eq!(status(client.clone()).await, StatusCode::OK);
    let stranger = client.clone().called_by("eve");
    assert_eq!(status(stranger.clone()).await, StatusCode::NOT_FOUND);
    let refused = stranger.send(Method::DELETE, "").await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    let ended = client.send(Method::DELETE, "").await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert_eq!(status(client).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn who_comes_back_for_a_stream_that_is_over_replaces_no_other() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let mut listening = EventReader::new(client.send(Method::GET, "").await);
    let back = client.clone().with("last-event-id", "9-0");
    let over = back.send(Method::GET, "").await;
    assert_eq!(over.status(), StatusCode::NO_CONTENT);
    client.call("test_trigger_tool_change", json!({})).await;
    let heard = listening.next().await.unwrap().data;
    assert_eq!(heard["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn what_changes_is_told_to_the_last_stream_that_was_opened() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let mut replaced = EventReader::new(client.send(Method::GET, "").await);
    let mut events = EventReader::new(client.send(Method::GET, "").await);
    assert_eq!(replaced.next().await, None);

    let uri = json!({ "uri": "test://watched-resource" });
    client
        .post(&request(json!(2), "resources/subscribe", uri.clone()))
        .await;
    for tool in ["tool", "prompt", "resource"] {
        let tool = format!("test_trigger_{tool}_change");
        client.call(&tool, json!({})).await;
    }
    for (method, params) in [
        ("notifications/tools/list_changed", json!({})),
        ("notifications/prompts/list_changed", json!({})),
        ("notifications/resources/updated", uri.clone()),
    ] {
        let expected = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(events.next().await.unwrap().data, expected);
    }
    client
        .post(&request(json!(3), "resources/unsubscribe", uri))
        .await;
    client.call("test_trigger_resource_change", json!({})).await;
    client.send(Method::DELETE, "").await;
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn batches_are_answered_where_there_are_batches() {
    let batch = json!([
        request(json!(1), "ping", json!({})),
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        request(json!("b"), "tools/call", json!({ "name": "echo", "arguments": { "text": "x" } })),
        { "jsonrpc": "2.0", "id": 3 },
    ]);
    let old = TestClient::new().initialize("2025-03-26").await;
    let (status, Value::Array(responses)) = json_of(old.post(&batch).await).await else {
        panic!("a batch is answered with a batch");
    };
    let ids: Vec<&Value> = responses.iter().map(|response| &response["id"]).collect();
    assert_eq!(status, StatusCode::OK);
    assert_eq!(ids, [&json!(1), &json!("b"), &Value::Null]);
    assert_eq!(responses[2]["error"]["code"], -32600);
    let notifications = json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]);
    assert_eq!(
        old.post(&notifications).await.status(),
        StatusCode::ACCEPTED
    );

    let ping = request(json!(1), "ping", json!({}));
    for refused in [json!([]), Value::Array(vec![ping; 101])] {
        assert_eq!(old.post(&refused).await.status(), StatusCode::BAD_REQUEST);
    }
    let new = TestClient::new().initialize("2025-06-18").await;
    assert_eq!(new.post(&batch).await.status(), StatusCode::BAD_REQUEST);
}
