//! Headers of a request on their way to a server at an address.

use axum::Json;
use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

use super::{BridgeProcess, answer};

/// The least of an MCP server over HTTP. Its tool tells the headers of the call.
async fn headers_server(headers: HeaderMap, Json(message): Json<Value>) -> Response {
    let Some(id) = message.get("id") else {
        return StatusCode::ACCEPTED.into_response();
    };
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "headers", "version": "1" },
        }),
        Some("tools/list") => {
            json!({ "tools": [{ "name": "headers", "inputSchema": { "type": "object" } }] })
        }
        Some("tools/call") => {
            let headers = headers.iter().filter_map(|(name, value)| {
                let name = name.as_str();
                let is_told = name.starts_with("x-") || name == "authorization";
                is_told.then(|| (name.to_owned(), json!(value.to_str().unwrap())))
            });
            let headers: serde_json::Map<String, Value> = headers.collect();
            json!({ "content": [{ "type": "text", "text": Value::Object(headers).to_string() }] })
        }
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
        }
    };
    Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}

#[tokio::test]
async fn headers_of_the_allow_list_go_on_to_the_server() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = Router::new().route("/mcp", post(headers_server));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let folder = tempfile::tempdir().unwrap();
    let forwarding = json!({ "enabled": true, "whitelist": ["X-User-*"] });
    let servers = json!({
        "open": { "type": "streamable-http", "url": url, "client_header_forwarding": forwarding },
        "closed": { "type": "streamable-http", "url": url, "headers": { "X-Own": "configured" } },
    });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &["--api-key", "top"]);
    let told = async |server: &str| {
        let request = bridge
            .client
            .post(bridge.url(&format!("/{server}/headers")));
        let request = request.bearer_auth("top").header("x-user-id", "ada");
        let (status, headers) = answer(request.header("x-other", "no")).await;
        assert_eq!(status, 200, "{headers}");
        headers
    };
    assert_eq!(told("open").await, json!({ "x-user-id": "ada" }));
    assert_eq!(told("closed").await, json!({ "x-own": "configured" }));
}
