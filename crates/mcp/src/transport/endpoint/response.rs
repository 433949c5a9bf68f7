//! Responses, read within bounds.

use reqwest::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use tenon_net::body::{self, BodyError};
use tenon_net::media_type::essence;
use tenon_net::sse::{SseEvent, SseParser};
use tenon_text as text;

use super::HttpEndpoint;
use crate::error::{Error, ProtocolError};
use crate::handler::request_error;
use crate::jsonrpc::MAX_MESSAGE_BYTES;

/// How much of a body is read whose status is no success.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// How much of that is quoted.
const MAX_EXCERPT_CHARS: usize = 200;

/// A whole body, within the bound of a message.
pub(in crate::transport) async fn read_body(
    endpoint: &HttpEndpoint,
    mut response: Response,
) -> Result<Vec<u8>, Error> {
    let read = body::read(&mut response, MAX_MESSAGE_BYTES).await;
    read.map_err(|error| match error {
        BodyError::TooLong { .. } => ProtocolError::MessageTooLong.into(),
        BodyError::Broken(error) => request_error(&error, &endpoint.url),
    })
}

/// The next events of a stream; none at its end, however it came.
pub(in crate::transport) async fn next_events(
    response: &mut Response,
    parser: &mut SseParser,
) -> Result<Option<Vec<SseEvent>>, ProtocolError> {
    let mut events = Vec::new();
    while events.is_empty() {
        let Ok(Some(chunk)) = response.chunk().await else {
            return Ok(None);
        };
        let pushed = parser.push(&chunk, &mut events);
        pushed.map_err(|_| ProtocolError::MessageTooLong)?;
    }
    Ok(Some(events))
}

/// The error of a status that is no success, and the beginning of the body.
pub(in crate::transport) async fn status_error(mut response: Response) -> (Error, Vec<u8>) {
    let status = response.status().as_u16();
    let mut body = Vec::new();
    // Text received before the connection broke may tell why.
    let _ = body::read_prefix(&mut response, MAX_ERROR_BYTES, &mut body).await;
    let excerpt = String::from_utf8_lossy(&body[..body.len().min(2000)]);
    let mut excerpt = text::line(&excerpt, MAX_EXCERPT_CHARS);
    if excerpt.starts_with('<') {
        // A web page says nothing in its first words.
        excerpt.clear();
    }
    (Error::HttpStatus { status, excerpt }, body)
}

/// Whether it is about a session the server does not know any more. Some answer 400 for that,
/// which is otherwise about the message alone.
pub(in crate::transport) fn is_session_error(status: u16, body: &[u8]) -> bool {
    let names_session = || {
        let body = String::from_utf8_lossy(body);
        body.to_lowercase().contains("session")
    };
    status == 404 || status == 400 && names_session()
}

pub(in crate::transport) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    essence(value)
}

pub(super) fn check_login(response: Response) -> Result<Response, Error> {
    let challenges = response.headers().get_all(WWW_AUTHENTICATE);
    let challenge: Vec<&str> = challenges.iter().filter_map(|c| c.to_str().ok()).collect();
    let challenge = (!challenge.is_empty()).then(|| challenge.join(", "));
    let asks_login = match response.status() {
        StatusCode::UNAUTHORIZED => true,
        // The token is valid, but the server wants more scopes.
        StatusCode::FORBIDDEN => challenge
            .as_deref()
            .is_some_and(|challenge| challenge.contains("insufficient_scope")),
        _ => false,
    };
    if asks_login {
        Err(Error::LoginRequired { challenge })
    } else {
        Ok(response)
    }
}
