//! Builds the HTTP request that calls an operation, from its input.
//!
//! Nothing is sent here: a server can send the request as well as a browser. An input
//! can change neither the host of a request nor smuggle a second one into it.

mod body;
mod error;
mod file;
pub mod header;
mod multipart;
mod path;
mod query;
mod style;
#[cfg(test)]
mod tests;

use std::fmt;

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

use crate::operation::{Operation, ParameterLocation};
pub use error::{BuildError, HeaderNameError, ServerUrlError, ServerUrlProblem};
use tenon_net::media_type::essence;
use tenon_text::line;

/// Servers and what stands before them refuse far shorter ones.
const MAX_URL_BYTES: usize = 64 * 1024;

/// What a model can read comes first.
const DEFAULT_ACCEPT: &str = "application/json, text/*;q=0.9, image/*;q=0.8, */*;q=0.5";

/// A request that is ready to be sent.
#[derive(Clone, PartialEq)]
pub struct OpenapiRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
}

/// Builds the request of one call. `base` is the URL of the document.
pub fn build(
    operation: &Operation,
    base: &Url,
    input: &Value,
) -> Result<OpenapiRequest, BuildError> {
    let server = operation.servers.first().map_or("/", String::as_str);
    build_at(operation, server_url(server, base)?, input)
}

/// The same with a [`server_url`] that is known already.
pub fn build_at(
    operation: &Operation,
    server: Url,
    input: &Value,
) -> Result<OpenapiRequest, BuildError> {
    let Value::Object(input) = input else {
        return Err(BuildError::NotAnObject);
    };
    let mut request = OpenapiRequest {
        method: operation.method.clone(),
        url: server,
        headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(DEFAULT_ACCEPT))]),
        body: None,
    };
    add_path(operation, input, &mut request.url)?;
    add_parameters(operation, input, &mut request)?;
    if let Some(body) = body::encode(operation, input)? {
        request.headers.insert(CONTENT_TYPE, body.media_type);
        request.body = Some(body.bytes);
    }
    add_fixed_headers(operation, &mut request.headers);
    if request.url.as_str().len() > MAX_URL_BYTES {
        return Err(BuildError::UrlTooLong {
            max_bytes: MAX_URL_BYTES,
        });
    }
    Ok(request)
}

/// The URL of a server that a document names; relative ones are relative to `base`, the
/// URL of the document.
pub fn server_url(server: &str, base: &Url) -> Result<Url, ServerUrlError> {
    let error = |problem: ServerUrlProblem| ServerUrlError {
        server: line(server, 200),
        problem,
    };
    if server.contains(['{', '}']) {
        return Err(error(ServerUrlProblem::UnknownVariable));
    }
    // An empty server URL is meant as the root, although RFC 3986 resolves it to the document.
    let server = match server.trim() {
        "" => "/",
        server => server,
    };
    let mut url = base.join(server).map_err(|invalid| error(invalid.into()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(error(ServerUrlProblem::Scheme));
    }
    url.set_fragment(None);
    Ok(url)
}

fn add_path(
    operation: &Operation,
    input: &Map<String, Value>,
    url: &mut Url,
) -> Result<(), BuildError> {
    let filled = path::fill(operation, input)?;
    if !filled.path.is_empty() {
        let before = url.path().trim_end_matches('/');
        let slash = if filled.path.starts_with('/') {
            ""
        } else {
            "/"
        };
        let whole = format!("{before}{slash}{}", filled.path);
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
    request: &mut OpenapiRequest,
) -> Result<(), BuildError> {
    let mut pairs = Vec::new();
    let mut cookies = Vec::new();
    for parameter in &operation.parameters {
        let value = match input.get(&parameter.input) {
            // A null where one is wanted stands for none.
            Some(Value::Null) => continue,
            Some(value) => value,
            None if parameter.required && parameter.location != ParameterLocation::Path => {
                return Err(missing(&parameter.input));
            }
            None => continue,
        };
        match parameter.location {
            ParameterLocation::Path => {}
            ParameterLocation::Query => pairs.extend(query::pairs(
                &parameter.name,
                value,
                &parameter.serialization,
            )),
            ParameterLocation::Header => header::add(parameter, value, &mut request.headers)?,
            ParameterLocation::Cookie => cookies.extend(header::cookies(parameter, value)),
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

/// The `Accept` or `Content-Type` that the document requires. A `Content-Type` may add
/// parameters to the media type of the body, but not replace it.
fn add_fixed_headers(operation: &Operation, headers: &mut HeaderMap) {
    let essence = |value: &HeaderValue| essence(&String::from_utf8_lossy(value.as_bytes()));
    for (name, value) in &operation.headers {
        let own = headers.get(name).filter(|_| *name == CONTENT_TYPE);
        // The boundary of a multipart body is ours.
        let may_replace = |own: &HeaderValue| {
            let own = essence(own);
            own == essence(value) && !own.starts_with("multipart/")
        };
        if own.is_none_or(may_replace) {
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
pub(crate) fn add_cookie(
    name: &str,
    value: &str,
    headers: &mut HeaderMap,
) -> Result<(), BuildError> {
    let before = headers
        .get(COOKIE)
        .and_then(|cookies| cookies.to_str().ok());
    let whole = match before {
        Some(before) => format!("{before}; {name}={value}"),
        None => format!("{name}={value}"),
    };
    let whole = header::value(&whole);
    let whole = whole.ok_or(BuildError::CookiesTooLong)?;
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

fn missing(input: &str) -> BuildError {
    BuildError::Missing(input.to_owned())
}

/// Omits values, which may be keys.
impl fmt::Debug for OpenapiRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenapiRequest")
            .field("method", &self.method)
            .field("host", &self.url.host_str())
            .field("path", &self.url.path())
            .finish_non_exhaustive()
    }
}
