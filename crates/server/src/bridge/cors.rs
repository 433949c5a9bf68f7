//! What a browser on another origin is allowed (CORS), in private networks too.
//!
//! Any page may ask unless the operator names the origins that may. Credentials are never allowed:
//! there are no cookies here, and a key is sent as a header.

use axum::body::Body;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};

const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

const METHODS: HeaderValue =
    HeaderValue::from_static("DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");

/// What an MCP client in a page has to read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "mcp-session-id, mcp-protocol-version, last-event-id, www-authenticate",
);

/// How long a browser may remember it, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

pub(super) struct CorsPolicy {
    /// None: all.
    origins: Option<Vec<HeaderValue>>,
}

impl CorsPolicy {
    pub(super) fn new(origins: Option<Vec<String>>) -> Self {
        let read = |origins: Vec<String>| {
            let origins = origins.iter().filter_map(|origin| {
                HeaderValue::try_from(origin.trim_end_matches('/').to_ascii_lowercase()).ok()
            });
            origins.collect()
        };
        Self {
            origins: origins.map(read),
        }
    }

    /// Whether a page of that origin may ask for anything. Who is no page has none.
    pub(super) fn allows(&self, headers: &HeaderMap) -> bool {
        match (&self.origins, headers.get(header::ORIGIN)) {
            (Some(origins), Some(origin)) => origins.contains(origin),
            (None, _) | (_, None) => true,
        }
    }

    /// The answer to a preflight request, if it is one.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        if method != Method::OPTIONS
            || !headers.contains_key(header::ORIGIN)
            || !headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
        {
            return None;
        }
        if !self.allows(headers) {
            let refused = (StatusCode::BAD_REQUEST, "Disallowed CORS origin");
            return Some(refused.into_response());
        }
        let mut response = Response::new(Body::from("OK"));
        let answer = response.headers_mut();
        answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        answer.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        // A wildcard would not cover `authorization`.
        if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        if headers.contains_key(REQUEST_PRIVATE_NETWORK) {
            answer.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
        }
        Some(response)
    }

    /// Lets a page of an allowed origin read a response.
    pub(super) fn add(&self, origin: Option<HeaderValue>, response: &mut Response) {
        let headers = response.headers_mut();
        if self.origins.is_some() {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        let Some(origin) = origin else {
            return;
        };
        let allowed = match &self.origins {
            None => HeaderValue::from_static("*"),
            Some(origins) if origins.contains(&origin) => origin,
            Some(_) => return,
        };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}
