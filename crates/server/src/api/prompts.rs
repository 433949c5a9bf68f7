//! `/api/prompts`: prompts that people save, and those that tool servers offer.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::PromptId;
use tenon_mcp::RpcError;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::mcp::{fill_prompt, server_prompts};
use crate::request::{Id, JsonBody};
use crate::wire::{
    FillPrompt, FilledPrompt, NewPrompt, PromptChange, PromptView, ServerPromptView,
};

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<PromptView>>, ApiError> {
    Ok(Json(app.prompts.list(&user).await?))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(new): JsonBody<NewPrompt>,
) -> Result<(StatusCode, Json<PromptView>), ApiError> {
    let prompt = app.prompts.create(&user, new).await?;
    Ok((StatusCode::CREATED, Json(prompt)))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<PromptId>,
    JsonBody(change): JsonBody<PromptChange>,
) -> Result<Json<PromptView>, ApiError> {
    Ok(Json(app.prompts.change(&user, &id, change).await?))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<PromptId>,
) -> Result<StatusCode, ApiError> {
    app.prompts.delete(&user, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Servers that do not answer in time are left out.
pub(crate) async fn offered(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<ServerPromptView>>, ApiError> {
    let toolset = app.registry.toolset(app.tools.access(&user, None).await?);
    Ok(Json(server_prompts(&toolset).await))
}

pub(crate) async fn fill(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(request): JsonBody<FillPrompt>,
) -> Result<Json<FilledPrompt>, ApiError> {
    let toolset = app.registry.toolset(app.tools.access(&user, None).await?);
    let text = fill_prompt(&toolset, request.name, request.arguments).await;
    let text = text.map_err(|error| {
        let message = error.message;
        match error.code {
            RpcError::INVALID_PARAMS => ApiError::bad_request(ApiFault::BadRequest { message }),
            _ => ApiError::bad_gateway(ApiFault::Upstream { message }),
        }
    })?;
    Ok(Json(FilledPrompt { text }))
}
