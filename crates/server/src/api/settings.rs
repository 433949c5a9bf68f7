//! What an admin decides for everybody.

use axum::Json;
use axum::extract::State;
use serde_json::json;

use super::body::Body;
use super::error::ApiError;
use super::wire::SettingsView;
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;

const SIGN_UP: &str = "sign_up";

pub(super) async fn show(State(app): State<App>) -> Result<Json<SettingsView>, ApiError> {
    let sign_up = signs_up(&app).await?;
    Ok(Json(SettingsView { sign_up }))
}

pub(super) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(settings): Body<SettingsView>,
) -> Result<Json<SettingsView>, ApiError> {
    let SettingsView { sign_up } = settings;
    app.store.set_preference(None, SIGN_UP, &sign_up).await?;
    let detail = json!({"signUp": sign_up});
    let address = caller.address.to_string();
    user.note(&app, &address, "settings.changed", SIGN_UP, detail)
        .await;
    show(State(app)).await
}

/// Whether everybody may make an account.
pub(super) async fn signs_up(app: &App) -> Result<bool, ApiError> {
    let decided = app.store.preference(None, SIGN_UP).await?;
    Ok(decided.unwrap_or_default())
}
