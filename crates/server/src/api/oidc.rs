//! The two ends of logging in somewhere else: going there, and coming back.
//!
//! Both are opened by a browser, so what goes wrong is a page: `/#/login` with
//! a code that it says in words.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;
use tenon_domain::{Account, Door};
use tenon_store::{AuditEntry, Error, NewUser, Refused, Who};

use super::auth::{LoginMethod, begin_session};
use super::users::throw_out;
use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::limit::Attempt;
use crate::auth::note;
use crate::auth::oidc::{Identity, Oidc, Trouble};

const COOKIE: &str = "tenon-oidc";
const MAX_AGE: u32 = 600;

/// Longer than any place in the page.
const MAX_BACK: usize = 200;

/// What an issuer sends a browser back with.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Return {
    state: String,
    code: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

/// What a page sends somebody away with.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Departing {
    /// Where in the page they come back to: they are logged in, and prove it once more.
    back: Option<String>,
}

pub(super) async fn start(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    query: Result<Query<Departing>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let departing = query.map(|Query(departing)| departing).unwrap_or_default();
    answer(&app, &caller, leave(&app, &caller, &headers, departing)).await
}

pub(super) async fn callback(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    query: Result<Query<Return>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let returned = query.map(|Query(returned)| returned).unwrap_or_default();
    let entered = enter(&app, &caller, &headers, returned);
    let mut response = answer(&app, &caller, entered).await;
    // It was good for one return.
    let gone = cookie(&caller, "", 0);
    response.headers_mut().append(header::SET_COOKIE, gone);
    response
}

/// What fails counts, so that nobody can have us ask the issuer and write down
/// its answers without end.
async fn answer(
    app: &App,
    caller: &Caller,
    step: impl Future<Output = Result<Response, Trouble>>,
) -> Response {
    if app.auth.attempt(Attempt::Elsewhere, caller).is_err() {
        return refuse(app, caller, Trouble::TooMany).await;
    }
    match step.await {
        Ok(response) => {
            app.auth.succeeded(Attempt::Elsewhere, caller);
            response
        }
        Err(trouble) => refuse(app, caller, trouble).await,
    }
}

async fn leave(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    departing: Departing,
) -> Result<Response, Trouble> {
    let oidc = issuer(app)?;
    let caller = seen_by(&oidc, caller.clone());
    let back = departing.back.map(|back| place_in_page(&back).to_owned());
    let departure = oidc.begin(here(&caller, headers), back).await?;
    let begun = cookie(&caller, &departure.cookie, MAX_AGE);
    let begun = AppendHeaders([(header::SET_COOKIE, begun)]);
    Ok((begun, Redirect::to(&departure.url)).into_response())
}

async fn enter(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    returned: Return,
) -> Result<Response, Trouble> {
    let oidc = issuer(app)?;
    if let Some(error) = returned.error {
        let why = returned.error_description.unwrap_or_default();
        return Err(Trouble::Denied(format!("{error} {why}")));
    }
    let code = returned.code.ok_or(Trouble::Expired)?;
    let cookie = brought(headers).map(str::to_owned);
    let (identity, back) = oidc.clone().end(cookie, returned.state, code).await?;
    let caller = seen_by(&oidc, caller.clone());
    let (account, action) = account(app, &caller, &oidc, &identity).await?;
    let (session, _) = begin_session(app, &caller, account, LoginMethod::Oidc, action)
        .await
        .map_err(|_| Trouble::Session)?;
    let back = back.as_deref().map_or("/", place_in_page);
    Ok((session, Redirect::to(&format!("/#{back}"))).into_response())
}

/// A place in the page, and nothing that could lead anywhere else.
fn place_in_page(back: &str) -> &str {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/-_".contains(char);
    let is_place = back.starts_with('/') && !back.contains("//") && back.chars().all(is_plain);
    match is_place && back.len() <= MAX_BACK {
        true => back,
        false => "/",
    }
}

/// Whose account it is: the one they came to before, the one with their
/// address, or a new one.
async fn account(
    app: &App,
    caller: &Caller,
    oidc: &Oidc,
    identity: &Identity,
) -> Result<(Account, &'static str), Trouble> {
    let known = app.store.user_by_subject(&identity.subject).await?;
    if let Some(email) = identity.email.as_ref().filter(|email| !oidc.lets_in(email)) {
        return Err(Trouble::Domain(email.clone()));
    }
    if let Some(account) = known {
        return enabled(account).map(|account| (account, "login.oidc"));
    }
    let email = identity.email.as_deref().ok_or(Trouble::Email)?;
    if let Some((account, _)) = app.store.user_by_email(email).await? {
        let account = enabled(account)?;
        link(app, caller, &account, &identity.subject).await?;
        return Ok((account, "login.oidc"));
    }
    if !oidc.signs_up() {
        return Err(Trouble::NoAccount(email.to_owned()));
    }
    let new = NewUser {
        email,
        name: &identity.name,
        role: Default::default(),
        password_hash: None,
        oidc_subject: Some(&identity.subject),
    };
    match app.store.create_user(new, Who::Another).await {
        Ok(account) => Ok((account, "sign-up.oidc")),
        Err(Error::Refused(Refused::SetUpFirst)) => Err(Trouble::NoAccount(email.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Gives an account to whom its address belongs, and shows the door to whoever
/// was in it: see [`tenon_store::Store::link_subject`].
async fn link(app: &App, caller: &Caller, account: &Account, subject: &str) -> Result<(), Trouble> {
    let Some(off) = app.store.link_subject(&account.id, subject).await? else {
        // One that belongs to somebody else at the issuer is not given away with an address.
        return Err(Trouble::NoAccount(account.email.clone()));
    };
    let entry = AuditEntry {
        user: Some(account.id.clone()),
        door: Door::Page,
        action: "user.changed",
        subject: account.id.0.clone(),
        detail: json!({
            "linked": subject,
            "removed": ["password", "sessions", "keys"],
            "switchedOff": off,
        }),
        address: caller.address.to_string(),
    };
    note(app, entry).await;
    throw_out(app, &account.id)
        .await
        .map_err(|_| Trouble::Session)?;
    let forgotten = app.desk.forget_user(&account.id).await;
    if let Err(why) = forgotten {
        tracing::error!(
            why,
            "what browsers found for a former holder is still listed"
        );
        return Err(Trouble::Session);
    }
    app.sources.sync().await;
    Ok(())
}

fn enabled(account: Account) -> Result<Account, Trouble> {
    match account.disabled {
        true => Err(Trouble::Disabled),
        false => Ok(account),
    }
}

fn issuer(app: &App) -> Result<Arc<Oidc>, Trouble> {
    let oidc = app.auth.oidc.clone();
    oidc.filter(|_| !app.auth.single_user).ok_or(Trouble::Off)
}

async fn refuse(app: &App, caller: &Caller, trouble: Trouble) -> Response {
    let (code, why) = (trouble.code(), trouble.line());
    let to_login = Redirect::to(&format!("/#/login?error={code}")).into_response();
    if trouble.is_noise() {
        tracing::debug!(why, "a log-in through the issuer came to nothing");
        return to_login;
    }
    tracing::warn!(why, "a log-in through the issuer failed");
    let entry = AuditEntry {
        user: None,
        door: Door::Page,
        action: "login.failed",
        subject: "oidc".into(),
        detail: json!({"code": code, "why": why}),
        address: caller.address.to_string(),
    };
    note(app, entry).await;
    to_login
}

/// A browser that opens an address does not say by which scheme; the operator does.
fn seen_by(oidc: &Oidc, caller: Caller) -> Caller {
    let is_https = oidc.is_https().unwrap_or(caller.is_https);
    Caller { is_https, ..caller }
}

/// Where the browser sees us. The guard has looked at the name.
pub(super) fn here(caller: &Caller, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let scheme = match caller.is_https {
        true => "https",
        false => "http",
    };
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}

fn brought(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE).then_some(value))
}

fn cookie(caller: &Caller, value: &str, max_age: u32) -> HeaderValue {
    let secure = match caller.is_https {
        true => "; Secure",
        false => "",
    };
    let cookie = format!(
        "{COOKIE}={value}; HttpOnly; SameSite=Lax; Path=/api/auth/oidc; Max-Age={max_age}{secure}"
    );
    let mut cookie = HeaderValue::from_str(&cookie).expect("what is sealed is plain letters");
    cookie.set_sensitive(true);
    cookie
}
