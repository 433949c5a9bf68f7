//! The tools a user can see, how they are set, and calls made by hand.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::{
    Access, CallId, ChatId, Layer, Policy, SourceId, SourceKind, ToolCall, ToolError, ToolId,
    tool_id,
};
use tenon_store::{ToolChange, fresh_id};
use tenon_tools::{Asker, CallContext, Errand, Nobody, Pulse, Tool, Toolset};
use tokio_util::sync::CancellationToken;

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{CallTool, CallToolAnswer, SourceView, ToolView, ToolsChange};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;

/// More than anybody has tools to switch at once.
const MAX_CHANGES: usize = 2000;

/// `GET /api/tools?chatId=`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InChat {
    chat_id: Option<ChatId>,
}

pub(super) async fn list(
    State(app): State<App>,
    user: CurrentUser,
    Query(within): Query<InChat>,
) -> Result<Json<Vec<ToolView>>, ApiError> {
    let chat = within.chat_id;
    if let Some(chat) = &chat {
        own_chat(&app, &user, chat).await?;
    }
    let access = access(&app, &user, chat.as_ref()).await?;
    Ok(Json(views(&app, &app.registry.toolset(access))))
}

pub(super) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(change): Body<ToolsChange>,
) -> Result<StatusCode, ApiError> {
    if change.tools.len() > MAX_CHANGES {
        return Err(ApiError::bad_request(format!(
            "At most {MAX_CHANGES} tools can be changed at once. Send them in several requests."
        )));
    }
    if let Some(odd) = change
        .tools
        .iter()
        .find(|of| !tool_id::is_valid(&of.tool_id.0))
    {
        let shown: String = odd.tool_id.0.chars().take(tool_id::MAX_LENGTH).collect();
        return Err(ApiError::bad_request(format!(
            "{shown:?} cannot be the id of a tool. GET /api/tools lists them."
        )));
    }
    let owner = owner(&app, &user, change.layer, change.chat_id).await?;
    let detail = json!({"tools": change.tools});
    let changes = change.tools.into_iter().map(|of| ToolChange {
        tool: of.tool_id,
        enabled: of.enabled,
        policy: of.policy,
    });
    app.store.set_tools(change.layer, &owner, changes).await?;
    // What somebody sets for themself is their own affair.
    if change.layer == Layer::Organisation {
        let address = caller.address.to_string();
        user.note(&app, &address, "tools.changed", "", detail).await;
    }
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn call(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(id): Id<ToolId>,
    Body(call): Body<CallTool>,
) -> Result<Json<CallToolAnswer>, ApiError> {
    // On a task of its own: what was called is noted, also when the client hangs up.
    let calling = tokio::spawn(async move {
        let address = caller.address.to_string();
        let cancel = app.closing.child_token();
        call_by_hand(&app, &user, &address, id, call.arguments, cancel).await
    });
    let answer = calling.await.map_err(|_| tenon_agent::Error::Closing)??;
    answer
        .map(Json)
        .ok_or_else(|| ApiError::not_found("There is no such tool. GET /api/tools lists them."))
}

/// A call that a person makes, which is its own approval: only what the
/// organisation forbids is forbidden to them too. None: there is no such tool.
pub async fn call_by_hand(
    app: &App,
    user: &CurrentUser,
    address: &str,
    tool_id: ToolId,
    input: Value,
    cancel: CancellationToken,
) -> tenon_store::Result<Option<CallToolAnswer>> {
    let toolset = app.registry.toolset(Access::all(&user.id));
    if toolset.get(&tool_id).is_none() {
        return Ok(None);
    }
    let settings = app.store.tool_settings(&user.id, None, None).await?;
    let is_forbidden = settings.about(&tool_id).policy == Some((Policy::Deny, Layer::Organisation));
    let call = ToolCall {
        id: CallId(fresh_id()),
        tool_id,
        input,
    };
    let context = CallContext {
        call_id: call.id.clone(),
        errand: Errand {
            tool_id: Some(call.tool_id.clone()),
            ..Errand::default()
        },
        user: user.id.clone(),
        asker: Asker::Person,
        workspace: Some(app.workspace_by_hand(&user.id)),
        cancel,
        // There is nowhere to show a form to them: a tool that asks is declined.
        attendant: Arc::new(Nobody),
        pulse: Pulse::default(),
    };
    let started = Instant::now();
    let result = match is_forbidden {
        true => Err(ToolError::denied(
            "This tool is switched off for everybody. Ask an admin to allow it.",
        )),
        false => toolset.call(&call, &context).await,
    };
    let duration_ms = started.elapsed().as_millis() as u64;
    let detail = json!({"callId": call.id, "ok": result.is_ok()});
    user.note(app, address, "tool.called", call.tool_id.as_str(), detail)
        .await;
    Ok(Some(match result {
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
    }))
}

/// All that a user can see, as it is set for them, in a chat where one is named.
pub async fn access(
    app: &App,
    user: &CurrentUser,
    chat: Option<&ChatId>,
) -> tenon_store::Result<Access> {
    let settings = app.store.tool_settings(&user.id, None, chat).await?;
    Ok(Access::all(&user.id).with_settings(settings))
}

/// Whose layer it is that somebody wants to change, if it is theirs to change.
async fn owner(
    app: &App,
    user: &CurrentUser,
    layer: Layer,
    chat: Option<ChatId>,
) -> Result<String, ApiError> {
    match layer {
        Layer::Organisation if user.administers() => Ok(String::new()),
        Layer::Organisation => Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "Only an admin can set tools for everybody. Set them for yourself instead.",
        )),
        Layer::User => Ok(user.id.0.clone()),
        Layer::Expert => Err(ApiError::bad_request(
            "There are no experts yet whose tools could be set.",
        )),
        Layer::Chat => {
            let chat = chat.ok_or_else(|| {
                ApiError::bad_request("Name the chat whose tools are to be set: `chatId`.")
            })?;
            own_chat(app, user, &chat).await?;
            Ok(chat.0)
        }
    }
}

/// What cannot be an id names nothing, and PostgreSQL takes NUL for a mistake in the query.
async fn own_chat(app: &App, user: &CurrentUser, chat: &ChatId) -> Result<(), ApiError> {
    if chat.as_str().contains(char::is_control) {
        return Err(tenon_store::Error::NotFound("chat").into());
    }
    app.store.chat(&user.id, chat).await?;
    Ok(())
}

pub fn views(app: &App, toolset: &Toolset) -> Vec<ToolView> {
    // A large server is asked about once, not for each of its tools.
    let mut known: HashMap<&SourceId, SourceView> = HashMap::new();
    let tools = toolset.listed().into_iter().map(|tool| {
        let id = &tool.source.info().id;
        let source = known
            .entry(id)
            .or_insert_with(|| source_view(app, toolset, tool));
        view_from(toolset, tool, source.clone())
    });
    tools.collect()
}

fn source_view(app: &App, toolset: &Toolset, tool: &Tool) -> SourceView {
    let source = tool.source.info();
    let local = match source.kind {
        SourceKind::Browser => app.desk.about(&toolset.access().user, &source.id),
        SourceKind::Builtin | SourceKind::Skill | SourceKind::Mcp | SourceKind::Openapi => None,
    };
    SourceView {
        id: source.id.clone(),
        kind: source.kind,
        name: source.name.clone(),
        title: source.title.clone(),
        state: tool.source.state(),
        local: local.map(Into::into),
    }
}

fn view_from(toolset: &Toolset, tool: &Tool, source: SourceView) -> ToolView {
    let said = toolset.access().said(&tool.spec.id);
    ToolView {
        tool_id: tool.spec.id.clone(),
        display_name: tool.spec.display_name.clone(),
        tool_name: tool.spec.name.clone(),
        title: tool.spec.title.clone(),
        description: tool.spec.description.clone(),
        parameters: tool.spec.input_schema.clone(),
        annotations: tool.spec.annotations,
        source,
        runs_on: tool.spec.runs_on,
        enabled: toolset
            .access()
            .enabled(&tool.spec.id, tool.spec.annotations),
        enabled_by: said.enabled.map(|(_, by)| by),
        policy: toolset.policy(tool),
        policy_by: said.policy.map(|(_, by)| by),
    }
}
