//! `/api/auth/oidc`: the redirect to an OpenID Connect issuer, and the callback.
//!
//! Both are opened by a browser, so what goes wrong is a page: `/#/login` with
//! a code that it says in words.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;
use tenon_domain::EntryPoint;
use tenon_store::AuditEntry;
use ts_rs::TS;

use super::auth::with_cookie;
use crate::request::HttpCaller;
use tenon_app::accounts::LoginMethod;
use tenon_app::app::App;
use tenon_app::auth::oidc::{Oidc, OidcError};
use tenon_app::auth::record;
use tenon_app::auth::throttle::Attempt;

const COOKIE: &str = "tenon-oidc";
const MAX_AGE_SECONDS: u32 = 600;

/// Bounds the path to return to, which is kept in a cookie.
const MAX_RETURN_PATH_BYTES: usize = 200;

/// What an issuer sends a browser back with.
#[derive(Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(default)]
pub(crate) struct OidcCallback {
    state: String,
    code: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

/// What a page sends somebody away with.
#[derive(Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(default)]
pub(crate) struct OidcStart {
    /// Where in the page they come back to: they are logged in, and prove it once more.
    back: Option<String>,
}

pub(crate) async fn start(
    State(app): State<App>,
    caller: HttpCaller,
    headers: HeaderMap,
    query: Result<Query<OidcStart>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let start = query.map(|Query(start)| start).unwrap_or_default();
    answer(&app, &caller, begin(&app, &caller, &headers, start)).await
}

pub(crate) async fn callback(
    State(app): State<App>,
    caller: HttpCaller,
    headers: HeaderMap,
    query: Result<Query<OidcCallback>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let returned = query.map(|Query(returned)| returned).unwrap_or_default();
    let finished = finish(&app, &caller, &headers, returned);
    let mut response = Box::pin(answer(&app, &caller, finished)).await;
    // The state cookie is valid for one return only.
    let gone = cookie(&caller, "", 0);
    response.headers_mut().append(header::SET_COOKIE, gone);
    response
}

/// Counts failures against the rate limit, so that nobody can make Tenon query the issuer without
/// end.
async fn answer(
    app: &App,
    caller: &HttpCaller,
    step: impl Future<Output = Result<Response, OidcError>>,
) -> Response {
    if app
        .auth
        .attempt(Attempt::Elsewhere, caller.address)
        .is_err()
    {
        return refuse(app, caller, OidcError::TooMany).await;
    }
    match step.await {
        Ok(response) => {
            app.auth.succeeded(Attempt::Elsewhere, caller.address);
            response
        }
        Err(error) => refuse(app, caller, error).await,
    }
}

async fn begin(
    app: &App,
    caller: &HttpCaller,
    headers: &HeaderMap,
    start: OidcStart,
) -> Result<Response, OidcError> {
    let oidc = issuer(app)?;
    let caller = with_public_scheme(&oidc, caller.clone());
    let back = start.back.map(|back| path_in_page(&back).to_owned());
    let redirect = oidc.begin(address_of(&caller, headers), back).await?;
    let begun = cookie(&caller, &redirect.cookie, MAX_AGE_SECONDS);
    let begun = AppendHeaders([(header::SET_COOKIE, begun)]);
    Ok((begun, Redirect::to(&redirect.url)).into_response())
}

async fn finish(
    app: &App,
    caller: &HttpCaller,
    headers: &HeaderMap,
    returned: OidcCallback,
) -> Result<Response, OidcError> {
    let oidc = issuer(app)?;
    if let Some(error) = returned.error {
        let why = returned.error_description.unwrap_or_default();
        return Err(OidcError::Denied(format!("{error} {why}")));
    }
    let code = returned.code.ok_or(OidcError::Expired)?;
    let cookie = login_cookie(headers).map(str::to_owned);
    let (identity, back) = oidc.clone().end(cookie, returned.state, code).await?;
    let caller = with_public_scheme(&oidc, caller.clone());
    let (account, action) = app
        .accounts
        .of_identity(&oidc, &identity, &caller.address.to_string())
        .await?;
    let session = app
        .accounts
        .begin_session(caller.login_client(), account, LoginMethod::Oidc, action)
        .await;
    let (token, account) = session.map_err(|error| {
        tracing::error!(%error, "a session could not be begun");
        OidcError::Session
    })?;
    let (session, _) = with_cookie(&caller, &token, account);
    let back = back.as_deref().map_or("/", path_in_page);
    Ok((session, Redirect::to(&format!("/#{back}"))).into_response())
}

/// A place in the page, and nothing that could lead anywhere else.
fn path_in_page(back: &str) -> &str {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/-_".contains(char);
    let is_place = back.starts_with('/') && !back.contains("//") && back.chars().all(is_plain);
    if is_place && back.len() <= MAX_RETURN_PATH_BYTES {
        back
    } else {
        "/"
    }
}

fn issuer(app: &App) -> Result<Arc<Oidc>, OidcError> {
    let oidc = app.auth.oidc.clone();
    oidc.filter(|_| !app.auth.single_user).ok_or(OidcError::Off)
}

async fn refuse(app: &App, caller: &HttpCaller, error: OidcError) -> Response {
    let (code, why) = (error.code(), error.line());
    let to_login = Redirect::to(&format!("/#/login?error={code}")).into_response();
    if error.is_noise() {
        tracing::debug!(why, "a log-in through the issuer came to nothing");
        return to_login;
    }
    tracing::warn!(why, "a log-in through the issuer failed");
    let entry = AuditEntry {
        user: None,
        door: EntryPoint::Page,
        action: "login.failed",
        subject: "oidc".into(),
        detail: json!({"code": code, "why": why}),
        address: caller.address.to_string(),
    };
    record(&app.store, entry).await;
    to_login
}

/// A browser that opens an address does not say by which scheme; the operator does.
fn with_public_scheme(oidc: &Oidc, caller: HttpCaller) -> HttpCaller {
    let is_https = oidc.is_https().unwrap_or(caller.is_https);
    HttpCaller { is_https, ..caller }
}

/// Where the browser sees us. The guard has looked at the name.
pub(crate) fn address_of(caller: &HttpCaller, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let scheme = if caller.is_https { "https" } else { "http" };
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}

fn login_cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE).then_some(value))
}

fn cookie(caller: &HttpCaller, value: &str, max_age: u32) -> HeaderValue {
    let secure = if caller.is_https { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE}={value}; HttpOnly; SameSite=Lax; Path=/api/auth/oidc; Max-Age={max_age}{secure}"
    );
    let mut cookie = HeaderValue::from_str(&cookie).expect("what is sealed is plain letters");
    cookie.set_sensitive(true);
    cookie
}
