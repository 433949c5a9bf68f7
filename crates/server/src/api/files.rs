//! `/api/files`: files that people attach to their messages.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::{AttachedFile, FileId, FileKind};
use tenon_store::FileContent;
use ts_rs::TS;

use crate::error::ApiError;
use crate::request::{FileBody, Id, QueryParams};

/// `POST /api/files?name=`
#[derive(Debug, Deserialize, TS)]
pub(crate) struct NewFileQuery {
    name: String,
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    QueryParams(file): QueryParams<NewFileQuery>,
    FileBody(bytes): FileBody,
) -> Result<(StatusCode, Json<AttachedFile>), ApiError> {
    let file = app.files.add(&user.id, &file.name, bytes).await?;
    Ok((StatusCode::CREATED, Json(file)))
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<FileId>,
) -> Result<Response, ApiError> {
    Ok(file_response(app.files.show(&user.id, &id).await?))
}

/// Pictures are shown; of anything else no byte becomes a page of ours.
pub(super) fn file_response(content: FileContent) -> Response {
    let (content_type, disposition) = match content.file.kind {
        FileKind::Image => (content.file.media_type.as_str(), "inline"),
        FileKind::Text => ("text/plain; charset=utf-8", "attachment"),
        FileKind::Document | FileKind::Other => ("application/octet-stream", "attachment"),
    };
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_DISPOSITION, disposition),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'",
        ),
    ];
    (headers, content.data).into_response()
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<FileId>,
) -> Result<StatusCode, ApiError> {
    app.files.delete(&user.id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
