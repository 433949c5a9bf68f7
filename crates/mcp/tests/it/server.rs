//! The server half, met by clients that mind no rules: straight at the function that answers HTTP
//! requests, without a network.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use futures::StreamExt;
use serde_json::{Value, json};
use tenon_mcp::server::{HttpRequest, McpEndpoint, ServerOptions, ServerResponse};

use crate::service::{FixtureService, identity};

mod bad_clients;
mod calls;
mod legacy_sse;
mod sessions;
mod stateless;
mod stdio;

/// Longer than anything takes on a busy machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// A client of one server, with the headers that it sends along.
#[derive(Clone)]
struct TestClient {
    server: McpEndpoint<FixtureService>,
    headers: HeaderMap,
    caller: String,
}

impl TestClient {
    fn new() -> Self {
        let service = FixtureService::new();
        let server = McpEndpoint::new(service, &identity(), ServerOptions::default());
        let client = Self {
            server,
            headers: HeaderMap::new(),
            caller: "ada".to_owned(),
        };
        client
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        let value = HeaderValue::from_str(value).unwrap();
        self.headers.insert(HeaderName::from_static(name), value);
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    fn called_by(self, caller: &str) -> Self {
        let caller = caller.to_owned();
        Self { caller, ..self }
    }

    /// With a session of its own.
    async fn initialize(self, version: &str) -> Self {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" },
        } });
        let response = self.post(&request).await;
        let session = response.headers()["mcp-session-id"].clone();
        self.with("mcp-session-id", session.to_str().unwrap())
    }

    async fn post(&self, message: &Value) -> ServerResponse {
        self.send(Method::POST, message.to_string()).await
    }

    async fn send(&self, method: Method, body: impl Into<Bytes>) -> ServerResponse {
        let request = HttpRequest {
            method: &method,
            headers: &self.headers,
            body: body.into(),
        };
        let answering = self.server.handle_http(request, self.caller.clone());
        tokio::time::timeout(TEST_TIMEOUT, answering).await.unwrap()
    }

    async fn call(&self, tool: &str, input: Value) -> (StatusCode, Value) {
        json_of(self.post(&call(1, tool, input)).await).await
    }

    /// How many calls wait for ever.
    async fn count_waiting(&self) -> String {
        let (_, response) = self.call("count_waiting", json!({})).await;
        text_of(&response)
    }
}

fn call(id: u64, tool: &str, input: Value) -> Value {
    request(
        json!(id),
        "tools/call",
        json!({ "name": tool, "arguments": input }),
    )
}

fn request(id: Value, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn text_of(response: &Value) -> String {
    let text = response["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {response}"))
        .to_owned()
}

/// Status and body; null where there is none.
async fn json_of(response: ServerResponse) -> (StatusCode, Value) {
    let status = response.status();
    let body = to_bytes(Body::new(response.into_body()), usize::MAX).await;
    let body = body.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

/// A response of events as they come.
struct EventReader {
    body: BodyDataStream,
    buffer: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Event {
    id: Option<String>,
    data: Value,
}

impl EventReader {
    fn new(response: ServerResponse) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: Body::new(response.into_body()).into_data_stream(),
            buffer: String::new(),
        }
    }

    /// None at the end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = event.lines();
                    lines.find_map(|line| line.strip_prefix(name).map(str::trim))
                };
                let found = field("data:").map(|data| Event {
                    id: field("id:").map(str::to_owned),
                    data: serde_json::from_str(data).unwrap_or_else(|_| json!(data)),
                });
                self.buffer = rest.to_owned();
                if found.is_some() {
                    return found;
                }
                continue;
            }
            let bytes = tokio::time::timeout(TEST_TIMEOUT, self.body.next()).await;
            let bytes = bytes.expect("an event in time")?.unwrap();
            self.buffer += std::str::from_utf8(&bytes).unwrap();
        }
    }

    async fn collect(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event.data);
        }
        events
    }
}
