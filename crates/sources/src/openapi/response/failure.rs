//! An answer that is no success, in words a model can act on.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::{Map, Value};
use tenon_domain::ToolError;

use super::{Kind, decode, decode_page, header, kind, status_line};
use crate::html::{between_tags, unescape, without_what_is_not_text};
use crate::text;

/// Enough to see what is wrong; a model pays for every word of it.
const SHOWN: usize = 4 * 1024;

/// Of a page that has no title.
const SHOWN_OF_PAGE: usize = 300;

pub(super) fn tell(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ToolError {
    let mut said = format!("HTTP {}", status_line(status));
    let body = shown(&header(headers, CONTENT_TYPE), body);
    match body.is_empty() {
        true => said.push('.'),
        false => said.push_str(&format!(": {body}")),
    }
    let more = [
        key(status).map(str::to_owned),
        elsewhere(status, headers),
        later(headers),
    ];
    for sentence in more.into_iter().flatten() {
        if !said.ends_with(['.', '!', '?', '…']) {
            said.push('.');
        }
        said.push_str(&format!(" {sentence}"));
    }
    ToolError::failed(said)
}

fn key(status: StatusCode) -> Option<&'static str> {
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

fn elsewhere(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    let location = in_line(&header(headers, LOCATION), 500);
    let leads = status.is_redirection() && !location.is_empty();
    leads.then(|| format!("It points to {location}, which was not followed."))
}

/// A number of seconds, or a date.
fn later(headers: &HeaderMap) -> Option<String> {
    let when = in_line(&header(headers, RETRY_AFTER), 60);
    match when.parse::<u64>() {
        _ if when.is_empty() => None,
        Ok(1) => Some("Try again in 1 second.".to_owned()),
        Ok(seconds) => Some(format!("Try again in {seconds} seconds.")),
        Err(_) => Some(format!("Try again after {when}.")),
    }
}

fn shown(content_type: &str, body: &[u8]) -> String {
    if body.is_empty() {
        return String::new();
    }
    match kind(content_type, body) {
        Kind::Json => {
            let text = decode(content_type, body);
            match serde_json::from_str(&text) {
                Ok(value) => in_block(&of_json(&value)),
                Err(_) => in_block(&text),
            }
        }
        Kind::Page => of_page(&decode_page(content_type, body)),
        Kind::Text => {
            let text = decode(content_type, body);
            match looks_like_html(&text) {
                true => of_page(&text),
                false => in_block(&text),
            }
        }
        Kind::Image(_) | Kind::File => format!("[{} bytes that are no text]", body.len()),
    }
}

/// As FastAPI and mcpo say it, or as it is.
fn of_json(value: &Value) -> String {
    let detail = match value {
        Value::Object(object) if object.len() == 1 => object.get("detail"),
        _ => None,
    };
    let sentence = match detail {
        Some(Value::String(detail)) => Some(detail.clone()),
        Some(Value::Object(detail)) => of_message(detail),
        Some(Value::Array(wrong)) => of_validation(wrong),
        _ => None,
    };
    sentence.unwrap_or_else(|| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    })
}

/// mcpo's `{"message": …, "error": …}`.
fn of_message(detail: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| detail.get(name).and_then(Value::as_str);
    let message = text("message")?;
    if let Some(error) = text("error") {
        return Some(match of_python(error) {
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
fn of_python(error: &str) -> Option<String> {
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
fn of_validation(wrong: &[Value]) -> Option<String> {
    let sentence = |one: &Value| {
        let message = one.get("msg")?.as_str()?;
        let place = one.get("loc").and_then(Value::as_array);
        let step = |step: &Value| match step {
            Value::String(step) => step.clone(),
            step => step.to_string(),
        };
        let place: Vec<String> = place.into_iter().flatten().map(step).collect();
        Some(match place.is_empty() {
            true => message.to_owned(),
            false => format!("{}: {message}", place.join(".")),
        })
    };
    let sentences: Option<Vec<String>> = wrong.iter().map(sentence).collect();
    let sentences = sentences.filter(|sentences| !sentences.is_empty())?;
    Some(format!("the input does not fit. {}", sentences.join("; ")))
}

fn looks_like_html(text: &str) -> bool {
    let begin: String = text.trim_start().chars().take(14).collect();
    let begin = begin.to_ascii_lowercase();
    begin.starts_with("<!doctype html") || begin.starts_with("<html")
}

/// The title of a page, which is all that error pages say.
fn of_page(html: &str) -> String {
    // The same length in bytes, so that places in one are places in the other.
    let lower = html.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let begin = at + lower.get(at..)?.find('>')? + 1;
        let end = begin + lower.get(begin..)?.find("</title")?;
        html.get(begin..end)
    });
    let title = title.map(|title| in_line(&unescape(title), SHOWN_OF_PAGE));
    title.filter(|title| !title.is_empty()).unwrap_or_else(|| {
        let text = between_tags(&without_what_is_not_text(html));
        in_line(&text, SHOWN_OF_PAGE)
    })
}

fn in_line(text: &str, longest: usize) -> String {
    within(text::line(text, longest), longest)
}

fn in_block(text: &str) -> String {
    within(text::block(text, SHOWN), SHOWN)
}

/// No longer than so many bytes: what is not Latin has fewer characters in them.
fn within(text: String, longest: usize) -> String {
    // The mark that something was cut off comes on top.
    match text.len() <= longest + '…'.len_utf8() {
        true => text,
        false => format!("{}…", &text[..text.floor_char_boundary(longest)]),
    }
}
