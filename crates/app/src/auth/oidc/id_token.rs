//! ID tokens: the signature (JWS, RFC 7515) and what it is about (OpenID Connect Core, 3.1.3.7).
//!
//! Signatures are verified by `ring`, which TLS is made of as well. Only asymmetric
//! algorithms are known: `none` and the ones with a shared secret are refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
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
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
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
    expected: &Expected<'_>,
) -> Result<IdTokenClaims, IdTokenError> {
    let (payload, algorithm) = verify_signature(token, keys)?;
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

fn verify_signature(token: &str, keys: &KeySet) -> Result<(Vec<u8>, String), IdTokenError> {
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
    if !is_known(&header.alg) {
        return Err(IdTokenError::Algorithm(header.alg));
    }
    let fits = |key: &&Jwk| match (&header.kid, &key.kid) {
        (Some(named), Some(id)) => named == id,
        _ => true,
    };
    let is_signed = keys
        .keys
        .iter()
        .filter(fits)
        .any(|key| key.verifies(&header.alg, signed.as_bytes(), &signature));
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
                let key = RsaPublicKeyComponents { n, e };
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
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
    use serde_json::json;

    use super::*;

    /// RFC 8037, appendix A.4, and RFC 7515, appendices A.2 and A.3.
    #[test]
    fn the_signatures_of_the_standards_are_verified() {
        let check = |key: Value, token: &str, payload: &[u8]| {
            let keys: KeySet = serde_json::from_value(json!({ "keys": [key] })).unwrap();
            let (signed, _) = verify_signature(token, &keys).unwrap();
            assert_eq!(signed, payload);
            let broken = token.replacen('.', ".e", 1);
            assert!(verify_signature(&broken, &keys).is_err());
        };
        check(
            json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}),
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
            b"Example of Ed25519 signing",
        );
        let claims =
            b"{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";
        check(
            json!({"kty": "RSA", "e": "AQAB", "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}),
            "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
            claims,
        );
        check(
            json!({"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}),
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
            claims,
        );
    }

    /// An issuer with two keys.
    struct Signer {
        ed: Ed25519KeyPair,
        ec: EcdsaKeyPair,
    }

    impl Signer {
        fn new() -> Self {
            let random = SystemRandom::new();
            let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
            let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let ec = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
            Self {
                ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
                ec: EcdsaKeyPair::from_pkcs8(algorithm, ec.as_ref(), &random).unwrap(),
            }
        }

        fn keys(&self) -> KeySet {
            let ec = &self.ec.public_key().as_ref()[1..];
            let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
            serde_json::from_value(json!({"keys": [
                {"kty": "oct", "k": "c2VjcmV0", "kid": "of a kind nobody knows"},
                {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "use": "sig",
                 "x": text(self.ed.public_key().as_ref())},
                {"kty": "EC", "crv": "P-256", "kid": "ec", "x": text(&ec[..32]), "y": text(&ec[32..])},
            ]}))
            .unwrap()
        }

        fn sign(&self, header: &Value, claims: &Value) -> String {
            let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let signed = format!("{}.{}", encode(header), encode(claims));
            let signature = match header["alg"].as_str() {
                Some("ES256") => {
                    let signed = self.ec.sign(&SystemRandom::new(), signed.as_bytes());
                    signed.unwrap().as_ref().to_vec()
                }
                Some("none") => Vec::new(),
                _ => self.ed.sign(signed.as_bytes()).as_ref().to_vec(),
            };
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
        }
    }

    fn claims() -> Value {
        json!({"iss": "https://issuer", "sub": "1", "aud": "tenon", "exp": 1_000, "nonce": "n"})
    }

    fn check(header: Value, change: Value, expected: Result<(), IdTokenError>) {
        let signer = Signer::new();
        let mut said = claims();
        for (name, value) in change.as_object().unwrap() {
            said[name] = value.clone();
        }
        let wanted = Expected {
            issuer: "https://issuer",
            client_id: "tenon",
            nonce: "n",
            access_token: "access",
            now: 999,
        };
        let verified = verify(&signer.sign(&header, &said), &signer.keys(), &wanted);
        assert_eq!(verified.map(|_| ()), expected, "{header} {change}");
    }

    #[test]
    fn a_token_is_taken_only_for_what_it_is_about() {
        use IdTokenError as E;
        let ed = || json!({"alg": "EdDSA", "kid": "ed"});
        check(ed(), json!({}), Ok(()));
        check(json!({"alg": "EdDSA"}), json!({}), Ok(()));
        check(json!({"alg": "ES256", "kid": "ec"}), json!({}), Ok(()));
        check(ed(), json!({"aud": ["tenon"], "exp": 999.5}), Ok(()));
        check(ed(), json!({"iss": "https://issuer/"}), Err(E::Issuer));
        check(ed(), json!({"aud": "other"}), Err(E::Audience));
        check(ed(), json!({"aud": []}), Err(E::Audience));
        check(ed(), json!({"aud": ["tenon", "other"]}), Err(E::Audience));
        check(ed(), json!({"exp": 999}), Err(E::Expired));
        check(ed(), json!({"nonce": "other"}), Err(E::Nonce));
        check(ed(), json!({"nonce": null}), Err(E::Nonce));
        check(ed(), json!({"exp": "soon"}), Err(E::Malformed));
        check(ed(), json!({"at_hash": "wrong"}), Err(E::AccessToken));
        let hash = URL_SAFE_NO_PAD.encode(&Sha512::digest("access")[..32]);
        check(ed(), json!({"at_hash": hash}), Ok(()));
        let hash = URL_SAFE_NO_PAD.encode(&Sha256::digest("access")[..16]);
        check(json!({"alg": "ES256"}), json!({"at_hash": hash}), Ok(()));
    }

    #[test]
    fn a_token_does_not_choose_how_it_is_verified() {
        use IdTokenError as E;
        let not_accepted = |name: &str| Err(E::Algorithm(name.into()));
        check(json!({"alg": "none"}), json!({}), not_accepted("none"));
        check(json!({"alg": "HS256"}), json!({}), not_accepted("HS256"));
        check(json!({"alg": "RS256"}), json!({}), Err(E::Signature));
        check(
            json!({"alg": "ES256", "kid": "ed"}),
            json!({}),
            Err(E::Signature),
        );
        check(
            json!({"alg": "EdDSA", "kid": "ec"}),
            json!({}),
            Err(E::Signature),
        );
        check(
            json!({"alg": "EdDSA", "kid": "gone"}),
            json!({}),
            Err(E::Signature),
        );
        check(
            json!({"alg": "EdDSA", "crit": ["b64"]}),
            json!({}),
            Err(E::Malformed),
        );
    }
}
