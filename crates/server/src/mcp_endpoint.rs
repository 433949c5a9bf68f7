//! The endpoints of MCP clients: Streamable HTTP, and the older HTTP with SSE.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{self, HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, StreamExt};
use hyper::body::Incoming;
use serde::Deserialize;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_mcp::server::{HttpRequest, MAX_REQUEST_BYTES, ServerResponse};
use ts_rs::TS;

use crate::authorize::{RouteRule, authorize};
use crate::error::ApiError;
use crate::mcp::{HubCaller, ToolsMode};
use crate::request::{HttpCaller, QueryParams, ReceivedBody, receive_body};
use crate::request_span;
use crate::resource_metadata::MCP_PATH;
use crate::state::ServerState;

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
    let address = http.address.to_string();
    let caller = HubCaller::with_mode(user, address, query.mode);
    let (parts, body) = request.into_parts();
    answer(&state, caller, parts, body).await
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
    let caller = HubCaller::with_expert(user, address, expert, query.mode);
    let (parts, body) = request.into_parts();
    answer(&state, caller, parts, body).await
}

/// Whether it is a message to the hub, most often a call: [`answer_hub_post`] is for those.
pub(crate) fn is_hub_post<B>(request: &http::Request<B>) -> bool {
    request.method() == Method::POST && request.uri().path() == MCP_PATH
}

/// `POST /mcp` as [`streamable_http`] answers it behind its route, without axum: its router and
/// the boxed futures around a handler take a tenth of a call.
pub(crate) async fn answer_hub_post(
    state: &ServerState,
    rule: RouteRule,
    request: http::Request<Incoming>,
) -> Response {
    let (parts, body) = request.into_parts();
    let span = request_span::open(&parts, MCP_PATH);
    // Not put into a variable first: the future of this function would hold it twice.
    request_span::run(
        span,
        authorize_and_answer(state, rule, parts, Body::new(body))
            .map(|answer| answer.unwrap_or_else(IntoResponse::into_response)),
    )
    .await
}

async fn authorize_and_answer(
    state: &ServerState,
    rule: RouteRule,
    mut parts: Parts,
    body: Body,
) -> Result<Response, ApiError> {
    let user = authorize(rule, &state.app, &parts).await?;
    let user = user.ok_or_else(ApiError::not_logged_in)?;
    let QueryParams(query) = QueryParams::<McpQuery>::from_request_parts(&mut parts, state).await?;
    let address = HttpCaller::address_of(&parts, &state.app).to_string();
    let caller = HubCaller::with_mode(user, address, query.mode);
    answer(state, caller, parts, body).await
}

async fn answer(
    state: &ServerState,
    caller: HubCaller,
    parts: Parts,
    body: Body,
) -> Result<Response, ApiError> {
    let ServerState { app, mcp, .. } = state;
    let ReceivedBody {
        bytes,
        // What the call works with counts as long as it works.
        reservation: _reserved,
    } = receive_message(app, caller.user(), &parts, body).await?;
    let request = HttpRequest {
        method: &parts.method,
        headers: &parts.headers,
        body: Bytes::from(bytes),
    };
    let response = mcp.handle_http(request, caller.clone()).await;
    Ok(respond(app, &caller, response))
}

/// `GET /sse`: the stream of a client of 2024-11-05.
pub(crate) async fn sse(
    State(state): State<ServerState>,
    user: CurrentUser,
    http: HttpCaller,
    headers: HeaderMap,
) -> Response {
    let caller = HubCaller::new(user, http.address.to_string());
    let response = state.mcp.open_sse(&headers, MESSAGES_PATH, caller.clone());
    respond(&state.app, &caller, response)
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
    let (parts, body) = request.into_parts();
    let ReceivedBody { bytes, .. } = receive_message(&state.app, &user, &parts, body).await?;
    let caller = HubCaller::new(user, http.address.to_string());
    let (headers, message) = (&parts.headers, Bytes::from(bytes));
    let posted = state.mcp.post_sse(headers, &session_id, message, &caller);
    Ok(respond(&state.app, &caller, posted.await))
}

async fn receive_message(
    app: &App,
    user: &CurrentUser,
    parts: &Parts,
    body: Body,
) -> Result<ReceivedBody, ApiError> {
    if parts.method != Method::POST {
        return Ok(ReceivedBody {
            bytes: Vec::new(),
            reservation: None,
        });
    }
    let (budget, limit) = (&app.budget, MAX_REQUEST_BYTES);
    receive_body(body, &parts.headers, budget, Some(&user.id), limit).await
}

/// A stream ends with the key it was opened with, and with the server.
fn respond(app: &App, caller: &HubCaller, response: ServerResponse) -> Response {
    let (parts, body) = response.into_parts();
    let body = match body.into_bytes() {
        Ok(bytes) => Body::from(bytes),
        Err(events) => {
            let (app, caller) = (app.clone(), caller.clone());
            let ended = async move {
                tokio::select! {
                    () = caller.user().revoked(&app.store) => {}
                    () = app.closing.cancelled() => {}
                }
            };
            let events = Body::new(events).into_data_stream();
            Body::from_stream(events.take_until(Box::pin(ended)))
        }
    };
    Response::from_parts(parts, body)
}
