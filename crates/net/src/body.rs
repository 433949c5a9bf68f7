//! Bodies of responses, read within a bound.

use reqwest::Response;

/// A `Content-Length` is only a promise: at most this much is reserved for it up front.
const MAX_RESERVED_BYTES: u64 = 64 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// There is more than the limit.
    #[error("the response is longer than {max_bytes} bytes")]
    TooLong { max_bytes: usize },
    #[error(transparent)]
    Broken(#[from] reqwest::Error),
}

/// The whole body, unless it is longer than `max_bytes`.
pub async fn read(response: &mut Response, max_bytes: usize) -> Result<Vec<u8>, BodyError> {
    let announced = response.content_length();
    if announced.is_some_and(|length| length > max_bytes as u64) {
        return Err(BodyError::TooLong { max_bytes });
    }
    let reserved = announced.map_or(0, |length| length.min(MAX_RESERVED_BYTES));
    let mut body = Vec::with_capacity(reserved as usize);
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max_bytes {
            return Err(BodyError::TooLong { max_bytes });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The beginning of a body, at most `max_bytes` of it.
/// What came before an error is in `body` all the same.
pub async fn read_prefix(
    response: &mut Response,
    max_bytes: usize,
    body: &mut Vec<u8>,
) -> reqwest::Result<BodyEnd> {
    while let Some(chunk) = response.chunk().await? {
        let free = max_bytes.saturating_sub(body.len());
        body.extend_from_slice(&chunk[..chunk.len().min(free)]);
        if chunk.len() > free {
            return Ok(BodyEnd::Truncated);
        }
    }
    Ok(BodyEnd::Complete)
}

/// How much of a body was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    Complete,
    /// It went on after the limit.
    Truncated,
}
