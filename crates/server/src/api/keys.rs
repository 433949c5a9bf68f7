//! Keys for programs: each person's own.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::{KeyId, KeyScope, UserId};
use tenon_store::{Key, LOCAL};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::users::checked_name;
use super::wire::{CreatedKey, KeyView, NewKey};
use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::proof::prove;
use crate::auth::{CurrentUser, Ended};

/// More than anybody looks after.
const MAX_KEYS: usize = 100;

const MAX_PATTERNS: usize = 100;
const MAX_PATTERN: usize = 200;

pub(super) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<KeyView>>, ApiError> {
    let keys = app.store.keys(&user.id).await?;
    Ok(Json(keys.into_iter().map(view).collect()))
}

pub(super) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(new): Body<NewKey>,
) -> Result<(StatusCode, Json<CreatedKey>), ApiError> {
    if user.id.as_str() == LOCAL {
        return Err(ApiError::no_account());
    }
    prove(&app, &user, &caller, new.password.as_deref()).await?;
    let address = caller.address.to_string();
    let created = create_for(&app, &user, &user.id, &address, new).await?;
    Ok((StatusCode::CREATED, Json(created)))
}

pub(super) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(key): Id<KeyId>,
) -> Result<StatusCode, ApiError> {
    app.store.delete_key(&user.id, &key).await?;
    app.auth.end(Ended::Key(key.clone()));
    let address = caller.address.to_string();
    user.note(&app, &address, "key.deleted", key.as_str(), json!({}))
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a key for somebody, and writes down who did.
pub(crate) async fn create_for(
    app: &App,
    by: &CurrentUser,
    owner: &UserId,
    address: &str,
    new: NewKey,
) -> Result<CreatedKey, ApiError> {
    if owner.as_str() == LOCAL {
        return Err(ApiError::no_account());
    }
    let name = checked_name(&new.name)?;
    check(&new.scope)?;
    if app.store.keys(owner).await?.len() >= MAX_KEYS {
        return Err(ApiError::bad_request(format!(
            "One person has {MAX_KEYS} keys at most. Delete some that are not used."
        )));
    }
    let (token, key) = app.store.create_key(owner, &name, &new.scope).await?;
    let detail = json!({"name": key.name, "scope": key.scope, "userId": owner});
    by.note(app, address, "key.created", key.id.as_str(), detail)
        .await;
    Ok(CreatedKey {
        key: token.0,
        view: view(key),
    })
}

fn check(scope: &KeyScope) -> Result<(), ApiError> {
    let is_long = |pattern: &str| pattern.is_empty() || pattern.len() > MAX_PATTERN;
    if scope.allow.len() > MAX_PATTERNS || scope.allow.iter().any(|pattern| is_long(&pattern.0)) {
        return Err(ApiError::bad_request(format!(
            "A key allows {MAX_PATTERNS} tools or patterns at most, each of 1 to {MAX_PATTERN} characters."
        )));
    }
    Ok(())
}

fn view(key: Key) -> KeyView {
    KeyView {
        id: key.id,
        name: key.name,
        hint: key.hint,
        scope: key.scope,
        created_at: key.created_at,
        last_used_at: key.last_used_at,
    }
}
