//! A limit on heavy work: a few requests at a time, and a short wait for the others.

use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::api_fault::ApiFault;
use crate::error::ApiError;

/// Long enough for the previous request to finish, short enough not to look like a hang.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// A permit, once there is one. It goes with the work: who hangs up does not
/// make room for more of it.
pub(crate) async fn acquire(
    permits: &'static Semaphore,
) -> Result<SemaphorePermit<'static>, ApiError> {
    let permit = timeout(ACQUIRE_TIMEOUT, permits.acquire()).await;
    permit
        .ok()
        .and_then(Result::ok)
        .ok_or_else(|| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, ApiFault::TooMuchWork))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_finds_no_place_in_time_is_told_so() {
        static PERMITS: Semaphore = Semaphore::const_new(1);
        let first = acquire(&PERMITS).await.unwrap();
        let refused = acquire(&PERMITS).await.unwrap_err();
        assert_eq!(refused.detail().code, "too_much_work");
        drop(first);
        let _second = acquire(&PERMITS).await.unwrap();
    }
}
