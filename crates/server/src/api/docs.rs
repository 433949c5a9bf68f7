//! `/api/openapi.json` and `/api/docs`: the API, as a document and as a page.

use axum::http::header;
use axum::response::{Html, IntoResponse, Response};

/// As `make types` wrote it.
const DOCUMENT: &str = include_str!("../openapi.json");

const PAGE: &str = include_str!("docs/page.html");

pub(crate) async fn document() -> Response {
    let json = (header::CONTENT_TYPE, "application/json");
    ([json], DOCUMENT).into_response()
}

pub(crate) async fn page() -> Response {
    Html(PAGE).into_response()
}
