//! Streamable HTTP: every version on one endpoint.
//!
//! A request with the `_meta` of 2026-07-28 stands alone; `initialize` begins a session. A response is
//! JSON unless there is something to say before it: then it becomes a stream of events.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, Method, StatusCode};

use super::body::{self, ServerResponse};
use super::endpoint::McpEndpoint;
use super::message::{HANDSHAKE_VERSIONS, InboundMessage, MAX_REQUEST_BYTES, unsupported_version};
use super::reply::Reply;
use super::service::McpService;
use super::session_store::SessionLease;
use crate::jsonrpc::RpcError;
use crate::message::{PROTOCOL_VERSION, SESSION_ID};

mod batch;
mod header_check;
mod listen;
mod post;
mod streamed;

/// A request whose body was read.
#[derive(Debug)]
pub struct HttpRequest<'a> {
    pub method: &'a Method,
    pub headers: &'a HeaderMap,
    pub body: Bytes,
}

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

impl<S: McpService> McpEndpoint<S> {
    /// Answers one request to the endpoint, whoever listens there. The body of the response may go on for as
    /// long as the client reads it; dropped, it is over.
    pub async fn handle_http(&self, request: HttpRequest<'_>, caller: S::Caller) -> ServerResponse {
        if !self.engine.options.allows_host(request.headers) {
            return body::text(StatusCode::FORBIDDEN, "This host or origin is not allowed.");
        }
        match *request.method {
            Method::POST => self.post(request.headers, &request.body, caller).await,
            // Without sessions there is nothing to listen to, and nothing to end.
            Method::GET | Method::DELETE if !request.headers.contains_key(&SESSION_ID) => {
                not_allowed()
            }
            Method::GET => match self.session(request.headers, &caller) {
                Ok(session) => self.get(request.headers, session, caller),
                Err(response) => *response,
            },
            Method::DELETE => match self.session(request.headers, &caller) {
                Ok(session) => {
                    self.engine.sessions.remove(&session);
                    body::empty(StatusCode::NO_CONTENT)
                }
                Err(response) => *response,
            },
            _ => not_allowed(),
        }
    }

    async fn post(&self, headers: &HeaderMap, text: &Bytes, caller: S::Caller) -> ServerResponse {
        if text.len() > MAX_REQUEST_BYTES {
            return body::text(StatusCode::PAYLOAD_TOO_LARGE, "The message is too long.");
        }
        // Pages of other origins cannot send this type without asking first.
        if !has_type(headers, &CONTENT_TYPE, "application/json") {
            let message = "Content-Type must be application/json.";
            return body::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
        }
        let accept = AcceptedTypes::read(headers);
        if !accept.json && !accept.events {
            let message = "Accept must have application/json or text/event-stream.";
            return body::text(StatusCode::NOT_ACCEPTABLE, message);
        }
        if text.trim_ascii_start().starts_with(b"[") {
            return match self.session(headers, &caller) {
                Ok(session) => Box::pin(self.post_batch(session, text, caller)).await,
                Err(response) => *response,
            };
        }
        let message = match InboundMessage::read(text) {
            Ok(message) => message,
            Err(fault) => {
                let reply = Reply::error(fault.id.as_deref(), fault.error);
                return body::json(StatusCode::BAD_REQUEST, reply);
            }
        };
        match message {
            InboundMessage::Request(request) => {
                let header = header(headers, &PROTOCOL_VERSION);
                let is_initialize = request.method == "initialize";
                if request.params.meta.protocol_version.is_none() && is_initialize {
                    return self.initialize(&request, caller);
                }
                let is_handshake = header.is_none_or(|header| HANDSHAKE_VERSIONS.contains(&header));
                if request.params.meta.protocol_version.is_some() || !is_handshake {
                    return self.post_stateless(headers, accept, &request, caller).await;
                }
                match self.session(headers, &caller) {
                    Ok(session) => self.post_request(session, accept, &request, caller).await,
                    Err(response) => *response,
                }
            }
            InboundMessage::Notification { method, params } => {
                match self.session(headers, &caller) {
                    Ok(session) => session.on_notification(&method, params),
                    // Without a session there is nothing to be notified.
                    Err(response) if headers.contains_key(&SESSION_ID) => return *response,
                    Err(_) => {}
                }
                body::empty(StatusCode::ACCEPTED)
            }
            InboundMessage::Response { id, answer } => match self.session(headers, &caller) {
                Ok(session) => {
                    session.requests.on_answer(id, answer);
                    body::empty(StatusCode::ACCEPTED)
                }
                Err(response) => *response,
            },
        }
    }

    /// The session a request names, if it is the caller's.
    fn session(
        &self,
        headers: &HeaderMap,
        caller: &S::Caller,
    ) -> Result<SessionLease<S::Caller>, Box<ServerResponse>> {
        let refuse = |status, error| Err(Box::new(body::json(status, Reply::error(None, error))));
        let Some(id) = header(headers, &SESSION_ID) else {
            let error = RpcError::new(
                RpcError::INVALID_REQUEST,
                "The header Mcp-Session-Id is missing: send `initialize` first, or the `_meta` of 2026-07-28.",
            );
            return refuse(StatusCode::BAD_REQUEST, error);
        };
        if let Some(version) = header(headers, &PROTOCOL_VERSION)
            && !HANDSHAKE_VERSIONS.contains(&version)
        {
            return refuse(StatusCode::BAD_REQUEST, unsupported_version(version));
        }
        match self.engine.sessions.get(id) {
            Some(session) if session.caller == *caller => Ok(session),
            _ => {
                let message = "Unknown session: send `initialize` again.";
                refuse(StatusCode::NOT_FOUND, RpcError::new(-32001, message))
            }
        }
    }
}

/// What kinds of response a client takes.
#[derive(Debug, Clone, Copy)]
struct AcceptedTypes {
    json: bool,
    events: bool,
}

impl AcceptedTypes {
    fn read(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(ACCEPT).iter().peekable();
        if values.peek().is_none() {
            return Self {
                json: true,
                events: false,
            };
        }
        let mut accepted = Self {
            json: false,
            events: false,
        };
        for value in values.filter_map(|value| value.to_str().ok()) {
            for kind in value.split(',') {
                match kind.split(';').next().unwrap_or_default().trim() {
                    "application/json" | "application/*" => accepted.json = true,
                    "text/event-stream" | "text/*" => accepted.events = true,
                    "*/*" => accepted.json = true,
                    _ => {}
                }
            }
        }
        accepted
    }
}

fn not_allowed() -> ServerResponse {
    let mut response = body::text(
        StatusCode::METHOD_NOT_ALLOWED,
        "Use POST; GET and DELETE need Mcp-Session-Id.",
    );
    let allow = http::HeaderValue::from_static("GET, POST, DELETE");
    response.headers_mut().insert(http::header::ALLOW, allow);
    response
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn has_type(headers: &HeaderMap, name: &HeaderName, kind: &str) -> bool {
    let found = header(headers, name).unwrap_or_default();
    let found = found.split(';').next().unwrap_or_default().trim();
    found.eq_ignore_ascii_case(kind)
}
