//! Chats and what was said in them.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenon_domain::{CallRecord, ChatId, EventBody, MessageId};
use tenon_store::Chat;

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{ChatChange, ChatSummary, MessageView};
use crate::app::App;
use crate::auth::CurrentUser;

/// More chats than anybody scrolls through; search finds the rest.
const LISTED: u64 = 500;

/// A title is a line, whoever wrote it.
const MAX_TITLE_CHARS: usize = 200;

pub(super) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<ChatSummary>>, ApiError> {
    let chats = app.store.chats(&user.id, LISTED).await?;
    Ok(Json(
        chats.into_iter().map(|chat| summary(&app, chat)).collect(),
    ))
}

pub(super) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    Body(change): Body<ChatChange>,
) -> Result<(StatusCode, Json<ChatSummary>), ApiError> {
    let title = change
        .title
        .map(|title| checked(&title))
        .transpose()?
        .unwrap_or_default();
    let chat = app.store.create_chat(&user.id, &title).await?;
    Ok((StatusCode::CREATED, Json(summary(&app, chat))))
}

pub(super) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
) -> Result<Json<ChatSummary>, ApiError> {
    let chat = app.store.chat(&user.id, &id).await?;
    Ok(Json(summary(&app, chat)))
}

pub(super) async fn change(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
    Body(change): Body<ChatChange>,
) -> Result<Json<ChatSummary>, ApiError> {
    app.store.chat(&user.id, &id).await?;
    if let Some(title) = change.title {
        let title = checked(&title)?;
        app.agent
            .feed()
            .emit(&id, vec![EventBody::ChatTitled { title }])
            .await?;
    }
    show(State(app), user, Id(id)).await
}

pub(super) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
) -> Result<StatusCode, ApiError> {
    app.agent.delete(&user.id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn messages(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ChatId>,
) -> Result<Json<Vec<MessageView>>, ApiError> {
    app.store.chat(&user.id, &id).await?;
    let messages = app.store.messages(&id).await?;
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

fn summary(app: &App, chat: Chat) -> ChatSummary {
    ChatSummary {
        running: app.agent.running(&chat.id),
        id: chat.id,
        title: chat.title,
        created_at: chat.created_at,
        updated_at: chat.updated_at,
    }
}

fn checked(title: &str) -> Result<String, ApiError> {
    let title = title.trim();
    if title.is_empty() {
        return Err(ApiError::bad_request(
            "A title needs at least one character.",
        ));
    }
    Ok(title.chars().take(MAX_TITLE_CHARS).collect())
}
