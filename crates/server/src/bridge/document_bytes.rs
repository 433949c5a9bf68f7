//! A document that is written once and served often.

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::Bytes;
use sha2::{Digest, Sha256};

/// The bytes of a JSON document and their entity tag.
#[derive(Debug, Clone)]
pub(super) struct DocumentBytes {
    bytes: Bytes,
    etag: HeaderValue,
}

impl DocumentBytes {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let hash = Sha256::digest(&bytes);
        let hash: String = hash[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let etag = HeaderValue::try_from(format!("\"{hash}\""));
        Self {
            bytes: bytes.into(),
            etag: etag.expect("hexadecimal digits are a header"),
        }
    }

    /// The document, or that whoever asks has it already.
    pub(super) fn respond(&self, request: &HeaderMap) -> Response {
        let known = request.get(header::IF_NONE_MATCH);
        let mut response = if known == Some(&self.etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let mut response = Response::new(Body::from(self.bytes.clone()));
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.etag.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}
