//! The tools a user can see, and calls made by hand.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tenon_domain::{Access, BlobId, CallId, ToolCall, ToolId};
use tenon_store::fresh_id;
use tenon_tools::{Asker, CallContext, Tool, Toolset};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{CallTool, CallToolAnswer, SourceView, ToolView};
use crate::app::App;
use crate::auth::CurrentUser;

pub(super) async fn list(State(app): State<App>, user: CurrentUser) -> Json<Vec<ToolView>> {
    Json(views(&app.registry.toolset(Access::all(&user.id))))
}

pub(super) async fn call(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ToolId>,
    Body(call): Body<CallTool>,
) -> Result<Json<CallToolAnswer>, ApiError> {
    let answer = call_by_hand(&app, &user, id, call.arguments).await;
    answer
        .map(Json)
        .ok_or_else(|| ApiError::not_found("There is no such tool. GET /api/tools lists them."))
}

pub(super) async fn blob(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<BlobId>,
) -> Result<Response, ApiError> {
    let blob = app.store.blob(&user.id, &id).await?;
    // Bytes from a tool are shown as text or not at all: never as a page of ours.
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("inline; filename=\"{id}.txt\""),
        ),
    ];
    Ok((headers, blob.data).into_response())
}

/// A call that a person makes, which is its own approval. None: there is no such tool.
pub async fn call_by_hand(
    app: &App,
    user: &CurrentUser,
    tool_id: ToolId,
    input: Value,
) -> Option<CallToolAnswer> {
    let toolset = app.registry.toolset(Access::all(&user.id));
    toolset.get(&tool_id)?;
    let call = ToolCall {
        id: CallId(fresh_id()),
        tool_id,
        input,
    };
    let context = CallContext {
        call_id: call.id.clone(),
        user: user.id.clone(),
        asker: Asker::Person,
        workspace: Some(app.workspace_by_hand(&user.id)),
        cancel: app.closing.child_token(),
    };
    let started = Instant::now();
    let result = toolset.call(&call, &context).await;
    let duration_ms = started.elapsed().as_millis() as u64;
    Some(match result {
        Ok(output) => CallToolAnswer {
            ok: true,
            structured: output.structured().cloned(),
            content: output.content,
            error: None,
            duration_ms,
        },
        Err(error) => CallToolAnswer {
            ok: false,
            structured: None,
            content: Vec::new(),
            error: Some(error),
            duration_ms,
        },
    })
}

pub fn views(toolset: &Toolset) -> Vec<ToolView> {
    toolset
        .tools()
        .into_iter()
        .map(|tool| view(toolset, tool))
        .collect()
}

pub fn view(toolset: &Toolset, tool: &Tool) -> ToolView {
    let source = tool.source.info();
    ToolView {
        tool_id: tool.spec.id.clone(),
        display_name: tool.spec.display_name.clone(),
        tool_name: tool.spec.name.clone(),
        title: tool.spec.title.clone(),
        description: tool.spec.description.clone(),
        parameters: tool.spec.input_schema.clone(),
        annotations: tool.spec.annotations,
        source: SourceView {
            id: source.id.clone(),
            kind: source.kind,
            name: source.name.clone(),
            title: source.title.clone(),
            state: tool.source.state(),
        },
        runs_on: tool.spec.runs_on,
        enabled: true,
        policy: toolset.policy(&tool.spec.id),
    }
}
