//! JSON bodies, refused in our own words.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use super::error::ApiError;

/// A request's JSON.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

/// Read in about a millisecond.
const READ_APART: usize = 256 * 1024;

/// Large ones are read where nobody waits for the thread, and not many at once: each
/// takes several times its length.
static TURNS: Semaphore = Semaphore::const_new(2);

impl<S: Send + Sync, T: DeserializeOwned + Send + 'static> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        read_with(request, state, read).await.map(Self)
    }
}

/// What `work` makes of the bytes of a request that says it is JSON.
pub(crate) async fn read_with<S: Send + Sync, T: Send + 'static>(
    request: Request,
    state: &S,
    work: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let body = whole(request, state).await?;
    if body.len() <= READ_APART {
        return work(&body);
    }
    let turn = TURNS.acquire().await.ok();
    let working = tokio::task::spawn_blocking(move || {
        let done = work(&body);
        drop(turn);
        done
    });
    let failed = |_panic| ApiError::bad_request("The body of the request cannot be read.");
    working.await.map_err(failed)?
}

pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    match Json::from_bytes(body) {
        Ok(Json(read)) => Ok(read),
        Err(rejection) => Err(refuse(&rejection)),
    }
}

async fn whole<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    // A page of somebody else's can send any other kind without asking first.
    if !is_json(request.headers()) {
        return Err(ApiError::bad_request(
            "Send the request with the header `Content-Type: application/json`.",
        ));
    }
    let body = Bytes::from_request(request, state).await;
    body.map_err(|rejection| refuse(&JsonRejection::BytesRejection(rejection)))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn refuse(rejection: &JsonRejection) -> ApiError {
    let message = format!(
        "The body of the request cannot be used: {}.",
        rejection.body_text()
    );
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", message)
        }
        _ => ApiError::bad_request(message),
    }
}
