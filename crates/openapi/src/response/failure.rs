//! A response that is no success, in words a model can act on.

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::{Map, Value};
use tenon_net::html::{strip_non_text, text_between_tags, unescape};
use tenon_text as text;

use super::{MediaKind, decode, decode_page, header, kind, status_line};

/// Enough to see what is wrong; a model pays for every word of it.
const MAX_BODY_BYTES: usize = 4 * 1024;

/// Of a page that has no title.
const MAX_PAGE_BYTES: usize = 300;

/// An HTTP status that is no success; as text it is the status, what the body says, and
/// what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ResponseError {
    pub status: StatusCode,
    message: String,
}

impl ResponseError {
    pub(super) fn new(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let mut message = format!("HTTP {}", status_line(status));
        let body = body_text(&header(headers, CONTENT_TYPE), body);
        if body.is_empty() {
            message.push('.');
        } else {
            message.push_str(&format!(": {body}"));
        }
        let more = [
            key_advice(status).map(str::to_owned),
            redirect_note(status, headers),
            retry_advice(headers),
        ];
        for sentence in more.into_iter().flatten() {
            if !message.ends_with(['.', '!', '?', '…']) {
                message.push('.');
            }
            message.push_str(&format!(" {sentence}"));
        }
        Self { status, message }
    }
}

fn key_advice(status: StatusCode) -> Option<&'static str> {
    match status {
        StatusCode::UNAUTHORIZED => {
            Some("The key for this server is missing or wrong; asking again will not help.")
        }
        StatusCode::FORBIDDEN => Some(
            "The key for this server is missing or wrong, or does not allow this; asking again will not help.",
        ),
        _ => None,
    }
}

fn redirect_note(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    let location = text::line(&header(headers, LOCATION), 500);
    let leads = status.is_redirection() && !location.is_empty();
    leads.then(|| format!("It points to {location}, which was not followed."))
}

/// A number of seconds, or a date.
fn retry_advice(headers: &HeaderMap) -> Option<String> {
    let when = text::line(&header(headers, RETRY_AFTER), 60);
    match when.parse::<u64>() {
        _ if when.is_empty() => None,
        Ok(1) => Some("Try again in 1 second.".to_owned()),
        Ok(seconds) => Some(format!("Try again in {seconds} seconds.")),
        Err(_) => Some(format!("Try again after {when}.")),
    }
}

fn body_text(content_type: &str, body: &[u8]) -> String {
    if body.is_empty() {
        return String::new();
    }
    match kind(content_type, body) {
        MediaKind::Json => {
            let text = decode(content_type, body);
            match serde_json::from_str(&text) {
                Ok(value) => block(&json_text(&value)),
                Err(_) => block(&text),
            }
        }
        MediaKind::Page => page_text(&decode_page(content_type, body)),
        MediaKind::Text => {
            let text = decode(content_type, body);
            if looks_like_html(&text) {
                page_text(&text)
            } else {
                block(&text)
            }
        }
        MediaKind::Image(_) | MediaKind::File => format!("[{} bytes that are no text]", body.len()),
    }
}

/// As FastAPI and mcpo say it, or as it is.
fn json_text(value: &Value) -> String {
    let detail = match value {
        Value::Object(object) if object.len() == 1 => object.get("detail"),
        _ => None,
    };
    let sentence = match detail {
        Some(Value::String(detail)) => Some(detail.clone()),
        Some(Value::Object(detail)) => mcpo_message(detail),
        Some(Value::Array(errors)) => validation_errors(errors),
        _ => None,
    };
    sentence.unwrap_or_else(|| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    })
}

/// mcpo's `{"message": …, "error": …}`.
fn mcpo_message(detail: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| detail.get(name).and_then(Value::as_str);
    let message = text("message")?;
    if let Some(error) = text("error") {
        return Some(match python_dict_message(error) {
            Some(inner) => inner,
            None => format!("{message}: {error}"),
        });
    }
    match detail.get("data").filter(|data| !data.is_null()) {
        Some(data) => Some(format!("{message} ({data})")),
        None => Some(message.to_owned()),
    }
}

/// `500: {'message': "what the tool said"}`, which mcpo makes of its own error.
fn python_dict_message(error: &str) -> Option<String> {
    let (_, inner) = error.split_once(": {'message': ")?;
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = inner.strip_prefix(quote)?.strip_suffix('}')?;
    let inner = inner.strip_suffix(quote)?;
    let mut out = String::new();
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => {}
                Some(other @ ('\\' | '\'' | '"')) => out.push(other),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    Some(out)
}

/// FastAPI's list of what does not fit: "body.timezone: Field required".
fn validation_errors(errors: &[Value]) -> Option<String> {
    let sentence = |one: &Value| {
        let message = one.get("msg")?.as_str()?;
        let place = one.get("loc").and_then(Value::as_array);
        let step = |step: &Value| match step {
            Value::String(step) => step.clone(),
            step => step.to_string(),
        };
        let place: Vec<String> = place.into_iter().flatten().map(step).collect();
        Some(if place.is_empty() {
            message.to_owned()
        } else {
            format!("{}: {message}", place.join("."))
        })
    };
    let sentences: Option<Vec<String>> = errors.iter().map(sentence).collect();
    let sentences = sentences.filter(|sentences| !sentences.is_empty())?;
    Some(format!("the input does not fit. {}", sentences.join("; ")))
}

fn looks_like_html(text: &str) -> bool {
    let begin: String = text.trim_start().chars().take(14).collect();
    let begin = begin.to_ascii_lowercase();
    begin.starts_with("<!doctype html") || begin.starts_with("<html")
}

/// The title of a page, which is all that error pages say.
fn page_text(html: &str) -> String {
    // The same length in bytes, so that places in one are places in the other.
    let lower = html.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let begin = at + lower.get(at..)?.find('>')? + 1;
        let end = begin + lower.get(begin..)?.find("</title")?;
        html.get(begin..end)
    });
    let title = title.map(|title| page_line(&unescape(title)));
    title
        .filter(|title| !title.is_empty())
        .unwrap_or_else(|| page_line(&text_between_tags(&strip_non_text(html))))
}

fn page_line(text: &str) -> String {
    text::shorten_to_bytes(&text::line(text, MAX_PAGE_BYTES), MAX_PAGE_BYTES).into_owned()
}

fn block(text: &str) -> String {
    text::shorten_to_bytes(&text::block(text, MAX_BODY_BYTES), MAX_BODY_BYTES).into_owned()
}
