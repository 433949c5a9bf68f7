//! Legacy HTTP with SSE.

use axum::body::Bytes;
use axum::http::StatusCode;
use serde_json::json;

use super::{EventReader, TestClient, call, request, text_of};

#[tokio::test]
async fn responses_come_on_the_stream_of_whoever_posts() {
    let client = TestClient::new();
    let response = client
        .server
        .open_sse(&client.headers, "/messages", client.caller.clone());
    let mut events = EventReader::new(response);
    let endpoint = events.next().await.unwrap().data;
    let endpoint = endpoint.as_str().unwrap();
    let session = endpoint.strip_prefix("/messages?session_id=").unwrap();
    let post = async |message: serde_json::Value, caller: &str| {
        let message = Bytes::from(message.to_string());
        let caller = caller.to_owned();
        let server = &client.server;
        let response = server.post_sse(&client.headers, session, message, &caller);
        response.await.status()
    };
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {} });
    let initialize = request(json!(0), "initialize", params);
    assert_eq!(post(initialize.clone(), "eve").await, StatusCode::NOT_FOUND);
    assert_eq!(post(initialize, "ada").await, StatusCode::ACCEPTED);
    let initialized = events.next().await.unwrap().data;
    assert_eq!(initialized["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(
        post(call(1, "test_simple_text", json!({})), "ada").await,
        StatusCode::ACCEPTED
    );
    let answer = events.next().await.unwrap().data;
    assert_eq!(
        text_of(&answer),
        "This is a simple text response for testing."
    );

    post(call(2, "wait_forever", json!({})), "ada").await;
    drop(events);
    let ping = request(json!(3), "ping", json!({}));
    assert_eq!(post(ping, "ada").await, StatusCode::NOT_FOUND);
    let other = client.clone().initialize("2025-11-25").await;
    while other.count_waiting().await != "0" {
        tokio::task::yield_now().await;
    }
}
