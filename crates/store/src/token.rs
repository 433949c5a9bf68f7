//! Secrets that we give out and must know again: only their hash is kept.
//!
//! They are random and long, so a plain hash is enough: there is nothing to
//! guess, and looking one up is one read of an index.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::random::random_bytes;

/// A secret that is told once.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretToken(pub String);

impl SecretToken {
    pub(crate) fn fresh(prefix: &str) -> Self {
        let bytes = random_bytes::<32>();
        Self(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }
}

/// What is kept of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenHash([u8; 32]);

impl TokenHash {
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// As it is stored.
    pub(crate) fn text(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

impl fmt::Debug for SecretToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretToken(…)")
    }
}
