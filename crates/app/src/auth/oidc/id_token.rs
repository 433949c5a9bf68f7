//! ID tokens: the signature (JWS, RFC 7515) and what it is about (OpenID Connect Core, 3.1.3.7).
//!
//! Signatures are verified by `ring`, which TLS is made of as well. A token signed with a shared
//! secret (HMAC) is verified with the client's own secret and never with a published key, and
//! `none` is refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// A token is some hundred bytes, with many groups in it some thousands.
const MAX_TOKEN_BYTES: usize = 64 * 1024;

/// The keys of an issuer (RFC 7517). Keys of kinds that are not known are skipped.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct KeySet {
    #[serde(deserialize_with = "known_keys")]
    keys: Vec<Jwk>,
}

#[derive(Debug, Clone, Deserialize)]
struct Jwk {
    #[serde(default)]
    kid: Option<String>,
    #[serde(default, rename = "use")]
    purpose: Option<String>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(flatten)]
    material: KeyMaterial,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kty")]
enum KeyMaterial {
    #[serde(rename = "RSA")]
    Rsa { n: String, e: String },
    #[serde(rename = "EC")]
    Ec { crv: String, x: String, y: String },
    #[serde(rename = "OKP")]
    Okp { crv: String, x: String },
}

/// What an ID token says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct IdTokenClaims {
    iss: String,
    pub(super) sub: String,
    aud: Audience,
    /// Seconds since 1970; some issuers write fractions.
    exp: f64,
    #[serde(default)]
    nonce: Option<String>,
    #[serde(default)]
    at_hash: Option<String>,
    #[serde(flatten)]
    pub(super) profile: Profile,
}

/// What is known about a person, in an ID token or at the userinfo endpoint.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Profile {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default)]
    pub(super) email_verified: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// What a token has to be about.
pub(super) struct ExpectedClaims<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) client_secret: Option<&'a str>,
    pub(super) nonce: &'a str,
    pub(super) access_token: &'a str,
    /// Seconds since 1970.
    pub(super) now: i64,
}

#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum IdTokenError {
    #[error("its id token cannot be read")]
    Malformed,
    #[error("its id token is signed with {0:.20}, which is not accepted")]
    Algorithm(String),
    /// Its keys may have changed since they were fetched.
    #[error("the signature of its id token is not by any of its keys")]
    Signature,
    #[error("the issuer in its id token is another one")]
    Issuer,
    #[error("the audience of its id token is not this client")]
    Audience,
    #[error("its id token has expired")]
    Expired,
    #[error("the nonce in its id token is that of another log-in")]
    Nonce,
    #[error("its two tokens do not belong together")]
    AccessToken,
}

#[derive(Deserialize)]
struct JwsHeader {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    /// Extensions that must be understood: none are.
    #[serde(default)]
    crit: Option<Value>,
}

/// The claims of a token that is signed by one of these keys and is what was expected.
pub(super) fn verify(
    token: &str,
    keys: &KeySet,
    expected: &ExpectedClaims<'_>,
) -> Result<IdTokenClaims, IdTokenError> {
    let (payload, algorithm) = verify_signature(token, keys, expected.client_secret)?;
    let claims: IdTokenClaims =
        serde_json::from_slice(&payload).map_err(|_| IdTokenError::Malformed)?;
    let is_for_us = match &claims.aud {
        Audience::One(one) => one == expected.client_id,
        // A token that others may use as well could have been passed on by them.
        Audience::Many(all) => !all.is_empty() && all.iter().all(|one| one == expected.client_id),
    };
    if claims.iss != expected.issuer {
        Err(IdTokenError::Issuer)
    } else if !is_for_us {
        Err(IdTokenError::Audience)
    } else if expected.now as f64 >= claims.exp {
        Err(IdTokenError::Expired)
    } else if claims.nonce.as_deref() != Some(expected.nonce) {
        Err(IdTokenError::Nonce)
    } else if !has_hash_of(&claims, expected.access_token, &algorithm) {
        Err(IdTokenError::AccessToken)
    } else {
        Ok(claims)
    }
}

fn verify_signature(
    token: &str,
    keys: &KeySet,
    client_secret: Option<&str>,
) -> Result<(Vec<u8>, String), IdTokenError> {
    let malformed = || IdTokenError::Malformed;
    if token.len() > MAX_TOKEN_BYTES {
        return Err(malformed());
    }
    let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
    let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;
    let header = decode(header).ok_or_else(malformed)?;
    let header: JwsHeader = serde_json::from_slice(&header).map_err(|_| malformed())?;
    let signature = decode(signature).ok_or_else(malformed)?;
    if header.crit.is_some() {
        return Err(malformed());
    }
    let secret = client_secret.filter(|secret| !secret.is_empty());
    let hmac = hmac_algorithm(&header.alg).zip(secret);
    if hmac.is_none() && !is_known(&header.alg) {
        return Err(IdTokenError::Algorithm(header.alg));
    }
    let fits = |key: &&Jwk| match (&header.kid, &key.kid) {
        (Some(named), Some(id)) => named == id,
        _ => true,
    };
    let is_signed = match hmac {
        Some((algorithm, secret)) => {
            let key = hmac::Key::new(algorithm, secret.as_bytes());
            hmac::verify(&key, signed.as_bytes(), &signature).is_ok()
        }
        None => {
            let mut keys = keys.keys.iter().filter(fits);
            keys.any(|key| key.verifies(&header.alg, signed.as_bytes(), &signature))
        }
    };
    if !is_signed {
        return Err(IdTokenError::Signature);
    }
    let payload = decode(payload).ok_or_else(malformed)?;
    Ok((payload, header.alg))
}

impl Jwk {
    /// The algorithm must be one for this kind of key: a token does not choose how its
    /// key is read.
    fn verifies(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        let for_signatures = self
            .purpose
            .as_deref()
            .is_none_or(|purpose| purpose == "sig");
        let for_algorithm = self.alg.as_deref().is_none_or(|alg| alg == algorithm);
        if !for_signatures || !for_algorithm {
            return false;
        }
        match &self.material {
            KeyMaterial::Rsa { n, e } => {
                let parameters = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
                    "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
                    "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
                    "PS512" => &signature::RSA_PSS_2048_8192_SHA512,
                    _ => return false,
                };
                let (Some(n), Some(e)) = (decode(n), decode(e)) else {
                    return false;
                };
                // Some write a zero in front, as a sign (RFC 7518, 6.3.1.1).
                let key = RsaPublicKeyComponents {
                    n: without_leading_zeros(&n),
                    e: without_leading_zeros(&e),
                };
                key.verify(parameters, message, signature).is_ok()
            }
            KeyMaterial::Ec { crv, x, y } => {
                let (parameters, coordinate_bytes) = match (algorithm, crv.as_str()) {
                    ("ES256", "P-256") => (&signature::ECDSA_P256_SHA256_FIXED, 32),
                    ("ES384", "P-384") => (&signature::ECDSA_P384_SHA384_FIXED, 48),
                    _ => return false,
                };
                let (Some(x), Some(y)) = (decode(x), decode(y)) else {
                    return false;
                };
                if x.len() != coordinate_bytes || y.len() != coordinate_bytes {
                    return false;
                }
                // An uncompressed point.
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                let key = UnparsedPublicKey::new(parameters, point);
                key.verify(message, signature).is_ok()
            }
            KeyMaterial::Okp { crv, x } => {
                let (Some(x), "EdDSA", "Ed25519") = (decode(x), algorithm, crv.as_str()) else {
                    return false;
                };
                let key = UnparsedPublicKey::new(&signature::ED25519, x);
                key.verify(message, signature).is_ok()
            }
        }
    }
}

fn hmac_algorithm(name: &str) -> Option<hmac::Algorithm> {
    match name {
        "HS256" => Some(hmac::HMAC_SHA256),
        "HS384" => Some(hmac::HMAC_SHA384),
        "HS512" => Some(hmac::HMAC_SHA512),
        _ => None,
    }
}

fn without_leading_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

fn is_known(algorithm: &str) -> bool {
    const KNOWN: [&str; 9] = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA",
    ];
    KNOWN.contains(&algorithm)
}

/// Whether the signed token speaks of this access token, where it says so (`at_hash`): half
/// of its hash.
fn has_hash_of(claims: &IdTokenClaims, access_token: &str, algorithm: &str) -> bool {
    let Some(expected) = &claims.at_hash else {
        return true;
    };
    let hash = match &algorithm[2..] {
        "256" => Sha256::digest(access_token).to_vec(),
        "384" => Sha384::digest(access_token).to_vec(),
        // Ed25519 hashes with SHA-512 as well.
        _ => Sha512::digest(access_token).to_vec(),
    };
    URL_SAFE_NO_PAD.encode(&hash[..hash.len() / 2]) == *expected
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()
}

fn known_keys<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Jwk>, D::Error> {
    let keys: Vec<Value> = Deserialize::deserialize(deserializer)?;
    let known = keys
        .into_iter()
        .filter_map(|key| serde_json::from_value(key).ok());
    Ok(known.collect())
}

#[cfg(test)]
mod tests;
