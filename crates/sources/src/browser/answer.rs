//! What a page brought back, as a result.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tenon_domain::{ErrorKind, ToolError, ToolResult};

use super::wire::{Failure, FailureKind, Outcome};
use crate::mcp;
use crate::openapi::request::WireBody;
use crate::openapi::response;
use crate::text;

/// What a model is told of a page's own words.
const MAX_MESSAGE: usize = 2_000;

pub(super) fn read(outcome: Outcome) -> ToolResult {
    match outcome {
        Outcome::Failed { error } => Err(failed(error)),
        Outcome::Mcp {
            result: Value::Object(result),
        } => mcp::read_result(result),
        Outcome::Mcp { .. } => Err(ToolError::failed(
            "The server's answer is no result of a tool.",
        )),
        Outcome::Http {
            status,
            headers,
            body,
        } => {
            let status = StatusCode::from_u16(status);
            let status = status.map_err(|_| ToolError::failed("The answer has no status."))?;
            let body = match body {
                None => Vec::new(),
                Some(WireBody::Text { text }) => text.into_bytes(),
                Some(WireBody::Base64 { data }) => STANDARD
                    .decode(data)
                    .map_err(|_| ToolError::failed("The answer was not passed on whole."))?,
            };
            response::read(status, &read_headers(headers), body)
        }
    }
}

/// Those that are none are left out.
fn read_headers(headers: Vec<(String, String)>) -> HeaderMap {
    let readable = headers.into_iter().filter_map(|(name, value)| {
        let bytes: Result<Vec<u8>, _> = value.chars().map(u8::try_from).collect();
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let value = HeaderValue::from_bytes(&bytes.ok()?).ok()?;
        Some((name, value))
    });
    readable.collect()
}

fn failed(failure: Failure) -> ToolError {
    let message = text::block(&failure.message, MAX_MESSAGE);
    let kind = match failure.kind {
        FailureKind::Unreachable | FailureKind::Broken | FailureKind::Taken => {
            ErrorKind::Unavailable
        }
        FailureKind::Refused => ErrorKind::Denied,
        FailureKind::TimedOut => ErrorKind::TimedOut,
        FailureKind::Failed => ErrorKind::Failed,
    };
    let advice = match failure.kind {
        FailureKind::Refused => " Nothing was done. The user sees what to do about it under Tools.",
        // A page cannot tell a server that never got it from one that died over it.
        FailureKind::Unreachable => {
            " Most likely nothing was done. The user sees what to do about it under Tools."
        }
        FailureKind::TimedOut | FailureKind::Broken | FailureKind::Taken => {
            " Whether the call took effect is not known: check before repeating it."
        }
        FailureKind::Failed => "",
    };
    ToolError::new(kind, format!("{message}{advice}"))
}
