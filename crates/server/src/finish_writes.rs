//! A write that has begun is finished, also where its client hangs up meanwhile: the database may
//! do it all the same, and caches have to hear of it afterwards.

use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Runs a request that changes something on a task of its own. A POST outside of `/auth` is not
/// among them: calls and answers end when nobody waits for them any more.
pub(crate) async fn finish_writes(request: Request, next: Next) -> Response {
    let method = request.method();
    let is_write = [Method::DELETE, Method::PATCH, Method::PUT].contains(method)
        || (*method == Method::POST && request.uri().path().starts_with("/auth/"));
    if !is_write {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going away.
            Err(_cancelled) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    }
}
