//! Capabilities in a handshake: a dialect of MCP whose servers answer `initialize` with tools that are
//! described as HTTP requests.

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};
use tenon_openapi::document;

use super::{DocumentFetcher, without_secrets};
use crate::openapi::description::may_be_description;
use crate::openapi::fetch::{CacheValidators, DocumentBody, DocumentState, FetchedDocument};
use crate::openapi::http_client::{CrossOriginRedirect, read_body};

impl DocumentFetcher<'_> {
    /// What the server says about itself in a handshake, where that is a description.
    pub(super) async fn handshake(&self) -> Option<FetchedDocument> {
        let mut request = reqwest::Request::new(Method::POST, self.request.url.clone());
        let headers = request.headers_mut();
        headers.extend(self.request.headers.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(initialize().to_string().into());
        let cross_origin = CrossOriginRedirect::WithoutCredentials;
        let response = self.client.open(request, cross_origin).await.ok()?;
        let media_type = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
        // A stream may never end; whoever streams speaks MCP itself.
        if !response.status().is_success() || !media_type.starts_with("application/json") {
            return None;
        }
        let url = without_secrets(response.url());
        let bytes = read_body(response, document::MAX_BYTES).await.ok()?;
        let mut answer: Value = document::read(&bytes).ok()?;
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
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tenon", "version": env!("CARGO_PKG_VERSION")},
    }})
}
