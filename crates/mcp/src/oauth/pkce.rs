//! Proof key for code exchange (RFC 7636, S256), and other secrets that are good once.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::error::LoginError;

/// 256 bits.
const RANDOM_BYTES: usize = 32;

pub(super) struct Pkce {
    pub(super) verifier: String,
    pub(super) challenge: String,
}

impl Pkce {
    pub(super) fn new() -> Result<Self, LoginError> {
        let verifier = random_token()?;
        let challenge = challenge_of(&verifier);
        Ok(Self {
            verifier,
            challenge,
        })
    }
}

/// Letters and digits that nobody can guess.
pub(super) fn random_token() -> Result<String, LoginError> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        LoginError::Unreachable(format!("This machine gives no random numbers: {error}."))
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_rfc() {
        assert_eq!(
            challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        let (one, other) = (random_token().unwrap(), random_token().unwrap());
        assert_eq!(one.len(), 43);
        assert_ne!(one, other);
    }
}
