//! `/api/settings`: what an admin decides for everybody.

use axum::Json;
use axum::extract::State;

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::JsonBody;
use crate::wire::SettingsView;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

pub(crate) async fn show(State(app): State<App>) -> Result<Json<SettingsView>, ApiError> {
    let sign_up = app.accounts.sign_up_is_open().await?;
    Ok(Json(SettingsView { sign_up }))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(settings): JsonBody<SettingsView>,
) -> Result<Json<SettingsView>, ApiError> {
    let SettingsView { sign_up } = settings;
    let address = caller.address.to_string();
    app.accounts.open_sign_up(&user, &address, sign_up).await?;
    show(State(app)).await
}
