//! `/api/audit`: who did what, for admins.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tenon_domain::UserId;
use tenon_store::AuditQuery;
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::QueryParams;
use crate::wire::AuditView;
use tenon_app::app::App;

const DEFAULT_PAGE_ITEMS: u64 = 50;
const MAX_PAGE_ITEMS: u64 = 200;

#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuditParams {
    before: Option<String>,
    limit: Option<u64>,
    action: Option<String>,
    user_id: Option<UserId>,
}

pub(crate) async fn list(
    State(app): State<App>,
    QueryParams(asked): QueryParams<AuditParams>,
) -> Result<Json<Vec<AuditView>>, ApiError> {
    let query = AuditQuery {
        before: asked.before,
        action: asked.action,
        user: asked.user_id,
        limit: asked
            .limit
            .unwrap_or(DEFAULT_PAGE_ITEMS)
            .clamp(1, MAX_PAGE_ITEMS),
    };
    let rows = app.store.audited(query).await?;
    let users = app.store.users().await?.into_iter();
    let names: HashMap<UserId, String> = users.map(|user| (user.id, user.name)).collect();
    let views = rows.into_iter().map(|row| AuditView {
        user_name: row.user.as_ref().and_then(|user| names.get(user).cloned()),
        id: row.id,
        at: row.at,
        user_id: row.user,
        door: row.door,
        action: row.action,
        subject: row.subject,
        detail: row.detail,
        address: row.address,
    });
    Ok(Json(views.collect()))
}
