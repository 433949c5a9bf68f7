//! A small issuer: everybody who comes is the same person, of whom it says what it is told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Redirect;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

pub const CLIENT: &str = "tenon";
pub const SECRET: &str = "a client's secret";

/// Made for this test and used nowhere else.
const KEY: [u8; 32] = [1; 32];
const ANOTHER_KEY: [u8; 32] = [2; 32];

/// What the issuer says of whoever comes.
#[derive(Clone)]
pub struct Claims {
    pub subject: String,
    pub email: Option<String>,
    pub verified: Option<bool>,
    /// In the place of the one that was sent.
    pub nonce: Option<String>,
    pub audience: Option<String>,
    pub expired: bool,
    /// Signed with a key that is not the issuer's.
    pub by_another: bool,
    /// The address is not in the token.
    pub only_on_request: bool,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            subject: "1".into(),
            email: Some("ada@example.com".into()),
            verified: Some(true),
            nonce: None,
            audience: None,
            expired: false,
            by_another: false,
            only_on_request: false,
        }
    }
}

/// Who left, by the code they got.
struct Visit {
    nonce: String,
    challenge: String,
    redirect: String,
}

#[derive(Default)]
struct IssuerState {
    claims: Claims,
    visits: HashMap<String, Visit>,
}

#[derive(Clone)]
pub struct Issuer {
    pub url: String,
    state: Arc<Mutex<IssuerState>>,
    closing: CancellationToken,
}

impl Issuer {
    pub async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::default(),
            closing: CancellationToken::new(),
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/userinfo", get(user_info))
            .with_state(issuer.clone());
        let closing = issuer.closing.clone();
        tokio::spawn(async move {
            tokio::select! {
                served = async { axum::serve(listener, router).await } => served.unwrap(),
                () = closing.cancelled() => {}
            }
        });
        issuer
    }

    pub fn say(&self, claims: Claims) {
        self.state.lock().unwrap().claims = claims;
    }

    pub fn stop(&self) {
        self.closing.cancel();
    }

    fn key(claims: &Claims) -> Ed25519KeyPair {
        let seed = if claims.by_another { ANOTHER_KEY } else { KEY };
        Ed25519KeyPair::from_seed_unchecked(&seed).unwrap()
    }

    fn id_token(&self, claims: &Claims, visit: &Visit) -> String {
        let now = tenon_store::now() / 1000;
        let mut said = json!({
            "iss": self.url,
            "sub": claims.subject,
            "aud": [claims.audience.as_deref().unwrap_or(CLIENT)],
            "exp": if claims.expired { now - 1 } else { now + 300 },
            "iat": now - 2,
            "nonce": claims.nonce.as_ref().unwrap_or(&visit.nonce),
            "name": "Ada",
        });
        if !claims.only_on_request {
            said["email"] = json!(claims.email);
            said["email_verified"] = json!(claims.verified);
        }
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "EdDSA", "kid": "key"});
        let signed = format!("{}.{}", encode(&header), encode(&said));
        let signature = Self::key(claims).sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

async fn configuration(State(issuer): State<Issuer>) -> Json<Value> {
    let url = &issuer.url;
    Json(json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "userinfo_endpoint": format!("{url}/userinfo"),
        "jwks_uri": format!("{url}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "EdDSA"],
    }))
}

async fn keys() -> Json<Value> {
    let key = Issuer::key(&Claims::default());
    let public = URL_SAFE_NO_PAD.encode(key.public_key());
    Json(
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "key", "use": "sig", "x": public}]}),
    )
}

async fn authorize(
    State(issuer): State<Issuer>,
    Query(asked): Query<HashMap<String, String>>,
) -> Redirect {
    assert_eq!(asked["client_id"], CLIENT);
    assert_eq!(asked["code_challenge_method"], "S256");
    assert!(asked["scope"].split(' ').any(|scope| scope == "openid"));
    let visit = Visit {
        nonce: asked["nonce"].clone(),
        challenge: asked["code_challenge"].clone(),
        redirect: asked["redirect_uri"].clone(),
    };
    let mut state = issuer.state.lock().unwrap();
    let code = format!("code-{}", state.visits.len());
    let back = format!("{}?code={code}&state={}", visit.redirect, asked["state"]);
    state.visits.insert(code, visit);
    Redirect::to(&back)
}

async fn token(
    State(issuer): State<Issuer>,
    headers: HeaderMap,
    Form(asked): Form<HashMap<String, String>>,
) -> Result<Json<Value>, StatusCode> {
    let shown = headers[header::AUTHORIZATION].to_str().unwrap();
    let shown = STANDARD
        .decode(shown.strip_prefix("Basic ").unwrap())
        .unwrap();
    let encoded = SECRET.replace(' ', "+").replace('\'', "%27");
    assert_eq!(
        String::from_utf8(shown).unwrap(),
        format!("{CLIENT}:{encoded}")
    );
    let mut state = issuer.state.lock().unwrap();
    // Each code is good once.
    let visit = state.visits.remove(&asked["code"]);
    let visit = visit.ok_or(StatusCode::BAD_REQUEST)?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&asked["code_verifier"]));
    assert_eq!(visit.challenge, challenge);
    assert_eq!(visit.redirect, asked["redirect_uri"]);
    let token = issuer.id_token(&state.claims, &visit);
    Ok(Json(json!({
        "access_token": "access",
        "token_type": "Bearer",
        "id_token": token,
    })))
}

async fn user_info(State(issuer): State<Issuer>, headers: HeaderMap) -> Json<Value> {
    assert_eq!(headers[header::AUTHORIZATION], "Bearer access");
    let claims = issuer.state.lock().unwrap().claims.clone();
    Json(json!({
        "sub": claims.subject,
        "email": claims.email,
        "email_verified": claims.verified,
    }))
}
