//! `/api/auth/me` and `/api/auth/sessions`: one's own account and sessions.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::{Account, SessionId};
use tenon_store::{LOCAL, RevokedCredentials, UserEdit};

use super::auth::{LogoutResponse, logged_out};
use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{LogOutEverywhere, MeChange, SessionView};
use tenon_app::app::App;
use tenon_app::auth::proof::prove_owner;
use tenon_app::auth::{AuthMethod, CurrentUser};
use tenon_app::profile::{checked_email, checked_name};

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Account>, ApiError> {
    Ok(Json(user.account(&app.store).await?))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(change): JsonBody<MeChange>,
) -> Result<Json<Account>, ApiError> {
    if user.id.as_str() == LOCAL {
        return Err(tenon_app::Error::NoAccount.into());
    }
    let account = user.account(&app.store).await?;
    let name = change.name.as_deref().map(checked_name).transpose()?;
    let email = change.email.as_deref().map(checked_email).transpose()?;
    let email = email.filter(|email| *email != account.email);
    let mut hash = None;
    if email.is_some() || change.password.is_some() {
        user.require_person()?;
        let password = change.current_password.as_deref();
        prove_owner(
            &app.auth,
            &app.store,
            &user,
            caller.address,
            &account,
            password,
        )
        .await
        .map_err(about_current_password)?;
    }
    if let Some(password) = &change.password {
        hash = Some(app.auth.passwords.hash(password).await?);
    }
    let session = match &user.credential {
        AuthMethod::Session(session) => Some(session),
        _ => None,
    };
    let edit = UserEdit {
        name: name.as_deref(),
        email: email.as_deref(),
        password_hash: hash.as_deref(),
        // Everybody who knows the old password is logged out by the new one.
        only_session: hash.is_some().then_some(session),
        end_keys: hash.is_some() && !change.keep_keys,
        ..UserEdit::default()
    };
    let (account, revoked) = app.store.change_user(&user.id, edit).await?;
    let detail = json!({
        "name": name.is_some(),
        "email": email,
        "password": hash.is_some(),
        "keys": revoked.keys.len(),
    });
    let address = caller.address.to_string();
    user.note(
        &app.store,
        &address,
        "user.changed",
        user.id.as_str(),
        detail,
    )
    .await;
    Ok(Json(account))
}

/// `password` is the new one here.
fn about_current_password(error: tenon_app::Error) -> ApiError {
    let is_wrong = matches!(error, tenon_app::Error::WrongPassword);
    let error = ApiError::from(error);
    if is_wrong {
        error.in_field("currentPassword")
    } else {
        error
    }
}

pub(crate) async fn sessions(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<SessionView>>, ApiError> {
    let owner = app.auth.session_owner(&user);
    let sessions = app.store.sessions(&owner).await?;
    let views = sessions.into_iter().map(|session| SessionView {
        current: user.credential == AuthMethod::Session(session.id.clone()),
        id: session.id,
        agent: session.agent,
        address: session.address,
        created_at: session.created_at,
        last_seen_at: session.last_seen_at,
    });
    Ok(Json(views.collect()))
}

pub(crate) async fn end_session(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(session): Id<SessionId>,
) -> Result<StatusCode, ApiError> {
    let address = caller.address.to_string();
    app.accounts.end_session(&user, &address, &session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends all of them, this one too, and all keys unless they are to stay.
pub(crate) async fn log_out_everywhere(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    asked: Option<JsonBody<LogOutEverywhere>>,
) -> Result<LogoutResponse, ApiError> {
    let asked = asked.map(|JsonBody(asked)| asked).unwrap_or_default();
    let mut revoked = RevokedCredentials::default();
    // Until there is an account, `local` has no sessions to end.
    if user.id.as_str() != LOCAL {
        let edit = UserEdit {
            only_session: Some(None),
            end_keys: !asked.keep_keys,
            ..UserEdit::default()
        };
        (_, revoked) = app.store.change_user(&user.id, edit).await?;
    }
    let owner = app.auth.session_owner(&user);
    if owner != user.id || owner.as_str() == LOCAL {
        let ended = app.store.delete_sessions(&owner).await?;
        revoked.sessions.extend(ended);
    }
    let detail = json!({"sessions": revoked.sessions.len(), "keys": revoked.keys.len()});
    let address = caller.address.to_string();
    user.note(&app.store, &address, "logout", "everywhere", detail)
        .await;
    Ok(logged_out())
}

/// They have read what was switched off in their account.
pub(crate) async fn forget_switched_off(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<StatusCode, ApiError> {
    app.store.forget_switched_off(&user.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
