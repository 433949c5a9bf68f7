//! What a server answered, as a result.
//!
//! What a model can read becomes text or JSON, pictures become pictures, and
//! everything else a file that is kept aside. A page that its server wants shown
//! is both: a file for people, and its text for the model. What is no success
//! says why.

mod disposition;
mod failure;
mod page;
#[cfg(test)]
mod tests;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::{Encoding, UTF_8};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED, LOCATION};
use serde_json::Value;
use tenon_domain::{Content, ToolOutput, ToolResult};

use super::request::picture;
use crate::html;

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Makes a result of an answer.
pub fn read(status: StatusCode, headers: &HeaderMap, body: Vec<u8>) -> ToolResult {
    if !status.is_success() {
        return Err(failure::tell(status, headers, &body));
    }
    if body.is_empty() {
        return Ok(ToolOutput::text(nothing(status, headers)));
    }
    let content_type = header(headers, CONTENT_TYPE);
    let content = match kind(&content_type, &body) {
        Kind::Json => match serde_json::from_str(&decode(&content_type, &body)) {
            Ok(value) => of_json(value),
            // It says so and is not.
            Err(_) => vec![text(&content_type, &body)],
        },
        Kind::Text => vec![text(&content_type, &body)],
        Kind::Page if disposition::is_inline(headers) => page::shown(
            &decode_page(&content_type, &body),
            disposition::name(headers),
        ),
        Kind::Page => vec![text(&content_type, &body)],
        Kind::Image(media_type) => vec![Content::Image {
            media_type: media_type.to_owned(),
            data: STANDARD.encode(&body),
        }],
        Kind::File => vec![Content::File {
            media_type: match media_type(&content_type) {
                none if none.is_empty() => "application/octet-stream".to_owned(),
                media_type => media_type,
            },
            name: disposition::name(headers),
            data: STANDARD.encode(&body),
        }],
    };
    Ok(ToolOutput { content })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Text,
    /// HTML, to be read or to be shown.
    Page,
    /// One that models can see, and its type.
    Image(&'static str),
    File,
}

fn kind(content_type: &str, body: &[u8]) -> Kind {
    let media_type = media_type(content_type);
    match media_type.as_str() {
        "application/json" | "text/json" => Kind::Json,
        json if json.ends_with("+json") => Kind::Json,
        "text/html" | "application/xhtml+xml" => Kind::Page,
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
        | "application/x-www-form-urlencoded" => Kind::Text,
        text if text.starts_with("text/") || text.ends_with("+xml") || text.ends_with("+yaml") => {
            Kind::Text
        }
        // Servers that do not know say one of these.
        "" | "application/octet-stream" | "binary/octet-stream" => guess(body),
        // What claims to be a picture and is none would make a model refuse the whole chat.
        image if image.starts_with("image/") => picture(body).map_or(Kind::File, Kind::Image),
        _ => Kind::File,
    }
}

fn guess(body: &[u8]) -> Kind {
    if let Some(media_type) = picture(body) {
        return Kind::Image(media_type);
    }
    let is_text = |text: &str| {
        let unusual = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        !text.chars().any(unusual)
    };
    match std::str::from_utf8(body) {
        Ok(text) if is_text(text) => {
            let is_json = matches!(text.trim_start().chars().next(), Some('{' | '['))
                && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            match is_json {
                true => Kind::Json,
                false => Kind::Text,
            }
        }
        _ => Kind::File,
    }
}

/// A text alone is told as one, and what is written as a `data:` URL is what it
/// holds: mcpo has no other way to give a picture.
fn of_json(value: Value) -> Vec<Content> {
    match value {
        Value::String(text) => vec![of_string(text)],
        Value::Array(members) if members.iter().any(is_data) => {
            let member = |member| match member {
                Value::String(text) => of_string(text),
                value => Content::Json { value },
            };
            members.into_iter().map(member).collect()
        }
        value => vec![Content::Json { value }],
    }
}

fn is_data(value: &Value) -> bool {
    value.as_str().is_some_and(|text| data(text).is_some())
}

fn of_string(text: String) -> Content {
    match data(&text) {
        Some(content) => content,
        None => Content::Text { text },
    }
}

/// "data:image/png;base64,…"
fn data(text: &str) -> Option<Content> {
    let (head, data) = text.strip_prefix("data:")?.split_once(',')?;
    let media_type = media_type(head.strip_suffix(";base64")?);
    let bytes = STANDARD.decode(data.trim()).ok()?;
    let data = || STANDARD.encode(&bytes);
    match (media_type.starts_with("image/"), picture(&bytes)) {
        (true, Some(media_type)) => Some(Content::Image {
            media_type: media_type.to_owned(),
            data: data(),
        }),
        _ if bytes.is_empty() || !media_type.contains('/') => None,
        _ => Some(Content::File {
            data: data(),
            media_type,
            name: None,
        }),
    }
}

fn text(content_type: &str, body: &[u8]) -> Content {
    Content::Text {
        text: decode(content_type, body),
    }
}

/// As its mark or its server says, or else as UTF-8.
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

/// "text/html; charset=GBK" → "text/html".
fn media_type(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// A header as text; empty where there is none.
fn header(headers: &HeaderMap, name: HeaderName) -> String {
    let value = headers.get(name).map(|value| value.as_bytes());
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

/// "HTTP 201 Created, no content. location: /pets/7"
fn nothing(status: StatusCode, headers: &HeaderMap) -> String {
    let mut said = format!("HTTP {}, no content.", status_line(status));
    // What a body would have been about.
    for name in [LOCATION, ETAG, LAST_MODIFIED] {
        let value = header(headers, name.clone());
        if !value.is_empty() {
            said.push_str(&format!(" {name}: {value}"));
        }
    }
    said
}

/// "404 Not Found"
fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        // "No content" twice helps nobody.
        None | Some("No Content") => status.as_u16().to_string(),
        Some(reason) => format!("{} {reason}", status.as_u16()),
    }
}
