//! Work that is too heavy to be done for many at once: a few places, and a
//! short line before them.

use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::error::ApiError;

/// Long enough for the one before to be done, short enough that nobody thinks Tenon has died.
const PATIENCE: Duration = Duration::from_secs(2);

/// A place, once there is one. It goes with the work: who hangs up does not
/// make room for more of it.
pub(super) async fn place(
    places: &'static Semaphore,
) -> Result<SemaphorePermit<'static>, ApiError> {
    let place = timeout(PATIENCE, places.acquire()).await;
    place.ok().and_then(Result::ok).ok_or_else(|| {
        ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            "Tenon has too much of this to do at the moment. Try again in a few seconds.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_finds_no_place_in_time_is_told_so() {
        static PLACES: Semaphore = Semaphore::const_new(1);
        let first = place(&PLACES).await.unwrap();
        let refused = place(&PLACES).await.unwrap_err();
        assert_eq!(refused.detail().code, "busy");
        drop(first);
        let _second = place(&PLACES).await.unwrap();
    }
}
