//! `/api/sources` and `/api/secrets`: servers that offer tools, and the secrets they are given.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::SourceId;
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::request::QueryParams;
use crate::wire::{
    AddSource, DocumentChange, ImportSources, ImportedSource, LogLine, NewSecret, SecretView,
    SourceChange, SourceDetail, SourcePreview,
};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::sources::ImportOutcome;

pub(crate) async fn list(State(app): State<App>, user: CurrentUser) -> Json<Vec<SourceDetail>> {
    Json(app.sources.list(&user))
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
) -> Result<Json<SourceDetail>, ApiError> {
    Ok(Json(app.sources.show(&user, &id)?))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<AddSource>,
) -> Result<(StatusCode, Json<SourceDetail>), ApiError> {
    app.storage.check_room()?;
    let source = app.sources.add(&user, new).await?;
    let detail = json!({"name": source.name, "mine": source.mine});
    note(&app, &user, &caller, "source.added", &source.id, detail).await;
    Ok((StatusCode::CREATED, Json(source)))
}

/// What a server would offer, before it is saved.
pub(crate) async fn preview(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(new): JsonBody<AddSource>,
) -> Result<Json<SourcePreview>, ApiError> {
    Ok(Json(app.sources.preview(&user, new).await?.into()))
}

/// Reads its document now, and says what is different.
pub(crate) async fn refresh(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
) -> Result<Json<DocumentChange>, ApiError> {
    Ok(Json(app.sources.refresh(&user, &id).await?.into()))
}

/// Each server of the text is added or refused on its own: only a text that cannot be read is an
/// error.
pub(crate) async fn import(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(asked): JsonBody<ImportSources>,
) -> Result<Json<Vec<ImportedSource>>, ApiError> {
    app.storage.check_room()?;
    let imported = app.sources.import(&user, &asked, None).await?;
    for one in &imported {
        if let (ImportOutcome::Added(id), false) = (&one.outcome, asked.preview) {
            let detail = json!({"name": one.name, "imported": true});
            note(&app, &user, &caller, "source.added", id, detail).await;
        }
    }
    Ok(Json(imported.into_iter().map(Into::into).collect()))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<SourceId>,
    JsonBody(change): JsonBody<SourceChange>,
) -> Result<Json<SourceDetail>, ApiError> {
    let source = app.sources.change(&user, &id, change).await?;
    let detail = json!({"name": source.name, "enabled": source.enabled});
    note(&app, &user, &caller, "source.changed", &id, detail).await;
    Ok(Json(source))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<SourceId>,
) -> Result<StatusCode, ApiError> {
    app.sources.remove(&user, &id).await?;
    note(&app, &user, &caller, "source.removed", &id, json!({})).await;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn restart(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<SourceId>,
) -> Result<Json<SourceDetail>, ApiError> {
    let source = app.sources.restart(&user, &id).await?;
    note(&app, &user, &caller, "source.restarted", &id, json!({})).await;
    Ok(Json(source))
}

pub(crate) async fn logs(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
) -> Result<Json<Vec<LogLine>>, ApiError> {
    Ok(Json(app.sources.logs(&user, &id).await?))
}

pub(crate) async fn secrets(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<SecretView>>, ApiError> {
    Ok(Json(app.sources.secrets(&user).await?))
}

pub(crate) async fn set_secret(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(name): Id<String>,
    JsonBody(new): JsonBody<NewSecret>,
) -> Result<StatusCode, ApiError> {
    let detail = json!({"mine": new.mine});
    app.sources.set_secret(&user, &name, new).await?;
    let address = caller.address.to_string();
    user.note(&app.store, &address, "secret.set", &name, detail)
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/secrets/{name}?mine=true`
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
pub(crate) struct SecretQuery {
    mine: Option<bool>,
}

pub(crate) async fn remove_secret(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(name): Id<String>,
    QueryParams(SecretQuery { mine }): QueryParams<SecretQuery>,
) -> Result<StatusCode, ApiError> {
    // A non-admin cannot mean the shared secret, so the default is their own.
    let mine = mine.unwrap_or(!user.administers());
    app.sources.remove_secret(&user, &name, mine).await?;
    let address = caller.address.to_string();
    let detail = json!({"mine": mine});
    user.note(&app.store, &address, "secret.removed", &name, detail)
        .await;
    Ok(StatusCode::NO_CONTENT)
}

async fn note(
    app: &App,
    user: &CurrentUser,
    caller: &HttpCaller,
    action: &'static str,
    id: &SourceId,
    detail: Value,
) {
    let address = caller.address.to_string();
    user.note(&app.store, &address, action, id.as_str(), detail)
        .await;
}
