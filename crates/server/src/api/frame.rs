//! Pages that are not ours, in a frame of the chat: what a tool wants shown, and what a model
//! wrote.
//!
//! Such a page has no origin, no cookies and no network, and is shown inside the chat alone.

use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};

use crate::api_fault::ApiFault;
use crate::error::ApiError;

/// Its scripts run and its own pictures show. It reaches nothing and nobody, not
/// even by a form, a link or a window of its own; the page around it holds it in
/// its place (`frame-src`).
const FRAME_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none'; \
form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// Comes after the page: tells the chat how high the page is, once. One that
/// changes later tells it by the same message, as pages made for Open WebUI do.
const REPORT_HEIGHT: &str = include_str!("frame/height.js");

/// Waits for its parent to send a page, and becomes it.
const PREVIEW: &str = include_str!("frame/preview.html");

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What no policy of content covers: names that are looked up ahead, and calls
/// over WebRTC, which the browsers that know the second of these refuse.
const DNS_PREFETCH: HeaderName = HeaderName::from_static("x-dns-prefetch-control");
const CONNECTIONS: HeaderName = HeaderName::from_static("connection-allowlist");

/// An empty frame for what a model wrote: the page sends it, as `{html}`.
pub(crate) async fn preview(headers: HeaderMap) -> Result<Response, ApiError> {
    require_frame(&headers)?;
    Ok(page(PREVIEW.replace("{height}", REPORT_HEIGHT)))
}

/// On its own it would stand under our address, and could lead its reader away.
pub(super) fn require_frame(headers: &HeaderMap) -> Result<(), ApiError> {
    match headers.get(SEC_FETCH_DEST) {
        Some(destination) if destination != "iframe" => {
            Err(ApiError::forbidden(ApiFault::FrameOnly))
        }
        Some(_) | None => Ok(()),
    }
}

/// A page of a tool.
pub(super) fn tool_page(mut page: Vec<u8>) -> Response {
    let script = format!("\n<script>{REPORT_HEIGHT}</script>\n");
    page.extend_from_slice(script.as_bytes());
    self::page(page)
}

fn page(page: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, FRAME_POLICY),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (DNS_PREFETCH, "off"),
        (CONNECTIONS, "()"),
    ];
    (headers, page).into_response()
}
