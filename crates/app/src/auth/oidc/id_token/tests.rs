//! Signatures by the vectors of the standards, and what a token must be about.

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::json;

use super::*;

/// RFC 8037, appendix A.4, and RFC 7515, appendices A.2 and A.3.
#[test]
fn the_signatures_of_the_standards_are_verified() {
    let check = |key: Value, token: &str, payload: &[u8]| {
        let keys: KeySet = serde_json::from_value(json!({ "keys": [key] })).unwrap();
        let (signed, _) = verify_signature(token, &keys, None).unwrap();
        assert_eq!(signed, payload);
        let broken = token.replacen('.', ".e", 1);
        assert!(verify_signature(&broken, &keys, None).is_err());
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
    let wanted = ExpectedClaims {
        issuer: "https://issuer",
        client_id: "tenon",
        client_secret: None,
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

#[test]
fn a_shared_secret_is_the_clients_own() {
    let signer = Signer::new();
    let text = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", text(json!({"alg": "HS256"})), text(claims()));
    let by = |secret: &str| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let signature = hmac::sign(&key, signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    };
    let verified = |token: &str, secret| verify_signature(token, &signer.keys(), secret);
    assert!(verified(&by("secret"), Some("secret")).is_ok());
    let empty = verified(&by(""), Some(""));
    assert_eq!(empty, Err(IdTokenError::Algorithm("HS256".into())));
    let another = verified(&by("other"), Some("secret"));
    assert_eq!(another, Err(IdTokenError::Signature));
    // A key that everybody can read is no secret.
    let published = signer.ed.public_key().as_ref();
    let key = hmac::Key::new(hmac::HMAC_SHA256, published);
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes()));
    let confused = verified(&format!("{signed}.{signature}"), Some("secret"));
    assert_eq!(confused, Err(IdTokenError::Signature));
    let without = verified(&by("secret"), None);
    assert_eq!(without, Err(IdTokenError::Algorithm("HS256".into())));
}

#[test]
fn an_rsa_key_may_be_written_with_a_sign() {
    assert_eq!(without_leading_zeros(&[0, 0, 1, 0]), [1, 0]);
    assert_eq!(without_leading_zeros(&[]), [0; 0]);
}
