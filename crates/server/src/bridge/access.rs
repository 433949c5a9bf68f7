//! The key of a bridge, and who shows it.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::mcpo::fault::McpoFault;

/// Only its hash is kept, and hashes are compared in constant time.
pub(super) struct BridgeKey {
    hash: [u8; 32],
    /// Whether everything needs it, documents included.
    pub(super) is_strict: bool,
}

/// Why somebody may not go on where everything needs the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StrictFault {
    Missing,
    WrongKey,
    WrongPassword,
    InvalidBasic,
    UnknownScheme,
}

impl BridgeKey {
    pub(super) fn new(key: &str, is_strict: bool) -> Self {
        Self {
            hash: hash(key),
            is_strict,
        }
    }

    fn is(&self, shown: &str) -> bool {
        let pairs = hash(shown).into_iter().zip(self.hash);
        pairs.fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }

    /// For a call.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), McpoFault> {
        match bearer(headers) {
            None => Err(McpoFault::NoKey),
            Some(shown) if self.is(shown) => Ok(()),
            Some(_) => Err(McpoFault::WrongKey),
        }
    }

    /// For anything: the key as bearer token, or as the password of anybody.
    pub(super) fn check_strictly(&self, headers: &HeaderMap) -> Result<(), StrictFault> {
        let Some(shown) = authorization(headers) else {
            return Err(StrictFault::Missing);
        };
        if let Some(token) = shown.strip_prefix("Bearer ") {
            return if self.is(token) {
                Ok(())
            } else {
                Err(StrictFault::WrongKey)
            };
        }
        let Some(credentials) = shown.strip_prefix("Basic ") else {
            return Err(StrictFault::UnknownScheme);
        };
        let decoded = STANDARD.decode(credentials).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let password = decoded.as_deref().and_then(|text| text.split_once(':'));
        match password {
            None => Err(StrictFault::InvalidBasic),
            Some((_, password)) if self.is(password) => Ok(()),
            Some(_) => Err(StrictFault::WrongPassword),
        }
    }
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = authorization(headers)?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

impl IntoResponse for StrictFault {
    fn into_response(self) -> Response {
        let (status, detail) = match self {
            Self::Missing => (
                StatusCode::UNAUTHORIZED,
                "Missing or invalid Authorization header",
            ),
            Self::WrongKey => (StatusCode::FORBIDDEN, "Invalid API key"),
            Self::WrongPassword => (StatusCode::FORBIDDEN, "Invalid credentials"),
            Self::InvalidBasic => (
                StatusCode::UNAUTHORIZED,
                "Invalid Basic Authentication format",
            ),
            Self::UnknownScheme => (StatusCode::UNAUTHORIZED, "Unsupported authorization method"),
        };
        let mut response = (status, axum::Json(json!({ "detail": detail }))).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let schemes = HeaderValue::from_static("Bearer, Basic");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, schemes);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: Option<&str>) -> HeaderMap {
        let value = authorization.map(|text| HeaderValue::from_str(text).unwrap());
        let value = value.map(|value| (header::AUTHORIZATION, value));
        value.into_iter().collect()
    }

    #[test]
    fn a_call_shows_the_key_as_bearer() {
        let key = BridgeKey::new("top", false);
        assert!(key.check(&headers(Some("Bearer top"))).is_ok());
        assert!(key.check(&headers(Some("bearer top"))).is_ok());
        for missing in [None, Some("Basic top"), Some("Bearer "), Some("top")] {
            let checked = key.check(&headers(missing));
            assert!(matches!(checked, Err(McpoFault::NoKey)), "{missing:?}");
        }
        let wrong = key.check(&headers(Some("Bearer tops")));
        assert!(matches!(wrong, Err(McpoFault::WrongKey)));
    }

    #[test]
    fn a_strict_key_may_be_a_password() {
        let key = BridgeKey::new("top", true);
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        let check = |shown: Option<&str>, expected: Result<(), StrictFault>| {
            assert_eq!(key.check_strictly(&headers(shown)), expected, "{shown:?}");
        };
        check(Some("Bearer top"), Ok(()));
        check(Some(&basic("anybody:top")), Ok(()));
        check(None, Err(StrictFault::Missing));
        check(Some("Bearer no"), Err(StrictFault::WrongKey));
        check(Some(&basic("top:no")), Err(StrictFault::WrongPassword));
        check(Some(&basic("top")), Err(StrictFault::InvalidBasic));
        check(Some("Digest x"), Err(StrictFault::UnknownScheme));
    }
}
