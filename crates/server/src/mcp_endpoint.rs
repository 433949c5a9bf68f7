//! The endpoints of MCP clients: Streamable HTTP, and the older HTTP with SSE.

mod resource_metadata;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use futures::StreamExt;
use serde::Deserialize;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_mcp::server::{HttpRequest, MAX_REQUEST_BYTES, ServerResponse};
use ts_rs::TS;

use crate::error::ApiError;
use crate::mcp::{HubCaller, ToolsMode};
use crate::request::{HttpCaller, QueryParams, ReceivedBody, receive};
use crate::state::ServerState;

pub(crate) use resource_metadata::{
    RESOURCE_METADATA_PATH, resource_metadata, resource_metadata_url,
};

/// `/mcp?mode=search`
#[derive(Debug, Default, Deserialize, TS)]
pub(crate) struct McpQuery {
    #[serde(default)]
    mode: ToolsMode,
}

/// `/mcp`, in every version and with every method.
pub(crate) async fn streamable_http(
    State(state): State<ServerState>,
    user: CurrentUser,
    http: HttpCaller,
    QueryParams(query): QueryParams<McpQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let caller = HubCaller::new(user.clone(), http.address.to_string()).in_mode(query.mode);
    answer(&state, user, caller, request).await
}

/// `/mcp/experts/{name}`: the same with the tools of one expert alone.
pub(crate) async fn expert_http(
    State(state): State<ServerState>,
    user: CurrentUser,
    http: HttpCaller,
    Path(name): Path<String>,
    QueryParams(query): QueryParams<McpQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let expert = state.app.experts.named(&user.id, &name).await?;
    let address = http.address.to_string();
    let caller = HubCaller::with_expert(user.clone(), address, Some(expert)).in_mode(query.mode);
    answer(&state, user, caller, request).await
}

async fn answer(
    state: &ServerState,
    user: CurrentUser,
    caller: HubCaller,
    request: Request,
) -> Result<Response, ApiError> {
    let ServerState { app, mcp, .. } = state;
    let (method, headers) = (request.method().clone(), request.headers().clone());
    let ReceivedBody {
        bytes,
        // What the call works with counts as long as it works.
        reservation: _reserved,
    } = body(app, &user, request).await?;
    let request = HttpRequest {
        method: &method,
        headers: &headers,
        body: Bytes::from(bytes),
    };
    let response = mcp.handle_http(request, caller).await;
    Ok(respond(app, user, response))
}

/// `GET /sse`: the stream of a client of 2024-11-05.
pub(crate) async fn sse(
    State(state): State<ServerState>,
    user: CurrentUser,
    http: HttpCaller,
    headers: HeaderMap,
) -> Response {
    let caller = HubCaller::new(user.clone(), http.address.to_string());
    let response = state.mcp.open_sse(&headers, MESSAGES_PATH, caller);
    respond(&state.app, user, response)
}

/// Where such a client posts its messages.
pub(crate) const MESSAGES_PATH: &str = "/messages";

#[derive(Debug, Deserialize, TS)]
pub(crate) struct MessagesQuery {
    session_id: String,
}

/// `POST /messages?session_id=…`
pub(crate) async fn messages(
    State(state): State<ServerState>,
    user: CurrentUser,
    http: HttpCaller,
    QueryParams(MessagesQuery { session_id }): QueryParams<MessagesQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let headers = request.headers().clone();
    let ReceivedBody { bytes, .. } = body(&state.app, &user, request).await?;
    let caller = HubCaller::new(user.clone(), http.address.to_string());
    let message = Bytes::from(bytes);
    let posted = state.mcp.post_sse(&headers, &session_id, message, &caller);
    Ok(respond(&state.app, user, posted.await))
}

async fn body(app: &App, user: &CurrentUser, request: Request) -> Result<ReceivedBody, ApiError> {
    if request.method() != Method::POST {
        return Ok(ReceivedBody {
            bytes: Vec::new(),
            reservation: None,
        });
    }
    receive(request, &app.budget, Some(&user.id), MAX_REQUEST_BYTES).await
}

/// A stream ends with the key it was opened with, and with the server.
fn respond(app: &App, user: CurrentUser, response: ServerResponse) -> Response {
    let (parts, body) = response.into_parts();
    let body = match body.into_bytes() {
        Ok(bytes) => Body::from(bytes),
        Err(events) => {
            let app = app.clone();
            let ended = async move {
                tokio::select! {
                    () = user.revoked(&app.store) => {}
                    () = app.closing.cancelled() => {}
                }
            };
            let events = Body::new(events).into_data_stream();
            Body::from_stream(events.take_until(Box::pin(ended)))
        }
    };
    Response::from_parts(parts, body)
}
