//! The grant of one person at one server, and the trait that stores it.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tenon_net::oauth::OAuthClient;
use url::Url;

/// Everything that is needed to refresh without the person. All of it is secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub client: OAuthClient,
    /// Where tokens are refreshed: where they came from, whatever the server says by now.
    pub token_endpoint: Url,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<Url>,
    /// What the tokens are for (RFC 8707), as the server's metadata says it.
    pub resource: String,
    pub scopes: Vec<String>,
    /// None: they have ended, and only a person can get others.
    pub tokens: Option<TokenPair>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenPair {
    pub access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
    /// When to refresh, in seconds since 1970: a little before it expires.
    /// None: it is not known, so the server will say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_at: Option<i64>,
}

/// Where the grant of one person at one server is stored.
///
/// Several processes may share it: what is loaded is what is there now.
#[async_trait]
pub trait GrantStorage: Send + Sync {
    async fn load(&self) -> Result<Option<Grant>, GrantStorageError>;

    /// Stores the grant; it is durable when this returns.
    async fn save(&self, grant: &Grant) -> Result<(), GrantStorageError>;

    async fn remove(&self) -> Result<(), GrantStorageError>;

    /// Waits until no other process refreshes it, and keeps others from doing so until [`GrantStorage::unlock`], or
    /// for a while. Best effort: what two refresh at once is found out all the same.
    async fn lock(&self) {}

    async fn unlock(&self) {}
}

/// What a person is told when their grant cannot be stored or read: a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GrantStorageError(pub String);

impl Grant {
    pub fn access(&self) -> Option<&str> {
        Some(self.tokens.as_ref()?.access.as_str())
    }
}

impl TokenPair {
    pub(super) fn is_fresh(&self, now: i64) -> bool {
        self.renew_at.is_none_or(|renew_at| now < renew_at)
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TokenPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenPair").finish_non_exhaustive()
    }
}
