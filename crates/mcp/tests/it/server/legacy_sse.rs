//! Legacy HTTP with SSE.

use axum::body::Bytes;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tenon_mcp::server::MAX_REQUEST_BYTES;

use super::{EventReader, TestClient, call, request, text_of};

/// A stream that is open, and the session that its client posts with.
struct SseClient {
    client: TestClient,
    events: EventReader,
    session: String,
}

impl SseClient {
    async fn open(client: &TestClient) -> Self {
        let server = &client.server;
        let response = server.open_sse(&client.headers, "/messages", client.caller.clone());
        let mut events = EventReader::new(response);
        let endpoint = events.next().await.unwrap().data;
        let session = endpoint.as_str().unwrap();
        let session = session.strip_prefix("/messages?session_id=").unwrap();
        Self {
            client: client.clone(),
            session: session.to_owned(),
            events,
        }
    }

    async fn post(&self, message: impl Into<Bytes>) -> StatusCode {
        let TestClient {
            server,
            headers,
            caller,
        } = &self.client;
        let posted = server.post_sse(headers, &self.session, message.into(), caller);
        posted.await.status()
    }

    async fn initialize(&mut self, version: &str) {
        let params = json!({ "protocolVersion": version, "capabilities": {} });
        let initialize = request(json!(0), "initialize", params).to_string();
        assert_eq!(self.post(initialize).await, StatusCode::ACCEPTED);
        let initialized = self.events.next().await.unwrap().data;
        assert_eq!(initialized["result"]["protocolVersion"], version);
    }
}

#[tokio::test]
async fn what_is_no_message_is_answered_on_the_stream() {
    let mut client = SseClient::open(&TestClient::new()).await;
    client.initialize("2025-03-26").await;
    let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    for (message, id, code) in [
        (ping("1.5"), json!(1.5), Value::Null),
        (ping(r#""a""#), json!("a"), Value::Null),
        (ping("null"), Value::Null, json!(-32600)),
        (ping("[1]"), Value::Null, json!(-32600)),
        ("nonsense".to_owned(), Value::Null, json!(-32700)),
        (format!("[{}]", ping("7")), json!(7), Value::Null),
        ("[]".to_owned(), Value::Null, json!(-32600)),
    ] {
        assert_eq!(client.post(message.clone()).await, StatusCode::ACCEPTED);
        let answer = client.events.next().await.unwrap().data;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&id, &code),
            "{message}"
        );
    }
    let long = vec![b' '; MAX_REQUEST_BYTES + 1];
    assert_eq!(client.post(long).await, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_taken_for_gone() {
    let mut client = SseClient::open(&TestClient::new()).await;
    client.initialize("2024-11-05").await;
    let ping = request(json!(1), "ping", json!({})).to_string();
    let mut unread = 0;
    while client.post(ping.clone()).await == StatusCode::ACCEPTED && unread < 1000 {
        unread += 1;
    }
    assert!(unread < 1000, "nothing more is queued");
    while client.events.next().await.is_some() {}
}

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
