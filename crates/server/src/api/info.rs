//! What this server is, and whether it is well.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::error::ApiError;
use super::wire::{AppInfo, ModelInfo};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::models::BUILTIN;

/// A database that takes longer to say "yes" is not well.
const HEALTHY: Duration = Duration::from_secs(3);

pub(super) async fn info(
    State(app): State<App>,
    _user: CurrentUser,
) -> Result<Json<AppInfo>, ApiError> {
    let model = app.models.default_ref().await?;
    Ok(Json(AppInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        model: ModelInfo {
            builtin: model.id.as_str() == BUILTIN,
            id: model.id,
            name: model.name,
        },
    }))
}

pub(super) async fn health(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    match tokio::time::timeout(HEALTHY, app.store.ping()).await {
        Ok(Ok(())) => Ok(Json(
            json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}),
        )),
        _ => Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unwell",
            "The database does not answer.",
        )),
    }
}
