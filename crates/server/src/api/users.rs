//! The accounts, as an admin looks after them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_agent::remove_folder;
use tenon_domain::{Account, UserId};
use tenon_store::{NewUser, Revoked, UserEdit, Who, normal_email};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{self, UserChange};
use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::{Credential, CurrentUser, Ended};

/// As long as an address can be, and more than any name is.
const MAX_EMAIL: usize = 254;
pub(crate) const MAX_NAME_CHARS: usize = 100;

pub(super) async fn list(State(app): State<App>) -> Result<Json<Vec<Account>>, ApiError> {
    Ok(Json(app.store.users().await?))
}

pub(super) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(new): Body<wire::NewUser>,
) -> Result<(StatusCode, Json<Account>), ApiError> {
    // A key that leaks must not leave an admin behind.
    if new.role.is_admin() {
        user.in_person()?;
    }
    let account = add(&app, &user, &caller.address.to_string(), new).await?;
    Ok((StatusCode::CREATED, Json(account)))
}

pub(super) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<UserId>,
    Body(change): Body<UserChange>,
) -> Result<Json<Account>, ApiError> {
    if change.password.is_some() || change.role.is_some() {
        user.in_person()?;
    }
    let address = caller.address.to_string();
    let (account, _) = edit(&app, &user, &address, &id, change).await?;
    Ok(Json(account))
}

pub(super) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<UserId>,
) -> Result<StatusCode, ApiError> {
    let gone = app.store.user(&id).await?;
    // First out, then gone: what they do meanwhile would be left behind.
    let disabled = UserEdit {
        disabled: Some(true),
        ..UserEdit::default()
    };
    app.store.change_user(&id, disabled).await?;
    throw_out(&app, &id).await?;
    for chat in app.store.chat_ids(&id).await? {
        match app.agent.delete(&id, &chat).await {
            Ok(()) | Err(tenon_store::Error::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
        remove_folder(&app.agent.workspace(&chat)).await;
    }
    remove_folder(&app.workspace_by_hand(&id)).await;
    let forgotten = app.desk.forget_user(&id).await;
    forgotten.map_err(|why| ApiError::storage(&why))?;
    app.store.delete_user(&id).await?;
    app.sources.sync().await;
    let detail = json!({"email": gone.email, "name": gone.name});
    let address = caller.address.to_string();
    user.note(&app, &address, "user.deleted", id.as_str(), detail)
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes an account for somebody.
pub(crate) async fn add(
    app: &App,
    by: &CurrentUser,
    address: &str,
    new: wire::NewUser,
) -> Result<Account, ApiError> {
    let (email, name) = (checked_email(&new.email)?, checked_name(&new.name)?);
    let hash = app.auth.passwords.hash(&new.password).await?;
    let account = NewUser {
        email: &email,
        name: &name,
        role: new.role,
        password_hash: Some(&hash),
        oidc_subject: None,
    };
    let who = match by.credential {
        Credential::Shell => Who::Any,
        Credential::Session(_) | Credential::Key(..) => Who::Another,
    };
    let account = app.store.create_user(account, who).await?;
    let detail = json!({"email": account.email, "role": account.role});
    by.note(app, address, "user.created", account.id.as_str(), detail)
        .await;
    Ok(account)
}

/// Changes an account, and shows the door to whoever may no longer stay. A new
/// password ends log-ins, and keys unless they are to stay.
pub(crate) async fn edit(
    app: &App,
    by: &CurrentUser,
    address: &str,
    id: &UserId,
    change: UserChange,
) -> Result<(Account, Revoked), ApiError> {
    let name = change.name.as_deref().map(checked_name).transpose()?;
    let hash = match &change.password {
        Some(password) => Some(app.auth.passwords.hash(password).await?),
        None => None,
    };
    let edit = UserEdit {
        name: name.as_deref(),
        role: change.role,
        disabled: change.disabled,
        password_hash: hash.as_deref(),
        only_session: hash.is_some().then_some(None),
        end_keys: hash.is_some() && !change.keep_keys,
        ..UserEdit::default()
    };
    let (account, revoked) = app.store.change_user(id, edit).await?;
    app.auth.end_revoked(&revoked);
    if account.disabled {
        throw_out(app, id).await?;
    }
    // What runs for them depends on whether they may come, and on their role.
    app.sources.sync().await;
    let action = match change.disabled {
        Some(true) => "user.disabled",
        _ => "user.changed",
    };
    let detail = json!({
        "name": name,
        "role": change.role,
        "disabled": change.disabled,
        "password": hash.is_some(),
        "keys": revoked.keys.len(),
    });
    by.note(app, address, action, id.as_str(), detail).await;
    Ok((account, revoked))
}

/// Closes what a user has open and stops what runs for them.
pub(super) async fn throw_out(app: &App, user: &UserId) -> Result<(), ApiError> {
    app.auth.end(Ended::User(user.clone()));
    for turn in app.store.open_turns_of(user).await? {
        app.agent.cancel(&turn);
    }
    Ok(())
}

pub(crate) fn checked_email(email: &str) -> Result<String, ApiError> {
    let is_odd = |char: char| char.is_whitespace() || char.is_control();
    let is_clean = !email.trim().contains(is_odd);
    let email = normal_email(email);
    let is_address = email
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if !is_address || !is_clean || email.len() > MAX_EMAIL {
        return Err(ApiError::bad_request(
            "This is no e-mail address. Write it like ada@example.org.",
        ));
    }
    Ok(email)
}

pub(crate) fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > MAX_NAME_CHARS || name.contains(char::is_control) {
        return Err(ApiError::bad_request(format!(
            "A name has 1 to {MAX_NAME_CHARS} characters, on one line."
        )));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_checked_and_made_small() {
        let check = |email: &str, expected: Option<&str>| {
            assert_eq!(checked_email(email).ok().as_deref(), expected, "{email:?}");
        };
        check("ada@example.org", Some("ada@example.org"));
        check("  Ada@Example.ORG\n", Some("ada@example.org"));
        check("阿达@例子.中国", Some("阿达@例子.中国"));
        check("", None);
        check("ada", None);
        check("@example.org", None);
        check("ada@", None);
        check("ada@b@c", None);
        check("ada lovelace@example.org", None);
        check("ada\0@example.org", None);
        check(&format!("{}@example.org", "a".repeat(300)), None);
    }
}
