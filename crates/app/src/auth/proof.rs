//! Proving once more who one is, before what a stolen log-in must not be enough for.
//!
//! Whoever has a password shows it again. Whoever logs in elsewhere goes there again: a
//! log-in of a moment ago is the proof.

use std::net::IpAddr;

use tenon_domain::Account;
use tenon_store::{LoginSession, Store, now};

use super::throttle::Attempt;
use super::{Auth, AuthMethod, CurrentUser};
use crate::{Error, Result};

/// How long ago a log-in may be that counts as a proof, in milliseconds: long enough to
/// fill in a form, or for a script to go on after it.
const FRESH_LOGIN_MS: i64 = 10 * 60 * 1000;

/// Before a key is made: by the password, or by a log-in of a moment ago.
pub async fn prove(
    auth: &Auth,
    store: &Store,
    user: &CurrentUser,
    address: IpAddr,
    password: Option<&str>,
) -> Result<()> {
    let account = user.account(store).await?;
    let hash = store.password_hash(&account.id).await?;
    match (hash, password.filter(|password| !password.is_empty())) {
        (Some(hash), Some(password)) => {
            check_password(auth, address, &account, hash, password).await
        }
        (hash, _) => match (fresh_session(store, user).await?, hash) {
            (Some(_), _) => Ok(()),
            (None, Some(_)) => Err(Error::PasswordNeeded),
            (None, None) => Err(login_needed(user)),
        },
    }
}

/// Before the address or the password of one's account changes: by the password there is,
/// or where there is none by coming from the issuer a moment ago.
pub async fn prove_owner(
    auth: &Auth,
    store: &Store,
    user: &CurrentUser,
    address: IpAddr,
    account: &Account,
    password: Option<&str>,
) -> Result<()> {
    if let Some(hash) = store.password_hash(&account.id).await? {
        let password = password.unwrap_or_default();
        return check_password(auth, address, account, hash, password).await;
    }
    match fresh_session(store, user).await? {
        Some(session) if session.by_oidc => Ok(()),
        Some(_) | None => Err(login_needed(user)),
    }
}

/// Counted as log-ins are: it is guessed at no more often here than there.
async fn check_password(
    auth: &Auth,
    address: IpAddr,
    account: &Account,
    hash: String,
    password: &str,
) -> Result<()> {
    let attempt = Attempt::LogIn(&account.email);
    auth.attempt(attempt, address)?;
    if !auth.passwords.verify(password, Some(hash)).await? {
        return Err(Error::WrongPassword);
    }
    auth.succeeded(attempt, address);
    Ok(())
}

async fn fresh_session(store: &Store, user: &CurrentUser) -> Result<Option<LoginSession>> {
    let AuthMethod::Session(session) = &user.credential else {
        return Ok(None);
    };
    let session = store.session(session).await?;
    // A clock that was set back makes nothing fresh.
    let is_fresh =
        |session: &LoginSession| (0..FRESH_LOGIN_MS).contains(&(now() - session.created_at));
    Ok(session.filter(is_fresh))
}

fn login_needed(user: &CurrentUser) -> Error {
    match user.credential {
        AuthMethod::Session(_) => Error::LoginNeeded,
        AuthMethod::Key(..) | AuthMethod::Shell => Error::ShellNeeded,
    }
}
