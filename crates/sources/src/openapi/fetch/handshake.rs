//! Capabilities in a handshake: a dialect of MCP whose servers answer `initialize` with tools that are
//! described as HTTP requests.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, Response};
use serde_json::{Value, json};
use tenon_net::sse::SseParser;
use tenon_openapi::document;
use url::Url;

use super::{DocumentFetcher, without_secrets};
use crate::openapi::description::may_be_description;
use crate::openapi::fetch::{CacheValidators, DocumentBody, DocumentState, FetchedDocument};
use crate::openapi::http_client::{CrossOriginRedirect, read_body};

const EVENT_STREAM: &str = "text/event-stream";

/// A description comes in far fewer.
const MAX_CHUNKS: usize = 10_000;

/// A server that streams says what it has at once, and then goes on for ever.
const STREAM_TIMEOUT: Duration = Duration::from_secs(5);

impl DocumentFetcher<'_> {
    /// What the server says about itself in a handshake, where that is a description.
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
        let bytes = read_body(response, document::MAX_BYTES).await.ok()?;
        described(url, document::read(&bytes).ok()?)
    }

    /// As an event of a stream, which is all that some of them have.
    async fn streamed_handshake(&self) -> Option<FetchedDocument> {
        let request = self.request_for(Method::GET, EVENT_STREAM);
        let mut response = self.opened(request, EVENT_STREAM).await?;
        let url = without_secrets(response.url());
        let mut parser = SseParser::new(document::MAX_BYTES);
        for _ in 0..MAX_CHUNKS {
            let chunk = response.chunk().await.ok()??;
            let mut events = Vec::new();
            parser.push(&chunk, &mut events).ok()?;
            let answers = events
                .iter()
                .filter_map(|event| document::read(event.data.as_bytes()).ok());
            if let Some(found) = answers
                .into_iter()
                .find_map(|answer| described(url.clone(), answer))
            {
                return Some(found);
            }
        }
        None
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

fn described(url: Url, mut answer: Value) -> Option<FetchedDocument> {
    let description = answer.get_mut("result")?.take();
    if !may_be_description(&description) {
        return None;
    }
    let state = DocumentState::Modified(Box::new(DocumentBody {
        bytes: description.to_string().into_bytes(),
        document: Some(description),
        validators: CacheValidators::default(),
    }));
    Some(FetchedDocument { url, state })
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tenon", "version": env!("CARGO_PKG_VERSION")},
    }})
}
