//! Who is asking. A handler that takes a [`CurrentUser`] cannot be reached anonymously.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tenon_domain::UserId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentUser {
    pub id: UserId,
}

impl CurrentUser {
    /// The one person of an installation without accounts. Because everybody
    /// who can connect is this person, the server listens on loopback only.
    pub fn local() -> Self {
        Self {
            id: UserId::new("local"),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for CurrentUser {
    type Rejection = Infallible;

    async fn from_request_parts(_parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::local())
    }
}
