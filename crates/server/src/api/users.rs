//! `/api/users`: accounts, for admins.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenon_domain::{Account, UserId};

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{NewAccount, UserChange};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

pub(crate) async fn list(State(app): State<App>) -> Result<Json<Vec<Account>>, ApiError> {
    Ok(Json(app.store.users().await?))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<NewAccount>,
) -> Result<(StatusCode, Json<Account>), ApiError> {
    // A key that leaks must not leave an admin behind.
    if new.role.is_admin() {
        user.require_person()?;
    }
    let account = app
        .accounts
        .create(&user, &caller.address.to_string(), new)
        .await?;
    Ok((StatusCode::CREATED, Json(account)))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<UserId>,
    JsonBody(change): JsonBody<UserChange>,
) -> Result<Json<Account>, ApiError> {
    if change.password.is_some() || change.role.is_some() {
        user.require_person()?;
    }
    let address = caller.address.to_string();
    let (account, _) = app.accounts.change(&user, &address, &id, change).await?;
    Ok(Json(account))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<UserId>,
) -> Result<StatusCode, ApiError> {
    let address = caller.address.to_string();
    app.accounts.delete(&user, &address, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
