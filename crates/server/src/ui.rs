//! The page, built by Vite and carried in the binary.
//!
//! A debug build reads it from disk. A build without Node has no page and says so.

use axum::http::{StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct EmbeddedPage;

/// Vite puts a hash of the content into these names: they never change.
const IMMUTABLE_CACHE: &str = "public, max-age=31536000, immutable";

pub(crate) async fn index() -> Response {
    match EmbeddedPage::get("index.html") {
        Some(_) => file("index.html"),
        None => Html(
            "<!doctype html><title>Tenon</title><p>The server runs, but its page is not built. \
             Run <code>make web</code> and reload.</p>",
        )
        .into_response(),
    }
}

pub(crate) async fn asset(uri: Uri) -> Response {
    file(uri.path().trim_start_matches('/'))
}

/// A file of the page, or of others that come with it.
pub(crate) fn file(path: &str) -> Response {
    let Some(file) = EmbeddedPage::get(path) else {
        return (
            StatusCode::NOT_FOUND,
            "There is nothing here. Tenon's page is at /.",
        )
            .into_response();
    };
    let caching = if path.starts_with("assets/") {
        IMMUTABLE_CACHE
    } else {
        "no-cache"
    };
    let headers = [
        (header::CONTENT_TYPE, content_type(&file)),
        (header::CACHE_CONTROL, caching.to_owned()),
    ];
    (headers, file.data).into_response()
}

fn content_type(file: &rust_embed::EmbeddedFile) -> String {
    let mime = file.metadata.mimetype();
    if mime.starts_with("text/") {
        format!("{mime}; charset=utf-8")
    } else {
        mime.to_owned()
    }
}
