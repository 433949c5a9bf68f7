//! `/api/skills`: installed skills; and tools that people write themselves, which become skills.

use std::convert::Infallible;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use futures::Stream;
use serde::Deserialize;
use serde_json::json;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::SourceId;
use ts_rs::TS;

use super::models::event_stream;
use crate::error::ApiError;
use crate::request::{HttpCaller, Id, JsonBody, QueryParams};
use crate::wire::{
    ModuleCode, ModuleView, NewModule, SandboxView, SkillChange, SkillDetail, SkillFileView,
    SkillInput, SkillInstall, SkillPreview, SkillVersionChoice, SkillView, TryModule,
};

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<SkillView>>, ApiError> {
    Ok(Json(app.skills.list(&user).await?))
}

pub(crate) async fn sandbox(State(app): State<App>, _user: CurrentUser) -> Json<SandboxView> {
    Json(app.skills.sandbox().await)
}

pub(crate) async fn preview(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(input): JsonBody<SkillInput>,
) -> Result<Json<SkillPreview>, ApiError> {
    Ok(Json(app.skills.preview(&user, input).await?))
}

pub(crate) async fn install(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(install): JsonBody<SkillInstall>,
) -> Result<(StatusCode, Json<Vec<SkillView>>), ApiError> {
    let installed = app.skills.install(&user, install).await?;
    for skill in &installed {
        note(&app, &user, &caller, "skill.installed", skill).await;
    }
    Ok((StatusCode::CREATED, Json(installed)))
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
) -> Result<Json<SkillDetail>, ApiError> {
    Ok(Json(app.skills.show(&user, &id).await?))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<SourceId>,
    JsonBody(change): JsonBody<SkillChange>,
) -> Result<Json<SkillDetail>, ApiError> {
    let changed = app.skills.change(&user, &id, change).await?;
    note(&app, &user, &caller, "skill.changed", &changed.skill).await;
    Ok(Json(changed))
}

pub(crate) async fn use_version(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<SourceId>,
    JsonBody(choice): JsonBody<SkillVersionChoice>,
) -> Result<Json<SkillDetail>, ApiError> {
    let changed = app.skills.use_version(&user, &id, &choice.hash).await?;
    note(&app, &user, &caller, "skill.installed", &changed.skill).await;
    Ok(Json(changed))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<SourceId>,
) -> Result<StatusCode, ApiError> {
    app.skills.remove(&user, &id).await?;
    let address = caller.address.to_string();
    let subject = id.as_str();
    user.note(&app.store, &address, "skill.removed", subject, json!({}))
        .await;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, TS)]
pub(crate) struct FileParams {
    path: String,
}

pub(crate) async fn file(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<SourceId>,
    QueryParams(params): QueryParams<FileParams>,
) -> Result<Json<SkillFileView>, ApiError> {
    Ok(Json(app.skills.file(&user, &id, &params.path).await?))
}

/// Which tools code has.
pub(crate) async fn describe(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(code): JsonBody<ModuleCode>,
) -> Result<Json<ModuleView>, ApiError> {
    Ok(Json(app.skills.describe(&user, code).await?))
}

/// What a call prints as it runs, then its result. Hanging up ends it.
pub(crate) async fn try_code(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(trial): JsonBody<TryModule>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let events = app.skills.try_code(&user, trial)?;
    Ok(event_stream(&app, events))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<NewModule>,
) -> Result<(StatusCode, Json<SkillDetail>), ApiError> {
    let created = app.skills.create(&user, new).await?;
    note(&app, &user, &caller, "skill.installed", &created.skill).await;
    Ok((StatusCode::CREATED, Json(created)))
}

/// The same, with what installs its packages says, then the skill. Hanging up before that saves
/// nothing.
pub(crate) async fn create_streamed(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<NewModule>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let (noting, author) = (app.clone(), user.clone());
    let installed = move |skill: SkillView| async move {
        note(&noting, &author, &caller, "skill.installed", &skill).await;
    };
    let events = app.skills.create_streamed(&user, new, installed)?;
    Ok(event_stream(&app, events))
}

async fn note(
    app: &App,
    user: &CurrentUser,
    caller: &HttpCaller,
    action: &'static str,
    skill: &SkillView,
) {
    let detail = json!({"name": skill.name, "hash": skill.hash, "enabled": skill.enabled});
    let address = caller.address.to_string();
    user.note(&app.store, &address, action, skill.id.as_str(), detail)
        .await;
}
