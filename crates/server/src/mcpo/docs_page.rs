//! Swagger UI for these documents, from files in the binary: it works offline.

use axum::http::header::{self, HeaderValue};
use axum::response::{Html, IntoResponse, Response};

use crate::ui;

/// Where the files are, here and among the files of the page.
pub(crate) const FOLDER: &str = "/swagger/";

/// Nothing from elsewhere, and nothing that stands in the page itself but the styles that Swagger
/// UI sets.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page that shows the document at an address of this server.
pub(crate) fn page(title: &str, root_path: &str, document: &str) -> Response {
    let [title, folder, document] = [title, &format!("{root_path}{FOLDER}"), document].map(escape);
    let page = format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Swagger UI</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{folder}swagger-ui.css">
<link rel="stylesheet" href="{folder}docs.css">
</head>
<body>
<div id="docs"></div>
<script src="{folder}swagger-ui-bundle.js"></script>
<script src="{folder}docs.js" data-document="{document}"></script>
</body>
</html>
"#
    );
    with_policy(Html(page).into_response())
}

/// Whether a page needs this file.
pub(crate) fn is_file(name: &str) -> bool {
    matches!(
        name,
        "swagger-ui.css" | "swagger-ui-bundle.js" | "docs.css" | "docs.js"
    )
}

pub(crate) fn file(name: &str) -> Response {
    with_policy(ui::file(&format!("swagger/{name}")))
}

fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let policy = HeaderValue::from_static(CSP);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}
