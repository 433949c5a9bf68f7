//! Proving once more who one is, before what a stolen log-in must not be enough for.
//!
//! Whoever has a password shows it again. Whoever logs in elsewhere goes there again: a
//! log-in of a moment ago is the proof.

use axum::http::StatusCode;
use tenon_domain::Account;
use tenon_store::{Session, now};

use super::caller::Caller;
use super::limit::Attempt;
use super::{Credential, CurrentUser};
use crate::api::error::ApiError;
use crate::app::App;

/// How long ago a log-in may be that counts as a proof, in milliseconds: long enough to
/// fill in a form, or for a script to go on after it.
const FRESH: i64 = 10 * 60 * 1000;

/// Before a key is made: by the password, or by a log-in of a moment ago.
pub(crate) async fn prove(
    app: &App,
    user: &CurrentUser,
    caller: &Caller,
    password: Option<&str>,
) -> Result<(), ApiError> {
    let account = user.account(&app.store).await?;
    let hash = app.store.password_hash(&account.id).await?;
    match (hash, password.filter(|password| !password.is_empty())) {
        (Some(hash), Some(password)) => check_password(app, caller, &account, hash, password).await,
        (hash, _) => match (fresh_session(app, user).await?, hash) {
            (Some(_), _) => Ok(()),
            (None, Some(_)) => Err(password_needed()),
            (None, None) => Err(login_needed(user)),
        },
    }
}

/// Before the address or the password of one's account changes: by the password there is,
/// or where there is none by coming from the issuer a moment ago.
pub(crate) async fn prove_owner(
    app: &App,
    user: &CurrentUser,
    caller: &Caller,
    account: &Account,
    password: Option<&str>,
) -> Result<(), ApiError> {
    if let Some(hash) = app.store.password_hash(&account.id).await? {
        let password = password.unwrap_or_default();
        return check_password(app, caller, account, hash, password).await;
    }
    match fresh_session(app, user).await? {
        Some(session) if session.by_oidc => Ok(()),
        Some(_) | None => Err(login_needed(user)),
    }
}

/// Counted as log-ins are: it is guessed at no more often here than there.
async fn check_password(
    app: &App,
    caller: &Caller,
    account: &Account,
    hash: String,
    password: &str,
) -> Result<(), ApiError> {
    let attempt = Attempt::LogIn(&account.email);
    app.auth.attempt(attempt, caller)?;
    if !app.auth.passwords.verify(password, Some(hash)).await? {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "wrong_password",
            "This is not your password. Enter the one you log in with now.",
        ));
    }
    app.auth.succeeded(attempt, caller);
    Ok(())
}

async fn fresh_session(app: &App, user: &CurrentUser) -> Result<Option<Session>, ApiError> {
    let Credential::Session(session) = &user.credential else {
        return Ok(None);
    };
    let session = app.store.session(session).await?;
    // A clock that was set back makes nothing fresh.
    let is_fresh = |session: &Session| (0..FRESH).contains(&(now() - session.created_at));
    Ok(session.filter(is_fresh))
}

fn password_needed() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "password_needed",
        "You logged in some time ago. Send your `password` along to show that it is you.",
    )
}

fn login_needed(user: &CurrentUser) -> ApiError {
    let message = match user.credential {
        Credential::Session(_) => {
            "This account has no password. Log in with your issuer once more, and do it within ten minutes."
        }
        Credential::Key(..) | Credential::Shell => {
            "Nobody logs in here, so nothing shows that it is you. Do it in a shell with `tenon user`."
        }
    };
    ApiError::new(StatusCode::FORBIDDEN, "login_needed", message)
}
