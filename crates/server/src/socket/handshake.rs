//! The WebSocket handshake (RFC 6455).

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::state::ServerState;

/// A request that asks for a WebSocket as RFC 6455 wants it.
pub(crate) struct Handshake {
    accept: HeaderValue,
    upgrade: OnUpgrade,
}

impl Handshake {
    /// The answer, and what the connection becomes once it is sent.
    pub(super) fn accept(self) -> (Response, OnUpgrade) {
        let headers = [
            (header::CONNECTION, HeaderValue::from_static("upgrade")),
            (header::UPGRADE, HeaderValue::from_static("websocket")),
            (header::SEC_WEBSOCKET_ACCEPT, self.accept),
        ];
        let response = (StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty());
        (response.into_response(), self.upgrade)
    }

    fn read(parts: &mut Parts) -> Option<Self> {
        let headers = &parts.headers;
        let is_asked = names(headers, header::CONNECTION, "upgrade")
            && names(headers, header::UPGRADE, "websocket")
            && names(headers, header::SEC_WEBSOCKET_VERSION, "13");
        let key = headers
            .get(header::SEC_WEBSOCKET_KEY)
            .filter(|_| is_asked)?;
        let accept = derive_accept_key(key.as_bytes());
        Some(Self {
            accept: HeaderValue::from_str(&accept).ok()?,
            upgrade: parts.extensions.remove::<OnUpgrade>()?,
        })
    }
}

impl FromRequestParts<ServerState> for Handshake {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &ServerState) -> Result<Self, ApiError> {
        Self::read(parts)
            .ok_or_else(|| ApiError::new(StatusCode::UPGRADE_REQUIRED, ApiFault::WebSocketOnly))
    }
}

/// Whether a header has this word in its list.
fn names(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let lists = headers.get_all(name).into_iter();
    let mut words = lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','));
    words.any(|one| one.trim().eq_ignore_ascii_case(word))
}
