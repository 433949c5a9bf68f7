//! `/api/folders`: folders of one's chats.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::FolderId;

use crate::error::ApiError;
use crate::request::{Id, JsonBody};
use crate::wire::{ChatFolderChange, FolderView};

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<FolderView>>, ApiError> {
    Ok(Json(app.folders.list(&user.id).await?))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(new): JsonBody<ChatFolderChange>,
) -> Result<(StatusCode, Json<FolderView>), ApiError> {
    let folder = app.folders.create(&user.id, new).await?;
    Ok((StatusCode::CREATED, Json(folder)))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<FolderId>,
    JsonBody(change): JsonBody<ChatFolderChange>,
) -> Result<Json<FolderView>, ApiError> {
    Ok(Json(app.folders.change(&user.id, &id, change).await?))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<FolderId>,
) -> Result<StatusCode, ApiError> {
    app.folders.delete(&user.id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
