//! The official conformance suite at the hub: its client on one side, its tools behind a source.
//!
//! The suite has neither a key nor the names under which a hub of many servers offers the tools of
//! one. A proxy between the two adds both, and changes nothing else.
//!
//! What is not passed on stands in `tests/peers/mcp/hub-expected-failures.yml`, each with its
//! reason. What stands there and passes is a failure as well.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use serde_json::{Value, json};
use tenon_mcp::server::MAX_REQUEST_BYTES;

use super::HubFixture;
use crate::bridge::conformance::{conforms, fixture};

/// Before the names of tools and prompts of the source `fixture`.
const NAME_PREFIX: &str = "mcp_fixture_";

/// Before its resources.
const URI_PREFIX: &str = "tenon+fixture+";

const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

#[tokio::test]
async fn the_hub_conforms_to_the_last_version_with_a_handshake() {
    check("2025-11-25").await;
}

#[tokio::test]
async fn the_hub_conforms_to_the_version_without_one() {
    check("2026-07-28").await;
}

async fn check(version: &'static str) {
    let source = json!({
        "kind": "mcp", "name": "fixture", "command": fixture(), "args": ["stdio"],
    });
    let hub = HubFixture::with_source(&source).await;
    let url = OwnNames::serve(&hub).await;
    let check = move || conforms(&url, version, "hub-expected-failures.yml");
    if let Err(failed) = tokio::task::spawn_blocking(check).await {
        std::panic::resume_unwind(failed.into_panic());
    }
}

/// The hub as if the fixture were all of it.
struct OwnNames {
    client: reqwest::Client,
    hub: String,
    key: String,
}

impl OwnNames {
    /// The address of its endpoint.
    async fn serve(hub: &HubFixture) -> String {
        let names = Self {
            client: hub.served.client.clone(),
            hub: hub.url("/mcp"),
            key: hub.key.clone(),
        };
        let router = Router::new().fallback(forward).with_state(Arc::new(names));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }
}

async fn forward(State(names): State<Arc<OwnNames>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_REQUEST_BYTES).await.unwrap();
    let mut headers = parts.headers;
    headers.remove(CONTENT_LENGTH);
    let key = HeaderValue::try_from(format!("Bearer {}", names.key)).unwrap();
    headers.insert(AUTHORIZATION, key);
    let body = in_hub(&body, &mut headers);
    let sent = names.client.request(parts.method, &names.hub);
    let sent = sent.headers(headers).body(body).send().await.unwrap();
    let (status, mut headers) = (sent.status(), sent.headers().clone());
    for name in [CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    // Each event is a chunk of its own, so no name is cut in two.
    let chunks = sent.bytes_stream().map(|chunk| chunk.map(in_fixture));
    (status, headers, Body::from_stream(chunks)).into_response()
}

/// A message of the suite, with the hub's names.
fn in_hub(body: &Bytes, headers: &mut HeaderMap) -> Bytes {
    let Ok(mut message) = serde_json::from_slice::<Value>(body) else {
        return body.clone();
    };
    let method = message["method"].as_str().unwrap_or_default();
    let renamed = match method {
        "tools/call" | "prompts/get" => Some(("/params/name", NAME_PREFIX)),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            Some(("/params/uri", URI_PREFIX))
        }
        "completion/complete" if message["params"]["ref"]["uri"].is_string() => {
            Some(("/params/ref/uri", URI_PREFIX))
        }
        "completion/complete" => Some(("/params/ref/name", NAME_PREFIX)),
        _ => None,
    };
    if let Some((pointer, prefix)) = renamed {
        // The hub's own tools are called by the names they are listed by.
        if let Some(Value::String(name)) = message.pointer_mut(pointer)
            && !name.starts_with("builtin_")
        {
            let own = std::mem::replace(name, format!("{prefix}{name}"));
            rename_header(headers, &own, name);
        }
    }
    if let Some(Value::Array(uris)) =
        message.pointer_mut("/params/notifications/resourceSubscriptions")
    {
        for uri in uris {
            *uri = format!("{URI_PREFIX}{}", uri.as_str().unwrap()).into();
        }
    }
    message.to_string().into()
}

/// The header that repeats a name, plain or encoded. One that says something else stays wrong.
fn rename_header(headers: &mut HeaderMap, own: &str, name: &str) {
    let encoded = |text: &str| format!("=?base64?{}?=", STANDARD.encode(text));
    let told = headers.get(NAME_HEADER);
    let told = told.map(|told| told.to_str().unwrap().trim().to_owned());
    let renamed = match told {
        Some(told) if told == own => name.to_owned(),
        Some(told) if told == encoded(own) => encoded(name),
        Some(_) | None => return,
    };
    headers.insert(NAME_HEADER, HeaderValue::try_from(renamed).unwrap());
}

/// A message of the hub, with the fixture's names.
fn in_fixture(chunk: Bytes) -> Bytes {
    match std::str::from_utf8(&chunk) {
        Ok(text) => text.replace(NAME_PREFIX, "").replace(URI_PREFIX, "").into(),
        Err(_) => chunk,
    }
}
