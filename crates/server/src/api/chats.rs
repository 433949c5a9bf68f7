//! `/api/chats`: chats and their messages.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use tenon_domain::text::shorten;
use tenon_domain::{CallRecord, ChatId, EventBody, FolderId, MessageId, TitledBy};
use tenon_store::{Chat, ChatCursor, ChatFilter, ChatFlags, ChatQuery};
use ts_rs::TS;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::request::Id;
use crate::request::JsonBody;
use crate::request::QueryParams;
use crate::wire::{ChatChange, ChatSummary, MessageView};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::chats::{MAX_TITLE_CHARS, summaries};

/// A page of the list where nobody says how long, and the longest there is.
const DEFAULT_PAGE_ITEMS: u64 = 100;
const MAX_PAGE_ITEMS: u64 = 500;

#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ListParams {
    limit: u64,
    before: Option<String>,
    archived: bool,
    /// Those in this folder alone.
    folder: Option<FolderId>,
}

impl Default for ListParams {
    fn default() -> Self {
        Self {
            limit: DEFAULT_PAGE_ITEMS,
            before: None,
            archived: false,
            folder: None,
        }
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    user: CurrentUser,
    QueryParams(params): QueryParams<ListParams>,
) -> Result<Json<Vec<ChatSummary>>, ApiError> {
    let listing = ChatQuery {
        limit: params.limit.clamp(1, MAX_PAGE_ITEMS),
        before: params.before.as_deref().map(parse_cursor).transpose()?,
        filter: if params.archived {
            ChatFilter::Archived
        } else {
            ChatFilter::Current
        },
        folder: params.folder,
    };
    let chats = app.store.chats(&user.id, &listing).await?;
    Ok(Json(summaries(&app.store, &app.agent, chats).await?))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    JsonBody(change): JsonBody<ChatChange>,
) -> Result<(StatusCode, Json<ChatSummary>), ApiError> {
    let title = change
        .title
        .as_deref()
        .map(checked)
        .transpose()?
        .unwrap_or_default();
    let chat = app.store.create_chat(&user.id, &title).await?;
    app.store
        .set_chat_flags(&user.id, &chat.id, flags(&change))
        .await?;
    set_expert(&app, &user, &chat.id, &change).await?;
    set_folder(&app, &user, &chat.id, &change).await?;
    let chat = show(State(app), user, Id(chat.id)).await?;
    Ok((StatusCode::CREATED, chat))
}

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
) -> Result<Json<ChatSummary>, ApiError> {
    let chat = app.store.chat(&user.id, &id).await?;
    Ok(Json(summary(&app, chat).await?))
}

pub(crate) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
    JsonBody(change): JsonBody<ChatChange>,
) -> Result<Json<ChatSummary>, ApiError> {
    let title = change.title.as_deref().map(checked).transpose()?;
    app.store
        .set_chat_flags(&user.id, &id, flags(&change))
        .await?;
    set_expert(&app, &user, &id, &change).await?;
    set_folder(&app, &user, &id, &change).await?;
    if let Some(title) = title {
        let by = TitledBy::Person;
        app.agent
            .feed()
            .emit(&id, vec![EventBody::ChatTitled { title, by }])
            .await?;
    }
    show(State(app), user, Id(id)).await
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
) -> Result<StatusCode, ApiError> {
    app.agent.delete(&user.id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Undoes a deletion, while it can be.
pub(crate) async fn restore(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
) -> Result<Json<ChatSummary>, ApiError> {
    let chat = app.store.restore_chat(&user.id, &id).await?;
    Ok(Json(summary(&app, chat).await?))
}

pub(crate) async fn messages(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
) -> Result<Json<Vec<MessageView>>, ApiError> {
    app.store.chat(&user.id, &id).await?;
    let shown = app.store.branches(&id).await?.shown();
    let messages = app.store.messages_of(&id, &shown).await?;
    let mut calls: HashMap<MessageId, Vec<CallRecord>> = HashMap::new();
    for call in app.store.calls(&id).await? {
        calls.entry(call.message_id.clone()).or_default().push(call);
    }
    let views = messages.into_iter().map(|message| MessageView {
        text: message.text(),
        tool_calls: calls.remove(&message.id).unwrap_or_default(),
        id: message.id,
        turn_id: message.turn_id,
        role: message.role,
        parts: message.parts,
        created_at: message.created_at,
    });
    Ok(Json(views.collect()))
}

pub(crate) async fn summary(app: &App, chat: Chat) -> Result<ChatSummary, ApiError> {
    let mut summaries = summaries(&app.store, &app.agent, [chat]).await?;
    Ok(summaries.remove(0))
}

async fn set_expert(
    app: &App,
    user: &CurrentUser,
    chat: &ChatId,
    change: &ChatChange,
) -> Result<(), ApiError> {
    let Some(id) = &change.expert_id else {
        return Ok(());
    };
    let found = app.experts.find(&user.id, id).await;
    let found = found.map_err(|error| ApiError::from(error).in_field("expertId"))?;
    let expert = (!found.is_general()).then_some(id);
    Ok(app.store.set_chat_expert(&user.id, chat, expert).await?)
}

async fn set_folder(
    app: &App,
    user: &CurrentUser,
    chat: &ChatId,
    change: &ChatChange,
) -> Result<(), ApiError> {
    let Some(folder) = &change.folder_id else {
        return Ok(());
    };
    let moving = app.store.move_chat(&user.id, chat, folder.as_ref());
    Ok(moving.await?)
}

fn flags(change: &ChatChange) -> ChatFlags {
    ChatFlags {
        pinned: change.pinned,
        archived: change.archived,
        temporary: change.temporary,
    }
}

/// `<updatedAt>.<id>` of the last chat of the page before.
fn parse_cursor(before: &str) -> Result<ChatCursor, ApiError> {
    let cursor = before.split_once('.').and_then(|(updated_at, id)| {
        let is_id = !id.is_empty() && !id.contains(char::is_control);
        Some(ChatCursor {
            updated_at: updated_at.parse().ok().filter(|_| is_id)?,
            id: ChatId::new(id),
        })
    });
    cursor.ok_or_else(|| ApiError::bad_request(ApiFault::Cursor))
}

fn checked(title: &str) -> Result<String, ApiError> {
    let title = title.trim();
    if title.is_empty() {
        return Err(ApiError::bad_request(ApiFault::EmptyTitle));
    }
    Ok(shorten(title, MAX_TITLE_CHARS).into_owned())
}
