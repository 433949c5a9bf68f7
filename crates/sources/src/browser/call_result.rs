//! Converts the result of a call that a page made into a `ToolResult`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tenon_domain::{ErrorKind, ToolError, ToolResult};
use tenon_openapi::response;

use super::wire::{LocalCallFailure, LocalCallOutcome, LocalFailureKind};
use super::wire_request::WireBody;
use crate::call_error::{self, ServerCallError};
use crate::mcp;
use crate::openapi::mapping::tool_result;
use tenon_domain::text;

/// Limit of an error message from a page, as passed on to the model.
const MAX_MESSAGE_CHARS: usize = 2_000;

pub(super) fn read(outcome: LocalCallOutcome) -> ToolResult {
    match outcome {
        LocalCallOutcome::Failed { error } => Err(failed(error)),
        LocalCallOutcome::Mcp {
            result: Value::Object(result),
        } => mcp::read_result(result),
        LocalCallOutcome::Mcp { .. } => Err(call_error::failed(ServerCallError::NotAResult)),
        LocalCallOutcome::Http {
            status,
            headers,
            body,
        } => {
            let status = StatusCode::from_u16(status);
            let status = status.map_err(|_| call_error::failed(ServerCallError::NoStatus))?;
            let body = match body {
                None => Vec::new(),
                Some(WireBody::Text { text }) => text.into_bytes(),
                Some(WireBody::Base64 { data }) => STANDARD
                    .decode(data)
                    .map_err(|_| call_error::failed(ServerCallError::Incomplete))?,
            };
            tool_result(response::read(status, &read_headers(headers), &body))
        }
    }
}

/// Parses header pairs from a page; invalid ones are skipped.
fn read_headers(headers: Vec<(String, String)>) -> HeaderMap {
    let readable = headers.into_iter().filter_map(|(name, value)| {
        let bytes: Result<Vec<u8>, _> = value.chars().map(u8::try_from).collect();
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let value = HeaderValue::from_bytes(&bytes.ok()?).ok()?;
        Some((name, value))
    });
    readable.collect()
}

fn failed(failure: LocalCallFailure) -> ToolError {
    let said = text::block(&failure.message, MAX_MESSAGE_CHARS);
    let kind = match failure.kind {
        LocalFailureKind::Unreachable | LocalFailureKind::Broken | LocalFailureKind::Taken => {
            ErrorKind::Unavailable
        }
        LocalFailureKind::Refused => ErrorKind::Denied,
        LocalFailureKind::TimedOut => ErrorKind::TimedOut,
        LocalFailureKind::Failed => ErrorKind::Failed,
    };
    let error = match failure.kind {
        LocalFailureKind::Failed => return ToolError::new(kind, said),
        LocalFailureKind::Refused => ServerCallError::RefusedByPage { said: said.into() },
        LocalFailureKind::Unreachable => ServerCallError::UnreachableFromPage { said: said.into() },
        LocalFailureKind::TimedOut | LocalFailureKind::Broken | LocalFailureKind::Taken => {
            ServerCallError::Unsure { why: said.into() }
        }
    };
    ToolError::coded(kind, error)
}
