//! Bodies of requests: received within a time and a budget, parsed, and refused in our
//! own words.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::body::Body as RawBody;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, OptionalFromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use tenon_domain::UserId;
use tenon_net::media_type::essence;
use tokio::time::{Instant, timeout_at};

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::state::ServerState;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::budget::{Budget, BudgetShare, SMALL_BYTES};

/// A request's JSON.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

/// The bytes of a file.
#[derive(Debug)]
pub(crate) struct FileBody(pub(crate) Vec<u8>);

/// How long the body of a route may be, where that is not the usual length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimit(pub(crate) usize);

/// The usual length.
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// The idle timeout between two chunks of a body.
const STALLED_READ: Duration = Duration::from_secs(15);

/// The deadline of a whole body: this, and the time its length takes at the minimum rate, which
/// is that of a slow mobile connection.
const BODY_TIME: Duration = Duration::from_secs(20);
const MIN_BYTES_PER_SECOND: usize = 128 * 1024;

/// The memory that what a request brought along takes, until it is answered: the
/// authorization of its route drops it then.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestMemory(Arc<Mutex<Vec<BudgetShare>>>);

impl RequestMemory {
    fn keep(&self, reservation: BudgetShare) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(reservation);
    }
}

impl<T: DeserializeOwned + Send + 'static> FromRequest<ServerState> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, ApiError> {
        let memory = request.extensions().get::<RequestMemory>().cloned();
        let (read, reservation) = read_with(request, &state.app, read).await?;
        if let (Some(memory), Some(reservation)) = (memory, reservation) {
            memory.keep(reservation);
        }
        Ok(Self(read))
    }
}

/// A page of somebody else's can send no `application/octet-stream` without asking first.
impl FromRequest<ServerState> for FileBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, ApiError> {
        if content_type(request.headers()) != "application/octet-stream" {
            return Err(ApiError::bad_request(ApiFault::NotBytes));
        }
        let memory = request.extensions().get::<RequestMemory>().cloned();
        let user = request.extensions().get::<CurrentUser>();
        let user = user.map(|user| user.id.clone());
        let limit = request.extensions().get::<BodyLimit>();
        let limit = limit.map_or(MAX_BODY_BYTES, |limit| limit.0);
        let body = receive(request, &state.app.budget, user.as_ref(), limit).await?;
        if let (Some(memory), Some(reservation)) = (memory, body.reservation) {
            memory.keep(reservation);
        }
        Ok(Self(body.bytes))
    }
}

/// Where a request may come without one.
impl<T: DeserializeOwned + Send + 'static> OptionalFromRequest<ServerState> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ServerState) -> Result<Option<Self>, ApiError> {
        if !request.headers().contains_key(header::CONTENT_TYPE) {
            return Ok(None);
        }
        let body = <Self as FromRequest<ServerState>>::from_request(request, state);
        body.await.map(Some)
    }
}

/// What `work` makes of the bytes of a request that says it is JSON, and the memory that
/// this may take.
pub(crate) async fn read_with<T: Send + 'static>(
    request: Request,
    app: &App,
    work: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<(T, Option<BudgetShare>), ApiError> {
    // A page of somebody else's can send any other kind without asking first.
    if !is_json(request.headers()) {
        return Err(ApiError::bad_request(ApiFault::NotJson));
    }
    let user = request.extensions().get::<CurrentUser>();
    let user = user.map(|user| user.id.clone());
    let limit = request.extensions().get::<BodyLimit>();
    let limit = limit.map_or(MAX_BODY_BYTES, |limit| limit.0);
    let Some(user) = user else {
        // Anonymous requests get a small limit.
        let body = receive(request, &app.budget, None, limit.min(SMALL_BYTES)).await?;
        return Ok((work(&body.bytes)?, None));
    };
    let body = receive(request, &app.budget, Some(&user), limit).await?;
    let ReceivedBody { bytes, reservation } = body;
    let (made, memory) = app.budget.parse(&user, bytes, work).await?;
    drop(reservation);
    Ok((made?, memory))
}

pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    // Tracking the JSON path is slow, so it is done only to report an error.
    if let Ok(read) = serde_json::from_slice(body) {
        return Ok(read);
    }
    match Json::from_bytes(body) {
        Ok(Json(read)) => Ok(read),
        Err(rejection) => Err(refuse(&rejection)),
    }
}

/// Why a body was not received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveError {
    TooLong { limit: usize },
    TooSlow,
    BrokeOff,
}

impl From<ReceiveError> for ApiError {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::TooLong { limit } => {
                let kib = limit / 1024;
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, ApiFault::BodyTooLong { kib })
            }
            ReceiveError::TooSlow => Self::new(StatusCode::REQUEST_TIMEOUT, ApiFault::BodyTooSlow),
            ReceiveError::BrokeOff => Self::bad_request(ApiFault::BodyBrokeOff),
        }
    }
}

/// A whole body, and the room it takes.
pub(crate) struct ReceivedBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) reservation: Option<BudgetShare>,
}

pub(crate) async fn receive(
    request: Request,
    budget: &Budget,
    user: Option<&UserId>,
    limit: usize,
) -> Result<ReceivedBody, ApiError> {
    let (parts, body) = request.into_parts();
    receive_body(body, &parts.headers, budget, user, limit).await
}

pub(crate) async fn receive_body(
    body: RawBody,
    headers: &HeaderMap,
    budget: &Budget,
    user: Option<&UserId>,
    limit: usize,
) -> Result<ReceivedBody, ApiError> {
    let declared = declared_length(headers, limit)?;
    // Without a declared length, reserve the limit.
    let expected = declared.unwrap_or(limit);
    let mut reservation = None;
    if let Some(user) = user.filter(|_| expected > SMALL_BYTES) {
        reservation = Some(budget.receive(user, expected).await?);
    }
    let bytes = collect(body, declared, limit).await?;
    Ok(ReceivedBody { bytes, reservation })
}

/// The length of a body as its headers have it. One beyond the limit is refused before any of
/// the body is read.
pub(crate) fn declared_length(
    headers: &HeaderMap,
    limit: usize,
) -> Result<Option<usize>, ReceiveError> {
    let declared = headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    match declared {
        Some(length) if length > limit => Err(ReceiveError::TooLong { limit }),
        declared => Ok(declared),
    }
}

/// A whole body, within the limit and in time.
pub(crate) async fn collect(
    body: RawBody,
    declared: Option<usize>,
    limit: usize,
) -> Result<Vec<u8>, ReceiveError> {
    let begun = Instant::now();
    let mut bytes = Vec::with_capacity(declared.unwrap_or_default());
    let mut pieces = body.into_data_stream();
    loop {
        let earned = Duration::from_secs((bytes.len() / MIN_BYTES_PER_SECOND) as u64);
        let until = (begun + BODY_TIME + earned).min(Instant::now() + STALLED_READ);
        let piece = timeout_at(until, pieces.next()).await;
        match piece.map_err(|_| ReceiveError::TooSlow)? {
            None => return Ok(bytes),
            Some(Ok(piece)) if bytes.len() + piece.len() > limit => {
                return Err(ReceiveError::TooLong { limit });
            }
            Some(Ok(piece)) => bytes.extend_from_slice(&piece),
            Some(Err(_)) => return Err(ReceiveError::BrokeOff),
        }
    }
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = content_type(headers);
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn content_type(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE);
    essence(kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default())
}

fn refuse(rejection: &JsonRejection) -> ApiError {
    let why = rejection.body_text();
    ApiError::bad_request(ApiFault::BodyInvalid { why })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use futures::stream;

    use super::*;

    #[track_caller]
    fn check(written: Option<&'static str>, expected: Result<Option<usize>, ReceiveError>) {
        let length = written.map(HeaderValue::from_static);
        let headers = length.map(|length| (header::CONTENT_LENGTH, length));
        let headers: HeaderMap = headers.into_iter().collect();
        assert_eq!(declared_length(&headers, 1024), expected, "{written:?}");
    }

    #[test]
    fn a_declared_length_is_a_number_within_the_limit() {
        check(None, Ok(None));
        check(Some("0"), Ok(Some(0)));
        check(Some("1024"), Ok(Some(1024)));
        check(Some("1025"), Err(ReceiveError::TooLong { limit: 1024 }));
        check(Some("many"), Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_is_too_slow() {
        let body = RawBody::from_stream(stream::pending::<std::io::Result<Vec<u8>>>());
        let received = collect(body, None, 1024).await;
        assert_eq!(received, Err(ReceiveError::TooSlow));
    }
}
