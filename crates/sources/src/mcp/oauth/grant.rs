//! What one person was granted at one server, and where it is kept.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use url::Url;

/// Everything that is needed to go on without the person. All of it is secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub client: Client,
    /// Where tokens are renewed: where they came from, whatever the server says by now.
    pub token_endpoint: Url,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<Url>,
    /// What the tokens are for, in the server's own words.
    pub resource: String,
    pub scopes: Vec<String>,
    /// None: they have ended, and only a person can get others.
    pub tokens: Option<TokenPair>,
}

/// Who Tenon is there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    #[serde(default)]
    pub secret_goes: SecretGoes,
}

/// How a client shows its secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretGoes {
    #[default]
    InHeader,
    InBody,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenPair {
    pub access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
    /// When to get another one, in seconds since 1970: a little before it ends.
    /// None: nobody knows, so the server will say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_at: Option<i64>,
}

/// Where the grant of one person at one server is kept. Errors are sentences.
///
/// Several processes may share it: what is loaded is what is there now.
#[async_trait]
pub trait Grants: Send + Sync {
    async fn load(&self) -> Result<Option<Grant>, String>;

    /// It is there to stay when this comes back.
    async fn save(&self, grant: &Grant) -> Result<(), String>;

    async fn remove(&self) -> Result<(), String>;
}

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

impl Client {
    pub fn new(id: impl Into<String>, secret: Option<String>) -> Self {
        Self {
            id: id.into(),
            // Some answer with an empty one to those who have none.
            secret: secret.filter(|secret| !secret.is_empty()),
            secret_goes: SecretGoes::default(),
        }
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.id).finish()
    }
}

impl fmt::Debug for TokenPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenPair").finish_non_exhaustive()
    }
}
