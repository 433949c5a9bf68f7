//! An authorisation server and, behind it, something only its guests may ask.
//! Both are strict, keep count, and misbehave where a test wants them to.

#[path = "authority/ways.rs"]
mod ways;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::extract::{Form, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use ways::Ways;

/// Who left, by the code they got.
struct Visit {
    client: String,
    challenge: String,
    redirect: String,
    resource: String,
    scope: String,
}

/// What it counted and remembers.
#[derive(Default)]
pub struct Book {
    pub refreshes: usize,
    pub registrations: Vec<Value>,
    /// What was revoked, in order.
    pub revoked: Vec<String>,
    /// Everything it ever gave out that nobody else may see.
    pub secrets: Vec<String>,
    /// Where it was asked.
    pub paths: Vec<String>,
    /// The tokens it was shown.
    pub shown: Vec<String>,
    clients: HashMap<String, (String, Option<String>)>,
    visits: HashMap<String, Visit>,
    access: HashMap<String, String>,
    refresh: HashMap<String, String>,
    count: usize,
}

#[derive(Clone)]
pub struct Authority {
    pub url: String,
    ways: Arc<Mutex<Ways>>,
    book: Arc<Mutex<Book>>,
    closing: CancellationToken,
}

impl Authority {
    /// With something that answers everybody it lets in.
    pub async fn start() -> Self {
        Self::before(Router::new().route("/mcp", post(|| async { "welcome" }))).await
    }

    /// With an MCP server at `/mcp` behind it.
    pub async fn before(guarded: Router) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authority = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            ways: Arc::default(),
            book: Arc::default(),
            closing: CancellationToken::new(),
        };
        let resource = "/.well-known/oauth-protected-resource/mcp";
        let router = Router::new()
            .route(resource, get(about_resource))
            .route("/.well-known/oauth-authorization-server", get(about_itself))
            .route(
                "/openid/.well-known/openid-configuration",
                get(about_openid),
            )
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/revoke", post(revoke))
            .with_state(authority.clone())
            .merge(guarded.layer(from_fn_with_state(authority.clone(), let_in)))
            .layer(from_fn_with_state(authority.clone(), at_all));
        let closing = authority.closing.clone();
        tokio::spawn(async move {
            tokio::select! {
                served = async { axum::serve(listener, router).await } => served.unwrap(),
                () = closing.cancelled() => {}
            }
        });
        authority
    }

    pub fn server(&self) -> String {
        format!("{}/mcp", self.url)
    }

    pub fn behave(&self, change: impl FnOnce(&mut Ways)) {
        change(&mut self.ways.lock().unwrap());
    }

    pub fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    /// Every access token it ever gave is good for nothing from now on.
    pub fn forget_access(&self) {
        self.book().access.clear();
    }

    /// Nobody can renew anything from now on.
    pub fn forget_refresh(&self) {
        self.book().refresh.clear();
    }

    pub fn stop(&self) {
        self.closing.cancel();
    }

    fn ways(&self) -> Ways {
        self.ways.lock().unwrap().clone()
    }

    fn document(&self, mut document: Value, over: &Value) -> Response {
        let ways = self.ways();
        if let Some(elsewhere) = ways.redirects_to {
            return Redirect::temporary(&elsewhere).into_response();
        }
        let fields = document.as_object_mut().unwrap();
        for (name, value) in over.as_object().unwrap() {
            match value.is_null() {
                true => fields.remove(name),
                false => fields.insert(name.clone(), value.clone()),
            };
        }
        if ways.padding > 0 {
            fields.insert("padding".into(), "x".repeat(ways.padding).into());
        }
        Json(document).into_response()
    }

    fn metadata(&self, issuer: String) -> Value {
        let url = &self.url;
        json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "registration_endpoint": format!("{url}/register"),
            "revocation_endpoint": format!("{url}/revoke"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    /// Whether a client is who it says, by header, by form, or by nothing where it has no secret.
    fn knows(&self, headers: &HeaderMap, form: &HashMap<String, String>) -> Option<String> {
        let (id, secret) = match headers.get(header::AUTHORIZATION) {
            Some(shown) => {
                let shown = shown.to_str().ok()?.strip_prefix("Basic ")?;
                let shown = String::from_utf8(STANDARD.decode(shown).ok()?).ok()?;
                let (id, secret) = shown.split_once(':')?;
                (id.to_owned(), Some(secret.to_owned()))
            }
            None => (
                form.get("client_id")?.clone(),
                form.get("client_secret").cloned(),
            ),
        };
        let book = self.book();
        let (_, known) = book.clients.get(&id)?;
        (*known == secret).then_some(id)
    }
}

impl Book {
    fn made(&mut self, kind: &str) -> String {
        self.count += 1;
        let made = format!("{kind}-{}-of-the-authority", self.count);
        self.secrets.push(made.clone());
        made
    }

    fn tokens(&mut self, ways: &Ways, scope: &str, old: Option<String>) -> Value {
        let access = self.made("access");
        self.access.insert(access.clone(), scope.to_owned());
        let refresh = match old {
            Some(old) if !ways.rotates => old,
            _ => self.made("refresh"),
        };
        self.refresh.insert(refresh.clone(), scope.to_owned());
        json!({
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": ways.lifetime,
            "refresh_token": refresh,
            "scope": scope,
        })
    }
}

async fn at_all(State(authority): State<Authority>, request: Request, next: Next) -> Response {
    if authority.ways().is_down {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let path = request.uri().path().to_owned();
    authority.book().paths.push(path);
    next.run(request).await
}

async fn let_in(State(authority): State<Authority>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION);
    let shown = shown.and_then(|shown| shown.to_str().ok()?.strip_prefix("Bearer "));
    let scope = shown.and_then(|token| {
        let mut book = authority.book();
        book.shown.push(token.to_owned());
        book.access.get(token).cloned()
    });
    let ways = authority.ways();
    let pointer = format!("{}/.well-known/oauth-protected-resource/mcp", authority.url);
    let refuse = |status: StatusCode, challenge: String| {
        let challenge = HeaderValue::from_str(&challenge).unwrap();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
        response
    };
    let Some(scope) = scope else {
        let usual = format!("Bearer resource_metadata=\"{pointer}\", scope=\"read\"");
        return refuse(StatusCode::UNAUTHORIZED, ways.challenge.unwrap_or(usual));
    };
    if let Some(needed) = ways.needs_scope
        && !scope.split(' ').any(|scope| scope == needed)
    {
        let more = format!(
            "Bearer error=\"insufficient_scope\", scope=\"{needed}\", resource_metadata=\"{pointer}\""
        );
        return refuse(StatusCode::FORBIDDEN, more);
    }
    next.run(request).await
}

async fn about_resource(State(authority): State<Authority>) -> Response {
    let url = &authority.url;
    let document = json!({
        "resource": format!("{url}/mcp"),
        "authorization_servers": [url],
        "scopes_supported": ["read", "write"],
    });
    authority.document(document, &authority.ways().resource)
}

async fn about_itself(State(authority): State<Authority>) -> Response {
    let document = authority.metadata(authority.url.clone());
    authority.document(document, &authority.ways().metadata)
}

async fn about_openid(State(authority): State<Authority>) -> Response {
    let document = authority.metadata(format!("{}/openid", authority.url));
    authority.document(document, &authority.ways().metadata)
}

async fn register(State(authority): State<Authority>, Json(asked): Json<Value>) -> Response {
    let with_secret = authority.ways().gives_secrets;
    let mut book = authority.book();
    let id = format!("client-{}", book.clients.len());
    let secret = with_secret.then(|| book.made("secret"));
    let redirect = asked["redirect_uris"][0].as_str().unwrap().to_owned();
    book.clients
        .insert(id.clone(), (redirect.clone(), secret.clone()));
    book.registrations.push(asked);
    let answer = json!({"client_id": id, "client_secret": secret, "redirect_uris": [redirect]});
    (StatusCode::CREATED, Json(answer)).into_response()
}

async fn authorize(
    State(authority): State<Authority>,
    Query(asked): Query<HashMap<String, String>>,
) -> Redirect {
    assert_eq!(asked["response_type"], "code");
    assert_eq!(asked["code_challenge_method"], "S256");
    let mut book = authority.book();
    assert_eq!(book.clients[&asked["client_id"]].0, asked["redirect_uri"]);
    let visit = Visit {
        client: asked["client_id"].clone(),
        challenge: asked["code_challenge"].clone(),
        redirect: asked["redirect_uri"].clone(),
        resource: asked["resource"].clone(),
        scope: asked.get("scope").cloned().unwrap_or_default(),
    };
    let code = book.made("code");
    let mut back = format!("{}?code={code}&state={}", visit.redirect, asked["state"]);
    let issuer = authority
        .ways()
        .issuer
        .unwrap_or(Some(authority.url.clone()));
    if let Some(issuer) = issuer {
        back.push_str(&format!("&iss={issuer}"));
    }
    book.visits.insert(code, visit);
    Redirect::to(&back)
}

async fn token(
    State(authority): State<Authority>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let ways = authority.ways();
    tokio::time::sleep(ways.slowness).await;
    let refuse = |error: &str| (StatusCode::BAD_REQUEST, Json(json!({"error": error})));
    let Some(client) = authority.knows(&headers, &form) else {
        return refuse("invalid_client").into_response();
    };
    let mut book = authority.book();
    let given = match form["grant_type"].as_str() {
        "authorization_code" => {
            // Each code is good once.
            let Some(visit) = book.visits.remove(&form["code"]) else {
                return refuse("invalid_grant").into_response();
            };
            let shown = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
            let is_theirs = visit.challenge == shown
                && visit.client == client
                && visit.redirect == form["redirect_uri"]
                && visit.resource == form["resource"];
            if !is_theirs {
                return refuse("invalid_grant").into_response();
            }
            book.tokens(&ways, &visit.scope, None)
        }
        "refresh_token" => {
            book.refreshes += 1;
            let old = form["refresh_token"].clone();
            let scope = match ways.rotates {
                true => book.refresh.remove(&old),
                false => book.refresh.get(&old).cloned(),
            };
            match scope {
                Some(scope) => book.tokens(&ways, &scope, Some(old)),
                None => return refuse("invalid_grant").into_response(),
            }
        }
        _ => return refuse("unsupported_grant_type").into_response(),
    };
    Json(given).into_response()
}

async fn revoke(
    State(authority): State<Authority>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> StatusCode {
    if authority.knows(&headers, &form).is_none() {
        return StatusCode::UNAUTHORIZED;
    }
    let mut book = authority.book();
    let token = form["token"].clone();
    book.access.remove(&token);
    book.refresh.remove(&token);
    book.revoked.push(token);
    StatusCode::OK
}
