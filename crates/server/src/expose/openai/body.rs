//! The body of a question. Whole documents may come along in it, so a large one
//! is read where nobody waits for the thread, and not many at once.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};

use super::ask::{Ask, Asked};
use crate::api::error::ApiError;
use crate::app::App;

/// Read in about a millisecond.
const READ_APART: usize = 256 * 1024;

/// A question, read.
pub(crate) struct Question(pub(super) Asked);

impl FromRequest<App> for Question {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        // A page of somebody else's can send any other kind without asking first.
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return Err(ApiError::bad_request(
                "Send the request with the header `Content-Type: application/json`.",
            ));
        }
        let body = Bytes::from_request(request, app).await;
        let body = body.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_long",
                "The body of the request is too long.",
            ),
            _ => ApiError::bad_request("The body of the request broke off."),
        })?;
        let asked = match body.len() > READ_APART {
            false => read(&body),
            true => {
                let turn = app.sources.parses().acquire_owned().await.ok();
                let reading = tokio::task::spawn_blocking(move || {
                    let asked = read(&body);
                    drop(turn);
                    asked
                });
                let failed = |_panic| ApiError::bad_request("The request cannot be read.");
                reading.await.map_err(failed)?
            }
        };
        asked.map(Self)
    }
}

fn read(body: &[u8]) -> Result<Asked, ApiError> {
    let ask: Ask = serde_json::from_slice(body).map_err(|error| {
        ApiError::bad_request(format!("The body of the request cannot be used: {error}."))
    })?;
    ask.read()
}
