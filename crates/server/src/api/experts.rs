//! `/api/experts`: experts, listed, made, changed and copied.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::experts::{read_expert, with_skill_ids, with_skill_names, write_expert};
use tenon_domain::ExpertId;

use crate::error::ApiError;
use crate::request::{HttpCaller, Id, JsonBody};
use crate::wire::{ExpertChange, ExpertFile, ExpertView};

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<ExpertView>>, ApiError> {
    Ok(Json(app.experts.list(&user).await?))
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ExpertId>,
) -> Result<Json<ExpertView>, ApiError> {
    Ok(Json(app.experts.show(&user, &id).await?))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<ExpertChange>,
) -> Result<(StatusCode, Json<ExpertView>), ApiError> {
    let expert = app.experts.create(&user, new).await?;
    note(&app, &user, &caller, "expert.added", &expert).await;
    Ok((StatusCode::CREATED, Json(expert)))
}

pub(crate) async fn copy(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<ExpertId>,
) -> Result<(StatusCode, Json<ExpertView>), ApiError> {
    let expert = app.experts.copy(&user, &id).await?;
    note(&app, &user, &caller, "expert.added", &expert).await;
    Ok((StatusCode::CREATED, Json(expert)))
}

/// `GET /api/experts/{id}/file`
pub(crate) async fn export(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ExpertId>,
) -> Result<Json<ExpertFile>, ApiError> {
    let expert = app.experts.find(&user.id, &id).await?;
    let skills = app.skills.list(&user).await?;
    let text = write_expert(&with_skill_names(expert.definition, &skills));
    Ok(Json(ExpertFile { text }))
}

/// `POST /api/experts/file`: adds an expert, or changes one's own of the same name, which stays
/// the team's where it is.
pub(crate) async fn import(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(file): JsonBody<ExpertFile>,
) -> Result<(StatusCode, Json<ExpertView>), ApiError> {
    let skills = app.skills.list(&user).await?;
    let definition = with_skill_ids(read_expert(&file.text)?, &skills)?;
    let imported = app.experts.import(&user, None, definition).await?;
    let (action, expert) = imported.into_audited();
    note(&app, &user, &caller, action, &expert).await;
    Ok((StatusCode::CREATED, Json(expert)))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<ExpertId>,
    JsonBody(change): JsonBody<ExpertChange>,
) -> Result<Json<ExpertView>, ApiError> {
    let expert = app.experts.change(&user, &id, change).await?;
    note(&app, &user, &caller, "expert.changed", &expert).await;
    Ok(Json(expert))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<ExpertId>,
) -> Result<StatusCode, ApiError> {
    app.experts.delete(&user, &id).await?;
    let address = caller.address.to_string();
    let subject = id.as_str();
    user.note(&app.store, &address, "expert.deleted", subject, json!({}))
        .await;
    Ok(StatusCode::NO_CONTENT)
}

async fn note(
    app: &App,
    user: &CurrentUser,
    caller: &HttpCaller,
    action: &'static str,
    expert: &ExpertView,
) {
    let detail = json!({"name": expert.definition.name, "visibility": expert.visibility});
    let address = caller.address.to_string();
    user.note(&app.store, &address, action, expert.id.as_str(), detail)
        .await;
}
