//! `/api/tools`: the tools a user can see, how they are set, and calls a person makes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use tenon_domain::text::shorten;
use tenon_domain::{ChatId, Layer, Policy, ToolId, tool_id};
use tenon_store::ToolSettingChange;
use ts_rs::TS;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::request::QueryParams;
use crate::wire::{CallTool, CallToolAnswer, ToolView, ToolsChange};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

/// A whole tool list can be switched at once; all of it is written in one transaction.
const MAX_CHANGES: usize = 2000;

/// None that Tenon gives a source is longer.
const MAX_SOURCE_ID_BYTES: usize = 500;

/// `GET /api/tools?chatId=`
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolListQuery {
    chat_id: Option<ChatId>,
}

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
    QueryParams(within): QueryParams<ToolListQuery>,
) -> Result<Json<Vec<ToolView>>, ApiError> {
    let chat = within.chat_id;
    if let Some(chat) = &chat {
        own_chat(&app, &user, chat).await?;
    }
    let access = app.tools.access(&user, chat.as_ref()).await?;
    Ok(Json(app.tools.views(&app.registry.toolset(access))))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(change): JsonBody<ToolsChange>,
) -> Result<StatusCode, ApiError> {
    if change.tools.len() + change.sources.len() > MAX_CHANGES {
        let max = MAX_CHANGES;
        return Err(ApiError::bad_request(ApiFault::TooManyToolChanges { max }));
    }
    if let Some(odd) = change
        .tools
        .iter()
        .find(|of| !tool_id::is_valid(&of.tool_id.0))
    {
        let shown = shorten(&odd.tool_id.0, tool_id::MAX_ID_BYTES);
        let id = format!("{shown:?}");
        return Err(ApiError::bad_request(ApiFault::ToolId { id }));
    }
    let is_odd = |id: &str| id.len() > MAX_SOURCE_ID_BYTES || id.contains(char::is_control);
    if change.sources.iter().any(|of| is_odd(&of.source_id.0)) {
        return Err(tenon_store::Error::NotFound("source").into());
    }
    let owner = owner(&app, &user, &change).await?;
    let detail = json!({"tools": change.tools, "sources": change.sources});
    let tools = change.tools.into_iter().map(|of| ToolSettingChange {
        target: of.tool_id.into(),
        enabled: of.enabled,
        policy: of.policy,
    });
    let sources = change.sources.into_iter().map(|of| ToolSettingChange {
        target: of.source_id.into(),
        enabled: of.enabled,
        policy: of.policy,
    });
    let changes = tools.chain(sources);
    app.store.set_tools(change.layer, &owner, changes).await?;
    // What somebody sets for themself is their own affair.
    if change.layer == Layer::Organisation {
        let address = caller.address.to_string();
        user.note(&app.store, &address, "tools.changed", "", detail)
            .await;
    }
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn call(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(id): Id<ToolId>,
    JsonBody(call): JsonBody<CallTool>,
) -> Result<Json<CallToolAnswer>, ApiError> {
    let address = caller.address.to_string();
    let cancel = app.closing.child_token();
    let answer = app
        .tools
        .call(&user, &address, id, call.arguments, cancel)
        .await?;
    answer
        .map(Json)
        .ok_or_else(|| ApiError::not_found(ApiFault::NoTool))
}

/// Whose layer it is that somebody wants to change, if it is theirs to change.
async fn owner(app: &App, user: &CurrentUser, change: &ToolsChange) -> Result<String, ApiError> {
    match change.layer {
        Layer::Organisation if user.administers() => Ok(String::new()),
        Layer::Organisation => Err(ApiError::forbidden(ApiFault::ToolsForAll)),
        Layer::User => Ok(user.id.0.clone()),
        Layer::Expert => {
            let id = change.expert_id.as_ref();
            let id = id.ok_or_else(|| ApiError::bad_request(ApiFault::NoExpertId))?;
            let expert = app.experts.find(&user.id, id).await?;
            expert.require_rights(user)?;
            // Others use it too, and nobody allows tools for them.
            let of_tools = change.tools.iter().map(|of| of.policy);
            let of_sources = change.sources.iter().map(|of| of.policy);
            let mut policies = of_tools.chain(of_sources).flatten().flatten();
            if policies.any(|policy| policy == Policy::Allow) {
                return Err(ApiError::bad_request(ApiFault::ExpertAllows));
            }
            Ok(id.0.clone())
        }
        Layer::Chat => {
            let chat = change.chat_id.as_ref();
            let chat = chat.ok_or_else(|| ApiError::bad_request(ApiFault::NoChatId))?;
            own_chat(app, user, chat).await?;
            Ok(chat.0.clone())
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
