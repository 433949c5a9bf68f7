//! Servers that offer tools, and the secrets they are given.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::SourceId;

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::query::Params;
use super::wire::{
    DocumentChange, ImportSources, ImportedSource, LogLine, NewSecret, NewSource, SecretView,
    SourceChange, SourceDetail, SourcePreview,
};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;
use crate::sources::Outcome;

pub(super) async fn list(State(app): State<App>, user: CurrentUser) -> Json<Vec<SourceDetail>> {
    Json(app.sources.list(&user))
}

pub(super) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
) -> Result<Json<SourceDetail>, ApiError> {
    Ok(Json(app.sources.show(&user, &id)?))
}

pub(super) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(new): Body<NewSource>,
) -> Result<(StatusCode, Json<SourceDetail>), ApiError> {
    app.storage.check_room()?;
    let source = app.sources.add(&user, new).await?;
    let detail = json!({"name": source.name, "mine": source.mine});
    note(&app, &user, &caller, "source.added", &source.id, detail).await;
    Ok((StatusCode::CREATED, Json(source)))
}

/// What a server would offer, before it is saved.
pub(super) async fn preview(
    State(app): State<App>,
    user: CurrentUser,
    Body(new): Body<NewSource>,
) -> Result<Json<SourcePreview>, ApiError> {
    Ok(Json(app.sources.preview(&user, new).await?.into()))
}

/// Reads its document now, and says what is different.
pub(super) async fn refresh(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
) -> Result<Json<DocumentChange>, ApiError> {
    Ok(Json(app.sources.refresh(&user, &id).await?.into()))
}

/// Each server of the text is added or refused on its own: only a text that cannot be read is an error.
pub(super) async fn import(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(asked): Body<ImportSources>,
) -> Result<Json<Vec<ImportedSource>>, ApiError> {
    app.storage.check_room()?;
    let imported = app.sources.import(&user, &asked, None).await?;
    for one in &imported {
        if let (Outcome::Added(id), false) = (&one.outcome, asked.preview) {
            let detail = json!({"name": one.name, "imported": true});
            note(&app, &user, &caller, "source.added", id, detail).await;
        }
    }
    Ok(Json(imported.into_iter().map(Into::into).collect()))
}

pub(super) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<SourceId>,
    Body(change): Body<SourceChange>,
) -> Result<Json<SourceDetail>, ApiError> {
    let source = app.sources.change(&user, &id, change).await?;
    let detail = json!({"name": source.name, "enabled": source.enabled});
    note(&app, &user, &caller, "source.changed", &id, detail).await;
    Ok(Json(source))
}

pub(super) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<SourceId>,
) -> Result<StatusCode, ApiError> {
    app.sources.remove(&user, &id).await?;
    note(&app, &user, &caller, "source.removed", &id, json!({})).await;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn restart(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<SourceId>,
) -> Result<Json<SourceDetail>, ApiError> {
    let source = app.sources.restart(&user, &id).await?;
    note(&app, &user, &caller, "source.restarted", &id, json!({})).await;
    Ok(Json(source))
}

pub(super) async fn logs(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
) -> Result<Json<Vec<LogLine>>, ApiError> {
    Ok(Json(app.sources.logs(&user, &id)?))
}

pub(super) async fn secrets(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<SecretView>>, ApiError> {
    Ok(Json(app.sources.secrets(&user).await?))
}

pub(super) async fn set_secret(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(name): Id<String>,
    Body(new): Body<NewSecret>,
) -> Result<StatusCode, ApiError> {
    let detail = json!({"mine": new.mine});
    app.sources.set_secret(&user, &name, new).await?;
    let address = caller.address.to_string();
    user.note(&app, &address, "secret.set", &name, detail).await;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/secrets/{name}?mine=true`
#[derive(Debug, Deserialize)]
pub(super) struct Whose {
    mine: Option<bool>,
}

pub(super) async fn remove_secret(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(name): Id<String>,
    Params(Whose { mine }): Params<Whose>,
) -> Result<StatusCode, ApiError> {
    // Who cannot have meant everybody's meant their own.
    let mine = mine.unwrap_or(!user.administers());
    app.sources.remove_secret(&user, &name, mine).await?;
    let address = caller.address.to_string();
    let detail = json!({"mine": mine});
    user.note(&app, &address, "secret.removed", &name, detail)
        .await;
    Ok(StatusCode::NO_CONTENT)
}

async fn note(
    app: &App,
    user: &CurrentUser,
    caller: &Caller,
    action: &'static str,
    id: &SourceId,
    detail: Value,
) {
    let address = caller.address.to_string();
    user.note(app, &address, action, id.as_str(), detail).await;
}
