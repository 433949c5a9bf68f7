//! `/api/tools`: the tools a user can see, how they are set, and calls a person makes.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::json;
use tenon_domain::text::shorten;
use tenon_domain::{ChatId, Layer, Policy, SourceId, ToolId, tool_id};
use tenon_store::ToolSettingChange;
use ts_rs::TS;
use url::form_urlencoded;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::request::QueryParams;
use crate::tagged_json::TaggedJson;
use crate::wire::{CallTool, CallToolAnswer, ToolView, ToolsChange};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::tools::{ToolCaller, ToolListFilter};
use tenon_tools::Toolset;
use tokio_util::sync::CancellationToken;

/// A whole tool list can be switched at once; all of it is written in one transaction.
const MAX_CHANGES: usize = 2000;

/// None that Tenon gives a source is longer.
const MAX_SOURCE_ID_BYTES: usize = 500;

/// `GET /api/tools?chatId=&q=&source=&after=&limit=&schemas=`
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolListQuery {
    /// As they are set in this chat.
    chat_id: Option<ChatId>,
    /// What they should do, best first; otherwise all, by id.
    q: Option<String>,
    /// Of the source with this id.
    source: Option<SourceId>,
    /// Those that follow this one.
    after: Option<ToolId>,
    /// How many at most. Where there are more, the header `Link` has the address of the next ones.
    limit: Option<usize>,
    /// False: without the schemas of their inputs, which `GET /api/tools/{id}` has.
    schemas: Option<bool>,
}

impl ToolListQuery {
    fn address(&self) -> String {
        let limit = self.limit.map(|limit| limit.to_string());
        let schemas = self.schemas.map(|schemas| schemas.to_string());
        let pairs = [
            ("chatId", self.chat_id.as_ref().map(ChatId::as_str)),
            ("q", self.q.as_deref()),
            ("source", self.source.as_ref().map(SourceId::as_str)),
            ("after", self.after.as_ref().map(ToolId::as_str)),
            ("limit", limit.as_deref()),
            ("schemas", schemas.as_deref()),
        ];
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in pairs {
            query.extend_pairs(value.map(|value| (name, value)));
        }
        format!("/api/tools?{}", query.finish())
    }
}

/// `GET /api/tools/{id}?chatId=`
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolQuery {
    chat_id: Option<ChatId>,
}

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
    headers: HeaderMap,
    QueryParams(query): QueryParams<ToolListQuery>,
) -> Result<TaggedJson<Vec<ToolView>>, ApiError> {
    let toolset = toolset(&app, &user, query.chat_id.as_ref()).await?;
    let page = app.tools.page(
        &toolset,
        &ToolListFilter {
            query: query.q.as_deref(),
            source: query.source.as_ref(),
            after: query.after.as_ref(),
            limit: query.limit.unwrap_or(usize::MAX),
            with_schemas: query.schemas.unwrap_or(true),
        },
    );
    let tools = TaggedJson::new(&page.tools, &headers);
    let next = page.next.map(|after| ToolListQuery {
        after: Some(after),
        ..query
    });
    Ok(match next {
        Some(next) => tools.with_next(&next.address()),
        None => tools,
    })
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ToolId>,
    QueryParams(query): QueryParams<ToolQuery>,
) -> Result<Json<ToolView>, ApiError> {
    let toolset = toolset(&app, &user, query.chat_id.as_ref()).await?;
    let tool = app.tools.view(&toolset, &id);
    let tool = tool.ok_or_else(|| ApiError::not_found(ApiFault::NoTool))?;
    Ok(Json(tool))
}

/// What a user can see, as it is set for them, in a chat of theirs where one is named.
async fn toolset(
    app: &App,
    user: &CurrentUser,
    chat: Option<&ChatId>,
) -> Result<Toolset, ApiError> {
    if let Some(chat) = chat {
        own_chat(app, user, chat).await?;
    }
    let access = app.tools.access(user, chat).await?;
    Ok(app.registry.toolset(access))
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
    // Only changes for everybody are audited; personal settings are private.
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
    let cancel = CancellationToken::new();
    let answer = app
        .tools
        .call(ToolCaller::new(&user, &address), id, call.arguments, cancel)
        .await?;
    answer
        .map(Json)
        .ok_or_else(|| ApiError::not_found(ApiFault::NoTool))
}

/// The owner of the layer to change, if the user may change it.
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
            // Others use the expert too, so it must not allow tools for them.
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

/// Checks that the chat is the user's. Control characters are rejected first, because PostgreSQL
/// refuses NUL in a query.
async fn own_chat(app: &App, user: &CurrentUser, chat: &ChatId) -> Result<(), ApiError> {
    if chat.as_str().contains(char::is_control) {
        return Err(tenon_store::Error::NotFound("chat").into());
    }
    app.store.chat(&user.id, chat).await?;
    Ok(())
}
