//! One's own account, and where one is logged in to it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::{Account, SessionId};
use tenon_store::{LOCAL, UserEdit};

use super::auth::{LoggedOut, end, logged_out};
use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::users::{checked_email, checked_name};
use super::wire::{MeChange, SessionView};
use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::limit::Attempt;
use crate::auth::{Credential, CurrentUser, Ended};

pub(super) async fn show(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Account>, ApiError> {
    Ok(Json(user.account(&app.store).await?))
}

pub(super) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(change): Body<MeChange>,
) -> Result<Json<Account>, ApiError> {
    if user.id.as_str() == LOCAL {
        return Err(ApiError::no_account());
    }
    let account = user.account(&app.store).await?;
    let name = change.name.as_deref().map(checked_name).transpose()?;
    let email = change.email.as_deref().map(checked_email).transpose()?;
    let email = email.filter(|email| *email != account.email);
    let mut hash = None;
    if email.is_some() || change.password.is_some() {
        user.in_person()?;
        check_current_password(&app, &caller, &account, change.current_password.as_deref()).await?;
    }
    if let Some(password) = &change.password {
        hash = Some(app.auth.passwords.hash(password).await?);
    }
    let session = match &user.credential {
        Credential::Session(session) => Some(session),
        _ => None,
    };
    let edit = UserEdit {
        name: name.as_deref(),
        email: email.as_deref(),
        password_hash: hash.as_deref(),
        // Whoever knows the old password is logged out by the new one.
        only_session: hash.is_some().then_some(session),
        ..UserEdit::default()
    };
    let detail = json!({
        "name": name.is_some(),
        "email": email,
        "password": hash.is_some(),
    });
    let (account, ended) = app.store.change_user(&user.id, edit).await?;
    ended
        .into_iter()
        .map(Ended::Session)
        .for_each(|ended| app.auth.end(ended));
    let address = caller.address.to_string();
    user.note(&app, &address, "user.changed", user.id.as_str(), detail)
        .await;
    Ok(Json(account))
}

pub(super) async fn sessions(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<SessionView>>, ApiError> {
    let owner = app.auth.session_owner(&user);
    let sessions = app.store.sessions(&owner).await?;
    let views = sessions.into_iter().map(|session| SessionView {
        current: user.credential == Credential::Session(session.id.clone()),
        id: session.id,
        agent: session.agent,
        address: session.address,
        created_at: session.created_at,
        last_seen_at: session.last_seen_at,
    });
    Ok(Json(views.collect()))
}

pub(super) async fn end_session(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(session): Id<SessionId>,
) -> Result<StatusCode, ApiError> {
    end(&app, &user, &caller, &session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends all of them, this one too.
pub(super) async fn log_out_everywhere(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
) -> Result<LoggedOut, ApiError> {
    let owner = app.auth.session_owner(&user);
    let ended = app.store.delete_sessions(&owner).await?;
    let detail = json!({"sessions": ended.len()});
    ended
        .into_iter()
        .map(Ended::Session)
        .for_each(|ended| app.auth.end(ended));
    let address = caller.address.to_string();
    user.note(&app, &address, "logout", "everywhere", detail)
        .await;
    Ok(logged_out())
}

async fn check_current_password(
    app: &App,
    caller: &Caller,
    account: &Account,
    current: Option<&str>,
) -> Result<(), ApiError> {
    let Some(hash) = app.store.password_hash(&account.id).await? else {
        return Ok(());
    };
    let attempt = Attempt::LogIn(&account.email);
    app.auth.attempt(attempt, caller)?;
    let current = current.unwrap_or_default();
    if !app.auth.passwords.verify(current, Some(hash)).await? {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "wrong_password",
            "This is not your password. Enter the one you log in with now.",
        ));
    }
    app.auth.succeeded(attempt, caller);
    Ok(())
}
