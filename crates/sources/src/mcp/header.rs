//! Headers that somebody wants sent along with ours.

use reqwest::header::{HeaderName, HeaderValue};

use super::text;

/// Those that are ours to write.
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

/// Whether it can be sent. The error is a sentence.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    read(name, value).map(drop)
}

pub(super) fn read(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let shown = text::line(name, 80);
    let name = HeaderName::try_from(name).map_err(|_| {
        format!("`{shown}` cannot be the name of a header. Write letters, digits and dashes.")
    })?;
    if RESERVED.contains(&name.as_str()) {
        return Err(format!(
            "The header {shown} is written by Tenon itself. Leave it out."
        ));
    }
    let mut value = HeaderValue::try_from(value).map_err(|_| {
        format!("The value of the header {shown} has characters no header can have.")
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}
