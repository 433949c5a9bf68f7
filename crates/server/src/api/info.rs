//! `/api/info`, `/health` and `/ready`.
//!
//! `/health` is for whoever restarts what hangs: it answers as long as the process does, whatever
//! the database does meanwhile. `/ready` is for load balancers: whether requests should come here
//! now.

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
use tenon_domain::ErrorDetail;
use tenon_store::StoreFault;

/// A database that takes longer to say "yes" is not well.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(3);

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

pub(crate) async fn health() -> Json<Value> {
    Json(json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    if app.agent.is_draining() {
        return Err(not_ready(ApiFault::Draining));
    }
    let schema = tokio::time::timeout(DATABASE_TIMEOUT, app.store.has_current_schema()).await;
    match schema {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => return Err(not_ready(ApiFault::MigrationsMissing)),
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready: the database cannot be asked");
            return Err(not_ready(ApiFault::NoDatabase));
        }
        Err(_) => {
            tracing::warn!(waited = ?DATABASE_TIMEOUT, "not ready: the database does not answer");
            return Err(not_ready(ApiFault::NoDatabase));
        }
    }
    let storage = app.storage.probe().await;
    match storage {
        StorageState::Ok | StorageState::Low => Ok(Json(json!({
            "status": "ready",
            "version": env!("CARGO_PKG_VERSION"),
            "storage": storage,
        }))),
        StorageState::Full => Err(not_ready(StoreFault::DiskFull)),
        StorageState::Failing => Err(not_ready(ApiFault::NotWritable)),
    }
}

fn not_ready(why: impl Into<ErrorDetail>) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, why)
}
