//! `/api/info` and `/health`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::wire::{AppInfo, FileLimits, ModelInfo};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::models::BUILTIN;
use tenon_app::storage::StorageState;

/// A database that takes longer to say "yes" is not well.
const HEALTHY: Duration = Duration::from_secs(3);

pub(crate) async fn info(
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
        files: FileLimits::CURRENT,
    }))
}

pub(crate) async fn health(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    let answers = tokio::time::timeout(HEALTHY, app.store.ping());
    if !matches!(answers.await, Ok(Ok(()))) {
        return Err(unhealthy("The database does not answer."));
    }
    let storage = app.storage.probe().await;
    match storage {
        StorageState::Ok | StorageState::Low => Ok(Json(json!({
            "status": "ok",
            "version": env!("CARGO_PKG_VERSION"),
            "storage": storage,
        }))),
        StorageState::Full => Err(ApiError::disk_full()),
        StorageState::Failing => Err(unhealthy(
            "Nothing can be written to the database. The log of Tenon says why.",
        )),
    }
}

fn unhealthy(why: &'static str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, ApiFault::Unhealthy { why })
}
