//! What tools gave that is kept aside: files, long outputs, and pages to be shown.
//!
//! No byte of a tool is ever a page of ours: see `frame.rs`.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use tenon_domain::{BlobId, SHOWN_PAGE};

use super::frame::{require_frame, tool_page};
use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::request::Id;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

const TEXT: &str = "text/plain; charset=utf-8";

/// The bytes as they are.
pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<BlobId>,
) -> Result<Response, ApiError> {
    let blob = app.store.blob(&user.id, &id).await?;
    let (content_type, disposition) = shown_as(&blob.media_type);
    let disposition = if content_type == TEXT {
        format!("{disposition}; filename=\"{id}.txt\"")
    } else {
        // The page gives the name of a file with its link.
        disposition.to_owned()
    };
    let headers = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, blob.data).into_response())
}

/// A page that its tool wants shown, for a frame in the chat.
pub(crate) async fn frame(
    State(app): State<App>,
    user: CurrentUser,
    headers: HeaderMap,
    Id(id): Id<BlobId>,
) -> Result<Response, ApiError> {
    require_frame(&headers)?;
    let blob = app.store.blob(&user.id, &id).await?;
    if blob.media_type != SHOWN_PAGE {
        return Err(ApiError::not_found(ApiFault::NoPage));
    }
    Ok(tool_page(blob.data))
}

/// Bytes from a tool are a picture, a sound, text or a download: never a page of ours.
fn shown_as(media_type: &str) -> (&str, &'static str) {
    const SHOWN: [&str; 14] = [
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/mpeg",
        "audio/mp3",
        "audio/ogg",
        "audio/wav",
        "audio/wave",
        "audio/webm",
        "audio/x-wav",
    ];
    match media_type {
        shown if SHOWN.contains(&shown) => (shown, "inline"),
        json if json.starts_with("application/json") => (TEXT, "inline"),
        text if text.starts_with("text/") => (TEXT, "inline"),
        _ => ("application/octet-stream", "attachment"),
    }
}
