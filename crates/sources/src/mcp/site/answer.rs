//! What came back from a site, read within bounds and put into words.

use reqwest::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};

use tenon_net::body::{self, BodyError};
use tenon_net::sse::{SseEvent, SseParser};

use super::super::fault::Fault;
use super::super::message::MAX_MESSAGE;
use super::super::text;
use super::super::words;
use super::Site;

/// What of an answer that is no success may be worth reading.
const MAX_EXCERPT: usize = 64 * 1024;

/// The whole of an answer, within the bound of a message.
pub(in crate::mcp) async fn whole(site: &Site, mut response: Response) -> Result<Vec<u8>, Fault> {
    let read = body::read(&mut response, MAX_MESSAGE).await;
    read.map_err(|error| match error {
        BodyError::TooLong { .. } => Fault::too_long(),
        BodyError::Broken(error) => site.broken(&error),
    })
}

/// The next events of a stream; none at its end, however it came.
pub(in crate::mcp) async fn next_events(
    response: &mut Response,
    parser: &mut SseParser,
) -> Result<Option<Vec<SseEvent>>, Fault> {
    let mut events = Vec::new();
    while events.is_empty() {
        let Ok(Some(chunk)) = response.chunk().await else {
            return Ok(None);
        };
        let pushed = parser.push(&chunk, &mut events);
        pushed.map_err(|_| Fault::too_long())?;
    }
    Ok(Some(events))
}

/// What an answer that is no success means, and the beginning of what it said.
pub(in crate::mcp) async fn failure(mut response: Response) -> (Fault, Vec<u8>) {
    let status = response.status();
    let mut body = Vec::new();
    // What came before it broke off may say why.
    let _ = body::read_prefix(&mut response, MAX_EXCERPT, &mut body).await;
    (
        Fault::Status(status.as_u16(), sentence(status, &body)),
        body,
    )
}

pub(in crate::mcp) fn content_type(response: &Response) -> &str {
    let value = response.headers().get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or("").trim()
}

pub(super) fn asks_more(response: Response) -> Result<Response, Fault> {
    let challenges = response.headers().get_all(WWW_AUTHENTICATE);
    let challenge: Vec<&str> = challenges.iter().filter_map(|c| c.to_str().ok()).collect();
    let challenge = (!challenge.is_empty()).then(|| challenge.join(", "));
    let asks = match response.status() {
        StatusCode::UNAUTHORIZED => true,
        // It knows who we are, and wants us to be allowed more.
        StatusCode::FORBIDDEN => challenge
            .as_deref()
            .is_some_and(|challenge| challenge.contains("insufficient_scope")),
        _ => false,
    };
    match asks {
        true => Err(Fault::LogIn { challenge }),
        false => Ok(response),
    }
}

fn sentence(status: StatusCode, body: &[u8]) -> String {
    let number = status.as_u16();
    let what = match number {
        403 => "The server refuses us (HTTP 403). Check the credentials in its headers.".to_owned(),
        404 => "There is no MCP server at this address (HTTP 404). Check the path: many are at /mcp or /sse.".to_owned(),
        429 => "The server asks for fewer requests (HTTP 429). Try again later.".to_owned(),
        500..=599 => format!("The server failed (HTTP {number}). Its own log says why."),
        _ => format!("The server answered with HTTP {number}, which is not MCP."),
    };
    let said = String::from_utf8_lossy(&body[..body.len().min(2000)]);
    match text::line(&said, 200) {
        said if said.is_empty() || said.starts_with('<') => what,
        said => words::with_said(&what, &said),
    }
}
