//! Getting in and getting out.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::AppendHeaders;
use serde_json::json;
use tenon_domain::{Account, Door, SessionId, UserId};
use tenon_store::{AuditEntry, LOCAL, NewUser, Token, Who};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::settings::signs_up;
use super::users::{checked_email, checked_name};
use super::wire::{AuthState, Invitation, LogIn, Setup, SignUp};
use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::limit::Attempt;
use crate::auth::oidc::Oidc;
use crate::auth::{Credential, CurrentUser, Ended, cookie, note, who};

/// An account and the cookie that comes with logging in to it.
type LoggedIn = (AppendHeaders<[(HeaderName, HeaderValue); 1]>, Json<Account>);

/// No cookie any more.
pub(super) type LoggedOut = (StatusCode, AppendHeaders<[(HeaderName, HeaderValue); 2]>);

pub(super) async fn state(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<AuthState>, ApiError> {
    let user = who(&app, &headers).await?;
    let account = match &user {
        Some(user) => Some(user.account(&app.store).await?),
        None => None,
    };
    let switched_off = match &user {
        Some(user) if user.in_person().is_ok() => app.store.switched_off(&user.id).await?,
        Some(_) | None => None,
    };
    let setup = !app.auth.single_user && !app.store.has_users().await?;
    let setup_code = setup || (app.auth.single_user && account.is_none());
    Ok(Json(AuthState {
        account,
        setup,
        setup_code,
        sign_up: signs_up(&app).await?,
        single_user: app.auth.single_user,
        oidc: app.auth.oidc.as_deref().map(Oidc::name),
        switched_off,
    }))
}

pub(super) async fn set_up(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<Setup>,
) -> Result<(StatusCode, LoggedIn), ApiError> {
    let logged_in = if app.auth.single_user {
        enter_alone(&app, &caller, &asked.code).await?
    } else {
        create_first(&app, &caller, asked).await?
    };
    Ok((StatusCode::CREATED, logged_in))
}

/// Lets in the one person of single-user mode.
async fn enter_alone(app: &App, caller: &Caller, code: &str) -> Result<LoggedIn, ApiError> {
    if !app.auth.setup.redeem(code).await {
        return Err(wrong_code(app, caller));
    }
    let address = caller.address.to_string();
    let local = UserId::new(LOCAL);
    let created = app.store.create_session(&local, &caller.agent, &address);
    let (token, session) = created.await?;
    let user = CurrentUser::owner(&app.store, Credential::Session(session.id)).await?;
    let account = user.account(&app.store).await?;
    user.note(app, &address, "login", user.id.as_str(), json!({}))
        .await;
    Ok(with_cookie(caller, &token, account))
}

async fn create_first(app: &App, caller: &Caller, asked: Setup) -> Result<LoggedIn, ApiError> {
    // Before the store is asked: the code of a set-up that ends meanwhile fits no more.
    let fits = app.auth.setup.fits(&asked.code);
    if app.store.has_users().await? {
        return Err(tenon_store::Error::from(tenon_store::Refused::SetUp).into());
    }
    if !fits {
        return Err(wrong_code(app, caller));
    }
    let (email, name) = (checked_email(&asked.email)?, checked_name(&asked.name)?);
    let hash = app.auth.passwords.hash(&asked.password).await?;
    let new = NewUser {
        email: &email,
        name: &name,
        role: Default::default(),
        password_hash: Some(&hash),
        oidc_subject: None,
    };
    let account = app.store.create_user(new, Who::First).await?;
    app.auth.setup.retire().await;
    begin_session(app, caller, account, LoginMethod::Here, "setup").await
}

/// Only wrong codes are counted. The right one passes however many were tried before:
/// strangers may share an address with whoever started Tenon, behind a proxy or on
/// this machine, and must not lock them out; and nobody guesses so long a code.
fn wrong_code(app: &App, caller: &Caller) -> ApiError {
    match app.auth.attempt(Attempt::SetUp, caller) {
        Err(too_many) => too_many,
        Ok(()) => ApiError::new(
            StatusCode::FORBIDDEN,
            "wrong_code",
            "This code is wrong or was used already. Run `tenon link` where Tenon runs, and \
             open the link that it prints.",
        ),
    }
}

pub(super) async fn log_in(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<LogIn>,
) -> Result<LoggedIn, ApiError> {
    let attempt = Attempt::LogIn(&asked.email);
    app.auth.attempt(attempt, &caller)?;
    let found = app.store.user_by_email(&asked.email).await?;
    let (account, hash) = found.map_or((None, None), |(account, hash)| (Some(account), hash));
    let fits = app.auth.passwords.verify(&asked.password, hash).await?;
    match account.filter(|account| fits && !account.disabled) {
        Some(account) => {
            app.auth.succeeded(attempt, &caller);
            begin_session(&app, &caller, account, LoginMethod::Here, "login").await
        }
        None => {
            let subject = asked.email.trim().chars().take(254).collect();
            let entry = AuditEntry {
                user: None,
                door: Door::Page,
                action: "login.failed",
                subject,
                detail: json!({}),
                address: caller.address.to_string(),
            };
            note(&app, entry).await;
            Err(wrong_password())
        }
    }
}

pub(super) async fn sign_up(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<SignUp>,
) -> Result<(StatusCode, LoggedIn), ApiError> {
    app.auth.attempt(Attempt::SignUp, &caller)?;
    let who = match &asked.invite {
        Some(token) => {
            // Looked at before the password is hashed: that costs something.
            if app.store.invite_of(token).await?.is_none() {
                return Err(tenon_store::Error::from(tenon_store::Refused::Invite).into());
            }
            Who::Invited(token)
        }
        None if signs_up(&app).await? => Who::Another,
        None => {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "invite_needed",
                "Only those who were invited can make an account here. Ask an admin.",
            ));
        }
    };
    let (email, name) = (checked_email(&asked.email)?, checked_name(&asked.name)?);
    let hash = app.auth.passwords.hash(&asked.password).await?;
    let new = NewUser {
        email: &email,
        name: &name,
        role: Default::default(),
        password_hash: Some(&hash),
        oidc_subject: None,
    };
    let account = app.store.create_user(new, who).await?;
    app.auth.succeeded(Attempt::SignUp, &caller);
    let logged_in = begin_session(&app, &caller, account, LoginMethod::Here, "sign-up").await?;
    Ok((StatusCode::CREATED, logged_in))
}

pub(super) async fn invitation(
    State(app): State<App>,
    caller: Caller,
    Id(token): Id<String>,
) -> Result<Json<Invitation>, ApiError> {
    app.auth.attempt(Attempt::Invitation, &caller)?;
    let invite = app.store.invite_of(&token).await?;
    let invite = invite.ok_or_else(|| {
        ApiError::not_found(
            "This invitation was used, taken back or is too old. Ask for another one.",
        )
    })?;
    app.auth.succeeded(Attempt::Invitation, &caller);
    Ok(Json(Invitation {
        email: invite.email,
        expires_at: invite.expires_at,
    }))
}

/// Whoever is not logged in is logged out already.
pub(super) async fn log_out(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<LoggedOut, ApiError> {
    if let Some(user) = who(&app, &headers).await? {
        user.in_person()?;
        if let Credential::Session(session) = &user.credential {
            end(&app, &user, &caller, session).await?;
        }
    }
    Ok(logged_out())
}

/// Ends a log-in and closes what it has open.
pub(super) async fn end(
    app: &App,
    user: &CurrentUser,
    caller: &Caller,
    session: &SessionId,
) -> Result<(), ApiError> {
    let owner = app.auth.session_owner(user);
    app.store.delete_session(&owner, session).await?;
    app.auth.end(Ended::Session(session.clone()));
    let address = caller.address.to_string();
    user.note(app, &address, "logout", session.as_str(), json!({}))
        .await;
    Ok(())
}

/// Where somebody has shown who they are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LoginMethod {
    Here,
    /// At their issuer.
    Oidc,
}

/// Logs somebody in who has shown who they are, and writes down how they came.
pub(crate) async fn begin_session(
    app: &App,
    caller: &Caller,
    mut account: Account,
    method: LoginMethod,
    action: &'static str,
) -> Result<LoggedIn, ApiError> {
    let (store, id, agent) = (&app.store, &account.id, &caller.agent);
    let address = caller.address.to_string();
    let (token, session) = match method {
        LoginMethod::Here => store.create_session(id, agent, &address).await?,
        LoginMethod::Oidc => store.create_oidc_session(id, agent, &address).await?,
    };
    account.last_login_at = Some(session.created_at);
    app.store.logged_in(&account.id).await?;
    let user = CurrentUser {
        id: account.id.clone(),
        role: account.role,
        credential: Credential::Session(session.id),
    };
    let detail = json!({"email": account.email});
    user.note(app, &address, action, user.id.as_str(), detail)
        .await;
    Ok(with_cookie(caller, &token, account))
}

fn with_cookie(caller: &Caller, token: &Token, account: Account) -> LoggedIn {
    let cookie = (header::SET_COOKIE, cookie::set(caller, token));
    (AppendHeaders([cookie]), Json(account))
}

pub(super) fn logged_out() -> LoggedOut {
    let cleared = cookie::clear().map(|cookie| (header::SET_COOKIE, cookie));
    (StatusCode::NO_CONTENT, AppendHeaders(cleared))
}

fn wrong_password() -> ApiError {
    ApiError::new(
        StatusCode::UNAUTHORIZED,
        "wrong_password",
        "The e-mail address or the password is not right, or the account is disabled.",
    )
}
