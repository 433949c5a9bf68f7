//! Connections over an HTTP client that the caller brings.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::http;
use reqwest::{Body, Request, Response};
use serde_json::{Value, json};
use tenon_mcp::{
    ClientCapabilities, ClientInfo, ConnectOptions, Error, HttpClient, McpConnection, ProtocolEra,
    TransportConfig,
};

/// Answers every request itself, and remembers them.
#[derive(Debug, Default)]
struct StandIn(Mutex<Vec<Value>>);

#[async_trait]
impl HttpClient for StandIn {
    async fn execute(&self, request: Request) -> Result<Response, Error> {
        let body = request.body().and_then(Body::as_bytes).unwrap();
        let message: Value = serde_json::from_slice(body).unwrap();
        let result = match message["method"].as_str().unwrap() {
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
            }),
            _ => json!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" } }] }),
        };
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        self.0.lock().unwrap().push(message);
        let response = http::Response::builder()
            .header("content-type", "application/json")
            .body(response.to_string());
        Ok(response.unwrap().into())
    }
}

#[tokio::test]
async fn a_connection_sends_its_requests_through_the_client_it_is_given() {
    let stand_in = Arc::new(StandIn::default());
    let transport = TransportConfig::Http {
        // Nobody is asked there.
        url: "https://mcp.example/mcp".into(),
        headers: BTreeMap::new(),
    };
    let client = ClientInfo {
        name: "test".into(),
        title: "Test".into(),
        version: "1".into(),
        capabilities: ClientCapabilities::default(),
    };
    let connection = McpConnection::connect(ConnectOptions {
        http: Some(stand_in.clone()),
        ..ConnectOptions::new(transport, client)
    });
    let connection = connection.await.unwrap();
    assert_eq!(connection.era(), ProtocolEra::Stateless);
    assert_eq!(connection.capabilities(), &json!({ "tools": {} }));
    let list = connection.list_tools(Duration::from_secs(5)).await.unwrap();
    assert_eq!(list.tools[0].name, "add");

    let sent = stand_in.0.lock().unwrap();
    let methods: Vec<&Value> = sent.iter().map(|message| &message["method"]).collect();
    assert_eq!(methods, ["server/discover", "tools/list"]);
    let offered = &sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(offered, &json!({}));
}
