//! Converts a fetched page into text for a model.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::UTF_8;
use serde::de::IgnoredAny;
use tenon_domain::{Content, ToolError, ToolOutput, ToolResult};
use tenon_net::html;
use tenon_net::media_type::essence;
use tenon_tools::CallContext;

use super::fetch::{FetchedPage, MAX_BODY_BYTES};
use crate::builtin::blocking::blocking;
use crate::html::to_text;

/// Enough of an error page to see what is wrong.
const SHOWN_OF_ERROR: usize = 2000;

/// Indenting a larger document would multiply it; it is shown as it came.
const MAX_INDENTED_BYTES: usize = 256 * 1024;

/// Deeper than this, indenting helps nobody and only adds spaces.
const MAX_INDENT: usize = 30;

/// What a page begins with stands this near its beginning.
const START: usize = 1024;

pub(super) async fn into_output(fetched: FetchedPage, context: &CallContext) -> ToolResult {
    let (status, url, redirected) = (fetched.status, fetched.url.clone(), fetched.redirected);
    let mut output = blocking(context, move |_| Ok(render(&fetched))).await?;
    if status.is_client_error() || status.is_server_error() {
        let text: String = output
            .to_text()
            .trim()
            .chars()
            .take(SHOWN_OF_ERROR)
            .collect();
        return Err(ToolError::failed(format!(
            "{url} answered {status}: {text}"
        )));
    }
    // Redirects were followed before, so a remaining one leads to no web address.
    if status.is_redirection() {
        return Err(ToolError::failed(format!(
            "{url} answered {status} and leads nowhere that can be fetched."
        )));
    }
    if redirected {
        output.content.insert(
            0,
            Content::Text {
                text: format!("[redirected to {url}]"),
            },
        );
    }
    Ok(output)
}

enum PageKind {
    Html,
    Json,
    Text,
    Image,
    Binary,
}

fn render(fetched: &FetchedPage) -> ToolOutput {
    let FetchedPage {
        url,
        content_type,
        body,
        cut,
        ..
    } = fetched;
    let media_type = essence(content_type);
    if body.is_empty() {
        return ToolOutput::text("[the answer is empty]");
    }
    let text = match kind(&media_type, body) {
        PageKind::Image if !cut => {
            let data = STANDARD.encode(body);
            return ToolOutput {
                content: vec![Content::Image { media_type, data }],
            };
        }
        PageKind::Image | PageKind::Binary => {
            return ToolOutput::text(describe(&media_type, body.len(), *cut));
        }
        PageKind::Html => to_text(&decode(content_type, body), Some(url)),
        PageKind::Json => indent(decode(content_type, body)),
        PageKind::Text => decode(content_type, body),
    };
    let mut output = ToolOutput::text(text);
    if *cut {
        // The note comes first, because the end of a long text may not be shown.
        let note = format!("[cut: only the first {MAX_BODY_BYTES} bytes were read]");
        output.content.insert(0, Content::Text { text: note });
    }
    output
}

fn kind(media_type: &str, body: &[u8]) -> PageKind {
    match media_type {
        "text/html" | "application/xhtml+xml" => PageKind::Html,
        "application/json" => PageKind::Json,
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => PageKind::Image,
        "application/xml"
        | "application/javascript"
        | "application/yaml"
        | "application/toml"
        | "application/x-ndjson"
        | "application/x-sh"
        | "application/sql"
        | "image/svg+xml" => PageKind::Text,
        json if json.ends_with("+json") => PageKind::Json,
        xml if xml.ends_with("+xml") => PageKind::Text,
        text if text.starts_with("text/") => PageKind::Text,
        // Servers that do not know say one of these.
        "" | "application/octet-stream" => guess(body),
        _ => PageKind::Binary,
    }
}

fn guess(body: &[u8]) -> PageKind {
    let start = body[..body.len().min(START)]
        .trim_ascii_start()
        .to_ascii_lowercase();
    if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        PageKind::Html
    } else if !body.contains(&0) && std::str::from_utf8(body).is_ok() {
        PageKind::Text
    } else {
        PageKind::Binary
    }
}

fn describe(media_type: &str, bytes: usize, cut: bool) -> String {
    let media_type = if media_type.is_empty() {
        "unknown type"
    } else {
        media_type
    };
    let more_than = if cut { "more than " } else { "" };
    format!("[{more_than}{bytes} bytes of {media_type}: not text, so not shown]")
}

fn decode(content_type: &str, body: &[u8]) -> String {
    let named = html::charset(content_type.as_bytes()).or_else(|| html::charset(body));
    let encoding = named.unwrap_or(UTF_8);
    // A byte order mark overrides the declared charset.
    let (text, used, wrong) = encoding.decode(body);
    if !wrong {
        return text.into_owned();
    }
    format!(
        "[not valid {}: what could not be read is shown as \u{FFFD}]\n{text}",
        used.name()
    )
}

/// Indents JSON without changing the order of keys or the digits of numbers. Other text is returned
/// as it is.
fn indent(text: String) -> String {
    if text.len() > MAX_INDENTED_BYTES || serde_json::from_str::<IgnoredAny>(&text).is_err() {
        return text;
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0;
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth.min(MAX_INDENT)));
    };
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                out.push(char);
                while let Some(inside) = chars.next() {
                    out.push(inside);
                    match inside {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                out.push(char);
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                // Nothing inside: {} and [] stay on their line.
                if let Some(close) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(char);
            }
            ',' => {
                out.push(char);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use url::Url;

    use super::*;

    #[track_caller]
    fn check(content_type: &str, body: &[u8], expected: &str) {
        let fetched = FetchedPage {
            url: Url::parse("https://example.com/a/").unwrap(),
            redirected: false,
            status: StatusCode::OK,
            content_type: content_type.into(),
            body: body.into(),
            cut: false,
        };
        assert_eq!(render(&fetched).to_text(), expected, "{content_type}");
    }

    #[test]
    fn text_is_shown_in_whatever_encoding_it_came() {
        check("text/plain", "grüß dich".as_bytes(), "grüß dich");
        check(
            "text/plain; charset=iso-8859-1",
            b"gr\xfc\xdf dich",
            "grüß dich",
        );
        check("text/plain; charset=\"GBK\"", b"\xc4\xe3\xba\xc3", "你好");
        check("text/plain; charset=big5", b"\xa7\x41\xa6\x6e", "你好");
        check("text/plain; charset=klingon", "你好".as_bytes(), "你好");
        check("text/plain", b"\xef\xbb\xbfhi", "hi");
        check(
            "text/plain",
            b"a\xffb",
            "[not valid UTF-8: what could not be read is shown as \u{FFFD}]\na\u{FFFD}b",
        );
        check(
            "text/html",
            b"<meta charset=gbk><p>\xc4\xe3\xba\xc3</p>",
            "你好\n",
        );
        check("", b"hello", "hello");
        check("", b"<!DOCTYPE html><p>hello</p>", "hello\n");
        check("image/svg+xml", b"<svg/>", "<svg/>");
    }

    #[test]
    fn what_is_not_text_is_described() {
        check(
            "application/zip",
            b"PK\x03\x04",
            "[4 bytes of application/zip: not text, so not shown]",
        );
        check(
            "",
            b"\x00\x01",
            "[2 bytes of unknown type: not text, so not shown]",
        );
        check("image/png", b"\x89PNG", "[image, image/png, 6 bytes]");
        check("text/plain", b"", "[the answer is empty]");
    }

    #[test]
    fn json_is_indented_and_otherwise_left_alone() {
        check(
            "application/json",
            br#"{"z":1,"a":[1.10, 123456789012345678901234567890],"s":"a,b:{\"}","e":{},"f":[ ]}"#,
            "{\n  \"z\": 1,\n  \"a\": [\n    1.10,\n    123456789012345678901234567890\n  ],\n  \
             \"s\": \"a,b:{\\\"}\",\n  \"e\": {},\n  \"f\": []\n}",
        );
        check("application/problem+json", b"[1]", "[\n  1\n]");
        check("application/json", b"{broken", "{broken");
        let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(
            indent(deep).len() < 100_000 * 62,
            "depth must not multiply a document"
        );
    }
}
