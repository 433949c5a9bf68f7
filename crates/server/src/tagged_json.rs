//! JSON with an entity tag, for lists that are long and asked for often.

use std::marker::PhantomData;

use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::document_bytes::DocumentBytes;

/// A `T` as JSON with an entity tag, or 304 if the client has it.
pub(crate) struct TaggedJson<T> {
    response: Response,
    content: PhantomData<T>,
}

impl<T: Serialize> TaggedJson<T> {
    /// `request` are the headers of whoever asks.
    pub(crate) fn new(value: &T, request: &HeaderMap) -> Self {
        let response = match serde_json::to_vec(value) {
            Ok(bytes) => DocumentBytes::new(bytes).respond(request),
            Err(error) => {
                tracing::error!(%error, "a response cannot be written as JSON");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        };
        Self {
            response,
            content: PhantomData,
        }
    }

    /// With the address of what follows.
    pub(crate) fn with_next(mut self, address: &str) -> Self {
        let link = HeaderValue::try_from(format!("<{address}>; rel=\"next\""));
        if let Ok(link) = link {
            self.response.headers_mut().insert(header::LINK, link);
        }
        self
    }
}

impl<T> IntoResponse for TaggedJson<T> {
    fn into_response(self) -> Response {
        self.response
    }
}
