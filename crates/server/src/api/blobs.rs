//! What tools gave that is kept aside: files, long outputs, and pages to be shown.
//!
//! No byte of a tool is ever a page of ours. What is shown as a page has no
//! origin, no cookies and no network, and is shown inside the chat alone.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use tenon_domain::{BlobId, SHOWN_PAGE};

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::request::Id;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

const TEXT: &str = "text/plain; charset=utf-8";

/// Its scripts run and its own pictures show. It reaches nothing and nobody, not
/// even by a form, a link or a window of its own; the page around it holds it in
/// its place (`frame-src`).
const FRAME_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none'; \
form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// Comes after the page: tells the chat how high the page is, once. One that
/// changes later tells it by the same message, as pages made for Open WebUI do.
const TELL_HEIGHT: &str = concat!("\n<script>", include_str!("blobs/height.js"), "</script>\n");

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What no policy of content covers: names that are looked up ahead, and calls
/// over WebRTC, which the browsers that know the second of these refuse.
const DNS_PREFETCH: HeaderName = HeaderName::from_static("x-dns-prefetch-control");
const CONNECTIONS: HeaderName = HeaderName::from_static("connection-allowlist");

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
    // On its own it would stand under our address, and could lead its reader away.
    let dest = headers.get(SEC_FETCH_DEST);
    if dest.is_some_and(|dest| dest != "iframe") {
        return Err(ApiError::forbidden(ApiFault::FrameOnly));
    }
    let blob = app.store.blob(&user.id, &id).await?;
    if blob.media_type != SHOWN_PAGE {
        return Err(ApiError::not_found(ApiFault::NoPage));
    }
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, FRAME_POLICY),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (DNS_PREFETCH, "off"),
        (CONNECTIONS, "()"),
    ];
    let mut page = blob.data;
    page.extend_from_slice(TELL_HEIGHT.as_bytes());
    Ok((headers, page).into_response())
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
