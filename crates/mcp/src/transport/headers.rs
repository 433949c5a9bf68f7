//! Headers that somebody wants sent along with those of the protocol.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tenon_text as text;

use crate::error::McpHeaderError;

/// Written by the client itself.
const RESERVED: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
    "upgrade",
];

/// Whether a header can be sent along.
pub fn check_header(name: &str, value: &str) -> Result<(), McpHeaderError> {
    read(name, value).map(drop)
}

/// Adds the headers of one call. What cannot be a header is left out: its value is a stranger's.
pub(super) fn add(headers: &mut HeaderMap, of_call: &[(String, String)]) {
    let sound = of_call
        .iter()
        .filter_map(|(name, value)| read(name, value).ok());
    headers.extend(sound);
}

pub(super) fn read(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), McpHeaderError> {
    let shown = || text::line(name, 80);
    let read = HeaderName::try_from(name).map_err(|_| McpHeaderError::InvalidName(shown()))?;
    if RESERVED.contains(&read.as_str()) {
        return Err(McpHeaderError::Reserved(shown()));
    }
    let value = HeaderValue::try_from(value);
    let mut value = value.map_err(|_| McpHeaderError::InvalidValue(shown()))?;
    value.set_sensitive(true);
    Ok((read, value))
}
