//! Ids in paths. What cannot be an id is not found.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The id in a request's address.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send + std::fmt::Display> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let nothing = || ApiError::from(tenon_store::Error::NotFound("id"));
        let Path(id) = Path::<T>::from_request_parts(parts, state)
            .await
            .map_err(|_| nothing())?;
        // PostgreSQL takes NUL for a mistake in the query, and no id has any of these.
        if id.to_string().contains(char::is_control) {
            Err(nothing())
        } else {
            Ok(Self(id))
        }
    }
}
