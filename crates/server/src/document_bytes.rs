//! A document that is written once and served often.

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::Bytes;
use sha2::{Digest, Sha256};
use tenon_domain::text::hex;

/// The bytes of a JSON document and their entity tag.
#[derive(Debug, Clone)]
pub(crate) struct DocumentBytes {
    bytes: Bytes,
    etag: HeaderValue,
}

impl DocumentBytes {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let hash = Sha256::digest(&bytes);
        let etag = HeaderValue::try_from(format!("\"{}\"", hex(&hash[..16])));
        Self {
            bytes: bytes.into(),
            etag: etag.expect("hexadecimal digits are a header"),
        }
    }

    /// The document, or 304 if the client has it.
    pub(crate) fn respond(&self, request: &HeaderMap) -> Response {
        let mut response = if self.is_known(request) {
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

    /// A compressing proxy weakens entity tags, so they are compared weakly.
    fn is_known(&self, request: &HeaderMap) -> bool {
        let known = request.get_all(header::IF_NONE_MATCH).into_iter();
        let known = known.filter_map(|tags| tags.to_str().ok());
        let mut tags = known.flat_map(|tags| tags.split(',')).map(str::trim);
        tags.any(|tag| self.etag == tag.strip_prefix("W/").unwrap_or(tag))
    }
}
