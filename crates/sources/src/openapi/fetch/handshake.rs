//! Capabilities in a handshake: a dialect of MCP whose servers answer `initialize` with tools that are
//! described as HTTP requests.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, Response};
use serde_json::{Value, json};
use tenon_net::sse::SseParser;
use tenon_openapi::document;
use url::Url;

use super::{DocumentFetcher, MAX_PARSED_AT_ONCE_BYTES, without_secrets};
use crate::openapi::description::may_be_description;
use crate::openapi::fetch::{CacheValidators, DocumentBody, DocumentState, FetchedDocument};
use crate::openapi::http_client::{CrossOriginRedirect, read_body};

const EVENT_STREAM: &str = "text/event-stream";

/// A server that streams sends its description at once and then keeps the stream open.
const STREAM_TIMEOUT: Duration = Duration::from_secs(5);

impl DocumentFetcher<'_> {
    /// Sends MCP's `initialize` and reads a description with `capabilities[]` from the response, if
    /// there is one.
    pub(super) async fn handshake(&self) -> Option<FetchedDocument> {
        if let Some(found) = self.posted_handshake().await {
            return Some(found);
        }
        let streamed = tokio::time::timeout(STREAM_TIMEOUT, self.streamed_handshake()).await;
        streamed.ok().flatten()
    }

    async fn posted_handshake(&self) -> Option<FetchedDocument> {
        let mut request = self.request_for(Method::POST, "application/json");
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(initialize().to_string().into());
        let response = self.opened(request, "application/json").await?;
        let url = without_secrets(response.url());
        let bytes = read_body(response, MAX_PARSED_AT_ONCE_BYTES).await.ok()?;
        described(url, bytes).await
    }

    /// Reads the description from the first events of a stream; some servers offer nothing else.
    async fn streamed_handshake(&self) -> Option<FetchedDocument> {
        let request = self.request_for(Method::GET, EVENT_STREAM);
        let mut response = self.opened(request, EVENT_STREAM).await?;
        let url = without_secrets(response.url());
        let mut parser = SseParser::new(MAX_PARSED_AT_ONCE_BYTES);
        loop {
            let chunk = response.chunk().await.ok()??;
            let mut events = Vec::new();
            parser.push(&chunk, &mut events).ok()?;
            for event in events {
                let found = described(url.clone(), event.data.into_bytes()).await;
                if found.is_some() {
                    return found;
                }
            }
        }
    }

    fn request_for(&self, method: Method, accept: &'static str) -> Request {
        let mut request = Request::new(method, self.request.url.clone());
        let headers = request.headers_mut();
        headers.extend(self.request.headers.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        request
    }

    async fn opened(&self, request: Request, media_type: &str) -> Option<Response> {
        let cross_origin = CrossOriginRedirect::WithoutCredentials;
        let response = self.client.open(request, cross_origin).await.ok()?;
        let found = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
        let is_usable = response.status().is_success() && found.starts_with(media_type);
        is_usable.then_some(response)
    }
}

async fn described(url: Url, answer: Vec<u8>) -> Option<FetchedDocument> {
    // A large one takes its time.
    let read = tokio::task::spawn_blocking(move || {
        let description = document::read(&answer).ok()?.get_mut("result")?.take();
        may_be_description(&description).then(|| DocumentBody {
            bytes: description.to_string().into_bytes(),
            document: Some(description),
            validators: CacheValidators::default(),
        })
    });
    let state = DocumentState::Modified(Box::new(read.await.ok()??));
    Some(FetchedDocument { url, state })
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tenon", "version": env!("CARGO_PKG_VERSION")},
    }})
}
