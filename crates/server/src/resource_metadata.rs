//! The description of the protected resource `/mcp` (RFC 9728): API keys as bearer tokens. There is
//! no authorization server: keys are made in Tenon's settings.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::http::request::Parts;
use serde_json::{Value, json};
use tenon_app::app::App;
use url::Url;

use crate::request::HttpCaller;

/// Where MCP clients find the hub: the resource.
pub(crate) const MCP_PATH: &str = "/mcp";

pub(crate) const PATH: &str = "/.well-known/oauth-protected-resource";

/// Where the description is, as the client sees this server.
pub(crate) fn url(app: &App, request: &Parts) -> Url {
    public_url(app, request, &format!("{PATH}{MCP_PATH}"))
}

pub(crate) async fn describe(State(app): State<App>, request: Parts) -> Json<Value> {
    Json(json!({
        "resource": public_url(&app, &request, MCP_PATH),
        "resource_name": "Tenon",
        "bearer_methods_supported": ["header"],
    }))
}

/// The guard has checked the host.
fn public_url(app: &App, request: &Parts, path: &str) -> Url {
    let headers = &request.headers;
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri.authority().map(|authority| authority.as_str()));
    let is_https = HttpCaller::of(&request.extensions, headers, app).is_https;
    let scheme = if is_https { "https" } else { "http" };
    let url = format!("{scheme}://{}{path}", host.unwrap_or("localhost"));
    Url::parse(&url).unwrap_or_else(|_| {
        Url::parse("http://localhost/mcp").expect("a URL that was written down is one")
    })
}
