//! The HTTP request that calls an operation, from a tool's input.
//!
//! Nothing is sent here, so that a page can send it as well as Tenon. What an
//! input says can change neither where a request goes nor how many there are.

mod body;
mod file;
pub(super) mod header;
mod multipart;
mod path;
mod query;
mod style;
#[cfg(test)]
mod tests;
mod wire;

use std::fmt;

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenon_domain::ToolError;
use url::Url;

use super::operation::{Operation, Place};
use crate::text::line;
pub(super) use file::picture;
pub use wire::{WireBody, WireRequest};

/// Servers and what stands before them refuse far shorter ones.
const MAX_URL: usize = 64 * 1024;

/// What a model can read comes first.
const ACCEPTED: &str = "application/json, text/*;q=0.9, image/*;q=0.8, */*;q=0.5";

/// A request that is ready to be sent. Written as JSON it is a [`WireRequest`].
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "WireRequest", try_from = "WireRequest")]
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
}

/// Makes the request of one call. `base` is where the document came from.
pub fn build(operation: &Operation, base: &Url, input: &Value) -> Result<Request, ToolError> {
    let server = operation.servers.first().map_or("/", String::as_str);
    build_at(operation, at(server, base)?, input)
}

/// The same where it is known already [`at`] which address its server is.
pub(crate) fn build_at(
    operation: &Operation,
    server: Url,
    input: &Value,
) -> Result<Request, ToolError> {
    let Value::Object(input) = input else {
        return Err(ToolError::invalid_input(
            "The input of this tool is an object with a field for each parameter.",
        ));
    };
    let mut request = Request {
        method: operation.method.clone(),
        url: server,
        headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(ACCEPTED))]),
        body: None,
    };
    add_path(operation, input, &mut request.url)?;
    add_parameters(operation, input, &mut request)?;
    if let Some(made) = body::make(operation, input)? {
        request.headers.insert(CONTENT_TYPE, made.media_type);
        request.body = Some(made.bytes);
    }
    add_demanded(operation, &mut request.headers);
    match request.url.as_str().len() <= MAX_URL {
        true => Ok(request),
        false => Err(ToolError::invalid_input(format!(
            "The input is too long: the address it makes has more than {MAX_URL} bytes."
        ))),
    }
}

/// Where a server is that a document names, as far as the document does not say
/// it relative to `base`, where it came from itself.
pub fn at(server: &str, base: &Url) -> Result<Url, ToolError> {
    let refused = |why: &str| {
        let server = line(server, 200);
        ToolError::failed(format!(
            "This tool cannot be called: its description says that it is served at `{server}`, which {why}."
        ))
    };
    if server.contains(['{', '}']) {
        return Err(refused("has a part that nothing is said about"));
    }
    // Nothing is the root for those who write it, though a link would mean the document.
    let server = match server.trim() {
        "" => "/",
        server => server,
    };
    let mut url = base
        .join(server)
        .map_err(|error| refused(&format!("is no address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("is neither http nor https"));
    }
    url.set_fragment(None);
    Ok(url)
}

fn add_path(
    operation: &Operation,
    input: &Map<String, Value>,
    url: &mut Url,
) -> Result<(), ToolError> {
    let filled = path::fill(operation, input)?;
    if !filled.path.is_empty() {
        let before = url.path().trim_end_matches('/');
        let whole = match filled.path.starts_with('/') {
            true => format!("{before}{}", filled.path),
            false => format!("{before}/{}", filled.path),
        };
        url.set_path(&whole);
    }
    if let Some(query) = filled.query {
        add_query(&query, url);
    }
    Ok(())
}

fn add_parameters(
    operation: &Operation,
    input: &Map<String, Value>,
    request: &mut Request,
) -> Result<(), ToolError> {
    let mut pairs = Vec::new();
    let mut cookies = Vec::new();
    for parameter in &operation.parameters {
        let value = match input.get(&parameter.input) {
            // A null where one is wanted stands for none.
            Some(Value::Null) => continue,
            Some(value) => value,
            None if parameter.required && parameter.place != Place::Path => {
                return Err(missing(&parameter.input));
            }
            None => continue,
        };
        match parameter.place {
            Place::Path => {}
            Place::Query => pairs.extend(query::pairs(&parameter.name, value, &parameter.written)),
            Place::Header => header::add(parameter, value, &mut request.headers)?,
            Place::Cookie => cookies.extend(header::cookies(parameter, value)),
        }
    }
    if !pairs.is_empty() {
        add_query(&query::joined(&pairs), &mut request.url);
    }
    for (name, value) in cookies {
        add_cookie(&name, &value, &mut request.headers)?;
    }
    Ok(())
}

/// What the document demands as `Accept` or `Content-Type`. Of a body that is sent it
/// may say more than its media type, and nothing else.
fn add_demanded(operation: &Operation, headers: &mut HeaderMap) {
    let essence = |value: &HeaderValue| {
        let essence = value.as_bytes().split(|byte| *byte == b';').next();
        essence
            .unwrap_or_default()
            .trim_ascii()
            .to_ascii_lowercase()
    };
    for (name, value) in &operation.headers {
        let own = headers.get(name).filter(|_| *name == CONTENT_TYPE);
        // Only we know what stands between the parts.
        let may_be_said = |own: &HeaderValue| {
            let own = essence(own);
            own == essence(value) && !own.starts_with(b"multipart/")
        };
        if own.is_none_or(may_be_said) {
            headers.insert(name.clone(), value.clone());
        }
    }
}

/// Both are encoded already.
fn add_query(more: &str, url: &mut Url) {
    let whole = match url.query().filter(|query| !query.is_empty()) {
        Some(query) => format!("{query}&{more}"),
        None => more.to_owned(),
    };
    url.set_query(Some(&whole));
}

/// One more in the one header that holds them all.
pub(super) fn add_cookie(
    name: &str,
    value: &str,
    headers: &mut HeaderMap,
) -> Result<(), ToolError> {
    let before = headers.get(COOKIE).and_then(|held| held.to_str().ok());
    let whole = match before {
        Some(before) => format!("{before}; {name}={value}"),
        None => format!("{name}={value}"),
    };
    let whole = header::value(&whole);
    let whole = whole.ok_or_else(|| ToolError::invalid_input("The cookies are too long."))?;
    headers.insert(COOKIE, whole);
    Ok(())
}

/// A value as a whole of a media type: JSON, but for plain text.
fn media(media_type: &str, value: &Value) -> String {
    match value {
        Value::String(text) if media_type.starts_with("text/") => text.clone(),
        value => value.to_string(),
    }
}

fn missing(input: &str) -> ToolError {
    ToolError::invalid_input(format!(
        "The input does not fit the tool's schema: `{input}` is missing."
    ))
}

/// What is sent may hold keys.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &self.url.host_str())
            .field("path", &self.url.path())
            .finish_non_exhaustive()
    }
}
