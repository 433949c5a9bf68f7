//! Headers and cookies of a request. Values are checked to be one line.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tenon_net::percent::PercentEncodeSet;
use tenon_text::line;

use super::style::StyleWriter;
use super::{BuildError, HeaderNameError, media};
use crate::operation::{OpenapiParameter, ParameterStyle, Serialization};

/// Hop-by-hop and framing headers: setting them could smuggle a second request, or address another
/// host.
const HOP_BY_HOP: [&str; 13] = [
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
pub(super) const MAX_VALUE_BYTES: usize = 32 * 1024;

pub(super) fn add(
    parameter: &OpenapiParameter,
    value: &Value,
    headers: &mut HeaderMap,
) -> Result<(), BuildError> {
    let serialized = match &parameter.serialization {
        Serialization::Styled { explode, .. } => StyleWriter {
            style: ParameterStyle::Simple,
            explode: *explode,
            keep: PercentEncodeSet::Everything,
        }
        .text(&parameter.name, value),
        Serialization::Media(media_type) => Some(media(media_type, value)),
    };
    let Some(serialized) = serialized else {
        return Ok(());
    };
    let name = name(&parameter.name)?;
    // The body sets its own content type.
    if name == http::header::CONTENT_TYPE {
        return Ok(());
    }
    let value = self::value(&serialized).ok_or_else(|| BuildError::InvalidHeaderValue {
        field: parameter.input.clone(),
        max_bytes: MAX_VALUE_BYTES,
    })?;
    headers.insert(name, value);
    Ok(())
}

/// A header that a document or a person may set.
pub fn name(text: &str) -> Result<HeaderName, HeaderNameError> {
    let shown = || line(text, 80);
    let name = HeaderName::from_bytes(text.as_bytes());
    let name = name.map_err(|_| HeaderNameError::Invalid(shown()))?;
    if HOP_BY_HOP.contains(&name.as_str()) {
        return Err(HeaderNameError::HopByHop(shown()));
    }
    Ok(name)
}

/// None for control characters and for values that are too long.
pub fn value(text: &str) -> Option<HeaderValue> {
    let fits = text.len() <= MAX_VALUE_BYTES && !text.chars().any(char::is_control);
    fits.then(|| HeaderValue::from_bytes(text.as_bytes()).ok())?
}

/// The names and values of a cookie parameter. Exploded, each is a cookie of its
/// own: nobody reads the `&` that RFC 6570 would put between them.
pub(super) fn cookies(parameter: &OpenapiParameter, value: &Value) -> Vec<(String, String)> {
    let (style, explode) = match &parameter.serialization {
        Serialization::Styled { explode, .. } => (ParameterStyle::Form, *explode),
        Serialization::Media(media_type) => {
            let whole = Value::String(media(media_type, value));
            return cookie(ParameterStyle::Form, false).pairs(&parameter.name, &whole);
        }
    };
    cookie(style, explode).pairs(&parameter.name, value)
}

fn cookie(style: ParameterStyle, explode: bool) -> StyleWriter {
    StyleWriter {
        style,
        explode,
        keep: PercentEncodeSet::Cookie,
    }
}
