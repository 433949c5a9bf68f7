//! Headers and cookies of a request. What is written into a header stays one line.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tenon_domain::ToolError;

use super::media;
use super::style::Manner;
use crate::openapi::operation::{Parameter, Style, Written};
use crate::text::line;
use tenon_net::percent::Keep;

/// What belongs to the connection and not to who asks: whoever could set these
/// could make a server see two requests in one, or another host.
const OF_THE_CONNECTION: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
];

/// Servers refuse longer ones, most of them far shorter ones.
const MAX_LENGTH: usize = 32 * 1024;

pub(super) fn add(
    parameter: &Parameter,
    value: &Value,
    headers: &mut HeaderMap,
) -> Result<(), ToolError> {
    let written = match &parameter.written {
        Written::As { explode, .. } => Manner {
            style: Style::Simple,
            explode: *explode,
            keep: Keep::Everything,
        }
        .text(&parameter.name, value),
        Written::Media(media_type) => Some(media(media_type, value)),
    };
    let Some(written) = written else {
        return Ok(());
    };
    let name = name(&parameter.name)?;
    // A body says itself what it is.
    if name == reqwest::header::CONTENT_TYPE {
        return Ok(());
    }
    let value = self::value(&written).ok_or_else(|| {
        ToolError::invalid_input(format!(
            "`{}` goes into a header: it must be one line without control characters, of at most {MAX_LENGTH} bytes.",
            parameter.input
        ))
    })?;
    headers.insert(name, value);
    Ok(())
}

/// A header that may be set by a document or a person.
pub(crate) fn name(text: &str) -> Result<HeaderName, ToolError> {
    let refused = |why: &str| {
        ToolError::failed(format!(
            "This tool cannot be called with the header `{}`: {why}.",
            line(text, 80)
        ))
    };
    let name = HeaderName::from_bytes(text.as_bytes());
    let name = name.map_err(|_| refused("that is no name of a header"))?;
    match OF_THE_CONNECTION.contains(&name.as_str()) {
        true => Err(refused("it belongs to the connection")),
        false => Ok(name),
    }
}

/// None for what cannot stand in one line.
pub(crate) fn value(text: &str) -> Option<HeaderValue> {
    let fits = text.len() <= MAX_LENGTH && !text.chars().any(char::is_control);
    fits.then(|| HeaderValue::from_bytes(text.as_bytes()).ok())?
}

/// The names and values of a cookie parameter. Exploded, each is a cookie of its
/// own: nobody reads the `&` that RFC 6570 would put between them.
pub(super) fn cookies(parameter: &Parameter, value: &Value) -> Vec<(String, String)> {
    let (style, explode) = match &parameter.written {
        Written::As { explode, .. } => (Style::Form, *explode),
        Written::Media(media_type) => {
            let whole = Value::String(media(media_type, value));
            return cookie(Style::Form, false).pairs(&parameter.name, &whole);
        }
    };
    cookie(style, explode).pairs(&parameter.name, value)
}

fn cookie(style: Style, explode: bool) -> Manner {
    Manner {
        style,
        explode,
        keep: Keep::Cookie,
    }
}
