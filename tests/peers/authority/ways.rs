//! How an authorisation server behaves: well, unless a test says otherwise.

use std::time::Duration;

use serde_json::{Value, json};

/// How it behaves.
#[derive(Clone)]
pub struct Ways {
    /// Laid over what it says of itself; a null takes a field away.
    pub metadata: Value,
    /// The same for what is behind it.
    pub resource: Value,
    /// In the place of the usual challenge.
    pub challenge: Option<String>,
    /// How long a token is good, in seconds.
    pub lifetime: i64,
    /// In the place of its own name when it sends somebody back; nothing for none.
    pub issuer: Option<Option<String>>,
    /// How long a token takes to be made.
    pub slowness: Duration,
    /// It answers to nothing.
    pub is_down: bool,
    /// A client that registers gets a secret.
    pub gives_secrets: bool,
    /// It gives a new refresh token each time, and knows the old one no more.
    pub rotates: bool,
    /// Its documents are this much longer than they need to be.
    pub padding: usize,
    /// Its documents are said to be somewhere else.
    pub redirects_to: Option<String>,
    /// What a token has to allow.
    pub needs_scope: Option<String>,
}

impl Default for Ways {
    fn default() -> Self {
        Self {
            metadata: json!({}),
            resource: json!({}),
            challenge: None,
            lifetime: 3600,
            issuer: None,
            slowness: Duration::ZERO,
            is_down: false,
            gives_secrets: false,
            rotates: true,
            padding: 0,
            redirects_to: None,
            needs_scope: None,
        }
    }
}
