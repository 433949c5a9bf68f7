//! Reads a response as content: text, JSON, images, files, and HTML pages that are meant to
//! be displayed. A status that is no success becomes a [`ResponseError`] that says why.

mod disposition;
mod failure;
#[cfg(test)]
mod tests;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::{Encoding, UTF_8};
use http::StatusCode;
use http::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED, LOCATION};
use serde_json::Value;
use tenon_net::html;
use tenon_net::media_type::essence;

use tenon_net::media_type::image_type;

pub use failure::ResponseError;

/// A response with its whole body.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenapiResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// One piece of what a response says. Bytes are base64, as models and browsers take them.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseContent {
    Text(String),
    Json(Value),
    /// Of a type that models can see.
    Image {
        media_type: &'static str,
        data: String,
    },
    File {
        media_type: String,
        name: Option<String>,
        data: String,
    },
    /// An HTML page with `Content-Disposition: inline`: its server wants it displayed.
    InlinePage {
        html: String,
        name: Option<String>,
    },
}

/// Reads a response. A body of some megabytes takes milliseconds.
pub fn read(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Vec<ResponseContent>, ResponseError> {
    if !status.is_success() {
        return Err(ResponseError::new(status, headers, body));
    }
    if body.is_empty() {
        return Ok(vec![ResponseContent::Text(no_content(status, headers))]);
    }
    let content_type = header(headers, CONTENT_TYPE);
    Ok(match kind(&content_type, body) {
        MediaKind::Json => match serde_json::from_str(&decode(&content_type, body)) {
            Ok(value) => json_content(value),
            // Its media type is wrong.
            Err(_) => vec![text(&content_type, body)],
        },
        MediaKind::Text => vec![text(&content_type, body)],
        MediaKind::Page if disposition::is_inline(headers) => vec![ResponseContent::InlinePage {
            html: decode_page(&content_type, body),
            name: disposition::name(headers),
        }],
        MediaKind::Page => vec![text(&content_type, body)],
        MediaKind::Image(media_type) => vec![ResponseContent::Image {
            media_type,
            data: STANDARD.encode(body),
        }],
        MediaKind::File => vec![ResponseContent::File {
            media_type: match essence(&content_type) {
                none if none.is_empty() => "application/octet-stream".to_owned(),
                media_type => media_type,
            },
            name: disposition::name(headers),
            data: STANDARD.encode(body),
        }],
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MediaKind {
    Json,
    Text,
    /// HTML, to be read or to be shown.
    Page,
    /// One that models can see, and its type.
    Image(&'static str),
    File,
}

fn kind(content_type: &str, body: &[u8]) -> MediaKind {
    let media_type = essence(content_type);
    match media_type.as_str() {
        "application/json" | "text/json" => MediaKind::Json,
        json if json.ends_with("+json") => MediaKind::Json,
        "text/html" | "application/xhtml+xml" => MediaKind::Page,
        "application/xml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/javascript"
        | "application/x-javascript"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/json-seq"
        | "application/graphql"
        | "application/sql"
        | "application/x-sh"
        | "application/x-www-form-urlencoded" => MediaKind::Text,
        text if text.starts_with("text/") || text.ends_with("+xml") || text.ends_with("+yaml") => {
            MediaKind::Text
        }
        // Servers that do not know say one of these.
        "" | "application/octet-stream" | "binary/octet-stream" => guess(body),
        // What claims to be a picture and is none would make a model refuse the whole chat.
        image if image.starts_with("image/") => {
            image_type(body).map_or(MediaKind::File, MediaKind::Image)
        }
        _ => MediaKind::File,
    }
}

fn guess(body: &[u8]) -> MediaKind {
    if let Some(media_type) = image_type(body) {
        return MediaKind::Image(media_type);
    }
    let is_text = |text: &str| {
        let unusual = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        !text.chars().any(unusual)
    };
    match std::str::from_utf8(body) {
        Ok(text) if is_text(text) => {
            let is_json = matches!(text.trim_start().chars().next(), Some('{' | '['))
                && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            if is_json {
                MediaKind::Json
            } else {
                MediaKind::Text
            }
        }
        _ => MediaKind::File,
    }
}

/// A string alone is text, and a `data:` URL is what it holds: mcpo has no other way to
/// return an image.
fn json_content(value: Value) -> Vec<ResponseContent> {
    match value {
        Value::String(text) => vec![string_content(text)],
        Value::Array(members) if members.iter().any(is_data_url) => {
            let member = |member| match member {
                Value::String(text) => string_content(text),
                value => ResponseContent::Json(value),
            };
            members.into_iter().map(member).collect()
        }
        value => vec![ResponseContent::Json(value)],
    }
}

fn is_data_url(value: &Value) -> bool {
    value.as_str().is_some_and(|text| data_url(text).is_some())
}

fn string_content(text: String) -> ResponseContent {
    data_url(&text).unwrap_or(ResponseContent::Text(text))
}

/// "data:image/png;base64,…"
fn data_url(text: &str) -> Option<ResponseContent> {
    let (head, data) = text.strip_prefix("data:")?.split_once(',')?;
    let media_type = essence(head.strip_suffix(";base64")?);
    let bytes = STANDARD.decode(data.trim()).ok()?;
    let data = || STANDARD.encode(&bytes);
    match (media_type.starts_with("image/"), image_type(&bytes)) {
        (true, Some(media_type)) => Some(ResponseContent::Image {
            media_type,
            data: data(),
        }),
        _ if bytes.is_empty() || !media_type.contains('/') => None,
        _ => Some(ResponseContent::File {
            data: data(),
            media_type,
            name: None,
        }),
    }
}

fn text(content_type: &str, body: &[u8]) -> ResponseContent {
    ResponseContent::Text(decode(content_type, body))
}

/// Decodes text by byte order mark, then by charset, then as UTF-8.
fn decode(content_type: &str, body: &[u8]) -> String {
    let (text, _, _) = charset(content_type).unwrap_or(UTF_8).decode(body);
    text.into_owned()
}

/// The same, where the page itself may say it too.
fn decode_page(content_type: &str, body: &[u8]) -> String {
    let named = charset(content_type).or_else(|| html::charset(body));
    let (text, _, _) = named.unwrap_or(UTF_8).decode(body);
    text.into_owned()
}

fn charset(content_type: &str) -> Option<&'static Encoding> {
    content_type.split(';').skip(1).find_map(|piece| {
        let (key, value) = piece.split_once('=')?;
        let is_charset = key.trim().eq_ignore_ascii_case("charset");
        let label = value.trim().trim_matches('"');
        is_charset.then(|| Encoding::for_label(label.as_bytes()))?
    })
}

/// A header as text; empty where there is none.
fn header(headers: &HeaderMap, name: HeaderName) -> String {
    let value = headers.get(name).map(|value| value.as_bytes());
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

/// "HTTP 201 Created, no content. location: /pets/7"
fn no_content(status: StatusCode, headers: &HeaderMap) -> String {
    let mut text = format!("HTTP {}, no content.", status_line(status));
    // What a body would have been about.
    for name in [LOCATION, ETAG, LAST_MODIFIED] {
        let value = header(headers, name.clone());
        if !value.is_empty() {
            text.push_str(&format!(" {name}: {value}"));
        }
    }
    text
}

/// "404 Not Found"
fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        // "No content" twice helps nobody.
        None | Some("No Content") => status.as_u16().to_string(),
        Some(reason) => format!("{} {reason}", status.as_u16()),
    }
}
