//! `/api/stats`: what is called and what it takes, for admins.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::QueryParams;
use crate::wire::{StatsRange, StatsView};
use tenon_app::app::App;
use tenon_app::statistics::statistics;

/// `GET /api/stats?range=24h|7d|30d`
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StatsQuery {
    range: Option<StatsRange>,
}

pub(crate) async fn show(
    State(app): State<App>,
    QueryParams(asked): QueryParams<StatsQuery>,
) -> Result<Json<StatsView>, ApiError> {
    let range = asked.range.unwrap_or_default();
    Ok(Json(statistics(&app.store, &app.registry, range).await?))
}
