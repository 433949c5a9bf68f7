//! `/mcpo`: all tools of a user as an mcpo would offer them, one server for each source.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::tools::ToolCaller;
use tenon_domain::{CallId, CallInterface, SourceId, SourceInfo, SourceKind, ToolCall};
use tenon_store::fresh_id;
use tenon_tools::{Tool, Toolset};
use tokio_util::sync::CancellationToken;

use super::arguments::ArgumentForm;
use super::docs_page;
use super::document::{DocumentTool, MainDocument, ServerDocument};
use super::fault::McpoFault;
use super::reply_recorder::ReplyRecorder;
use crate::error::ApiError;
use crate::reply_cell::MAX_REPLY_BYTES;
use crate::request::{HttpCaller, is_json, receive};

/// Where these paths begin.
const PATH_PREFIX: &str = "/mcpo/";

/// As long as the body of any other call.
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// Errors are a few sentences.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// A source in a path: one with tools that the caller can call now.
struct SourcePath<'a> {
    name: String,
    info: &'a SourceInfo,
    tools: Vec<&'a Arc<Tool>>,
}

pub(crate) async fn main_document(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Response, ApiError> {
    let toolset = toolset(&app, &user).await?;
    let names: Vec<String> = sources(&toolset).into_iter().map(|one| one.name).collect();
    let document = MainDocument {
        title: "Tenon",
        version: env!("CARGO_PKG_VERSION"),
        description: MainDocument::DESCRIPTION,
        path_prefix: PATH_PREFIX,
        root_path: "",
        servers: &names,
    };
    Ok(json_response(document.write()))
}

pub(crate) async fn source_document(
    State(app): State<App>,
    user: CurrentUser,
    Path(source): Path<String>,
) -> Result<Response, Response> {
    let toolset = toolset(&app, &user).await.map_err(fault)?;
    let Some(source) = sources(&toolset).into_iter().find(|one| one.name == source) else {
        return Err(McpoFault::NotFound.into_response());
    };
    let tools = source.tools.iter().map(|tool| DocumentTool {
        name: &tool.spec.name,
        description: &tool.spec.description,
        input_schema: &tool.spec.input_schema,
        output_schema: tool.source.output_schema(&tool.spec.name),
    });
    let document = ServerDocument {
        title: &source.info.title,
        version: MainDocument::VERSION,
        description: &match source.info.kind {
            SourceKind::Mcp => format!("{} MCP Server", source.info.title),
            SourceKind::Builtin | SourceKind::Skill | SourceKind::Openapi | SourceKind::Browser => {
                format!("{} of Tenon", source.info.title)
            }
        },
        base_path: Some(&format!("{PATH_PREFIX}{}", source.name)),
        has_key: true,
    };
    Ok(json_response(document.write(tools)))
}

pub(crate) async fn docs(_user: CurrentUser) -> Response {
    docs_page::page("Tenon", "", &format!("{PATH_PREFIX}openapi.json"))
}

pub(crate) async fn source_docs(_user: CurrentUser, Path(source): Path<String>) -> Response {
    let document = format!("{PATH_PREFIX}{source}/openapi.json");
    docs_page::page(&source, "", &document)
}

pub(crate) async fn call(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Path((source, tool)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Response> {
    let toolset = toolset(&app, &user).await.map_err(fault)?;
    let Some(tool) = find(&toolset, &source, &tool) else {
        return Err(McpoFault::NotFound.into_response());
    };
    let is_json = takes_json(request.headers());
    let body = receive(request, &app.budget, Some(&user.id), MAX_BODY_BYTES).await;
    let body = body.map_err(fault)?;
    let form = ArgumentForm::new(&tool.spec.input_schema);
    let parsed = app
        .budget
        .parse(&user.id, body.bytes, move |body| form.read(body, is_json));
    // What it takes in memory counts until the call is answered.
    let (arguments, _memory) = parsed.await.map_err(|error| fault(error.into()))?;
    let arguments = arguments.map_err(|errors| McpoFault::Arguments(errors).into_response())?;
    let recorder = Arc::new(ReplyRecorder::new(Vec::new()).limited_to(MAX_REPLY_BYTES));
    let caller = ToolCaller {
        user: &user,
        address: &caller.address.to_string(),
        interface: CallInterface::Mcpo,
        client: None,
        expert: None,
        searches: false,
    };
    let mut call = ToolCall {
        id: CallId(fresh_id()),
        tool_id: tool.spec.id.clone(),
        input: arguments,
    };
    let cancel = CancellationToken::new();
    let called = app
        .tools
        .call_for(recorder.clone(), caller, &mut call, cancel);
    let result = called.await.map_err(|error| fault(error.into()))?;
    let result = result.ok_or_else(|| McpoFault::NotFound.into_response())?;
    let outcome = recorder.outcome(result, call.input);
    outcome.map(json_response).map_err(McpoFault::into_response)
}

/// An error of ours in the words of FastAPI.
pub(crate) async fn as_mcpo_error(response: Response) -> Response {
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    if !is_error {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, MAX_ERROR_BYTES).await.unwrap_or_default();
    let value: Value = serde_json::from_slice(&body).unwrap_or_default();
    if value.get("detail").is_some() {
        return (parts, body).into_response();
    }
    let detail = match parts.status {
        StatusCode::NOT_FOUND => json!("Not Found"),
        StatusCode::METHOD_NOT_ALLOWED => json!("Method Not Allowed"),
        _ => value
            .pointer("/error/message")
            .cloned()
            .unwrap_or_else(|| json!(parts.status.canonical_reason())),
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    if parts.status == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer");
        parts.headers.insert(header::WWW_AUTHENTICATE, scheme);
    }
    (parts, Json(json!({ "detail": detail }))).into_response()
}

async fn toolset(app: &App, user: &CurrentUser) -> Result<Toolset, ApiError> {
    let access = app.tools.access(user, None).await?;
    Ok(app.registry.toolset(access))
}

/// The sources with tools that the caller can call now, by name. Where two have the same name, the
/// kind tells them apart.
fn sources(toolset: &Toolset) -> Vec<SourcePath<'_>> {
    let mut by_source: HashMap<&SourceId, Vec<&Arc<Tool>>> = HashMap::new();
    for tool in toolset.callable_now() {
        let id = &tool.source.info().id;
        by_source.entry(id).or_default().push(tool);
    }
    let infos: Vec<&SourceInfo> = toolset.sources().map(|(info, _)| info).collect();
    let visible = infos.iter().filter_map(|info| {
        let tools = by_source.remove(&info.id)?;
        Some(SourcePath {
            name: path_name(info, &infos),
            info,
            tools,
        })
    });
    let mut sources: Vec<SourcePath<'_>> = visible.collect();
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

fn path_name(info: &SourceInfo, all: &[&SourceInfo]) -> String {
    let others = all.iter().filter(|other| other.id != info.id);
    let mut same = others.filter(|other| other.name == info.name).peekable();
    if same.peek().is_none() {
        return info.name.clone();
    }
    if same.any(|other| other.kind == info.kind) {
        return info.id.0.clone();
    }
    let kind = serde_json::to_value(info.kind).unwrap_or_default();
    format!("{}-{}", kind.as_str().unwrap_or_default(), info.name)
}

fn find<'a>(toolset: &'a Toolset, source: &str, tool: &str) -> Option<&'a Arc<Tool>> {
    let infos: Vec<&SourceInfo> = toolset.sources().map(|(info, _)| info).collect();
    let (_, tools) = toolset
        .sources()
        .find(|(info, _)| path_name(info, &infos) == source)?;
    tools.iter().find(|one| one.spec.name == tool)
}

fn takes_json(headers: &HeaderMap) -> bool {
    is_json(headers) || !headers.contains_key(header::CONTENT_TYPE)
}

fn json_response(json: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json).into_response()
}

fn fault(error: ApiError) -> Response {
    error.into_response()
}
