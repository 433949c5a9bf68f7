//! Errors in the format of OpenAI's API.

use axum::Json;
use axum::body::to_bytes;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::api_fault::ApiFault;
use crate::error::ApiError;

/// Errors are a few sentences.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// Clients made for OpenAI ask twice more where a server failed, unless it says this.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// This API speaks to programs: its sentences have no codes of their own.
pub(super) fn bad_request(message: impl Into<String>) -> ApiError {
    let message = message.into();
    ApiError::bad_request(ApiFault::BadRequest { message })
}

/// An option of the request that cannot count. `instead` says why, or what to send.
pub(super) fn unsupported_option(name: &str, instead: &str) -> ApiError {
    let (name, instead) = (name.to_owned(), instead.to_owned());
    let field = name.clone();
    ApiError::bad_request(ApiFault::UnsupportedOption { name, instead }).in_field(&field)
}

/// An option that has another form than it should.
pub(super) fn invalid_option(name: &str, expected: &str) -> ApiError {
    let (name, expected) = (name.to_owned(), expected.to_owned());
    let field = name.clone();
    ApiError::bad_request(ApiFault::InvalidOption { name, expected }).in_field(&field)
}

pub(super) fn too_long(message: impl Into<String>) -> ApiError {
    let message = message.into();
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, ApiFault::TooLong { message })
}

/// What every response below `/v1` goes through.
pub(crate) async fn as_openai_error(response: Response) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, MAX_ERROR_BYTES).await.unwrap_or_default();
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    let error = &answer["error"];
    let words = json!({
        "message": error["message"].as_str().unwrap_or("The request failed."),
        "type": kind(status),
        "param": error["field"],
        "code": error["code"],
    });
    parts.headers.remove(CONTENT_LENGTH);
    // Tools may have been at work: they are not to be again because of it.
    if status == StatusCode::BAD_GATEWAY {
        let headers = &mut parts.headers;
        headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    (parts.status, parts.headers, Json(json!({"error": words}))).into_response()
}

fn kind(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
}
