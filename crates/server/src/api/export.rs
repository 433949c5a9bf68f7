//! Chats as files: JSON that Tenon reads again, Markdown for people.

mod file_name;
mod import;
mod markdown;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tenon_domain::{ChatId, Part};
use tenon_store::{Transcript, now};
use tokio::sync::Semaphore;

use super::body::receive;
use super::chats::summary;
use super::error::ApiError;
use super::id::Id;
use super::line;
use super::query::Params;
use super::wire::{ChatSummary, ExportedChat, ExportedMessage, ExportedTurn};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;

/// What an exported chat says it is.
pub(super) const FORMAT: &str = "tenon.chat";
pub(super) const VERSION: u32 = 1;

/// More than the longest chat of words; pictures count too.
const MAX_IMPORT: usize = 32 * 1024 * 1024;

/// One file at a time: each takes several times its size of memory, and is
/// written in one go while nobody else writes.
static IMPORTS: Semaphore = Semaphore::const_new(1);

#[derive(Debug, Deserialize)]
pub(super) struct ExportParams {
    #[serde(default)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Markdown,
}

pub(super) async fn export(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    Params(params): Params<ExportParams>,
) -> Result<Response, ApiError> {
    let transcript = match params.format {
        Format::Json => app.store.transcript(&user.id, &chat).await?,
        Format::Markdown => app.store.transcript_on_show(&user.id, &chat).await?,
    };
    let title = transcript.chat.title.clone();
    let (media_type, extension, text) = match params.format {
        Format::Json => {
            let text = serde_json::to_string_pretty(&exported(transcript));
            let text = text.map_err(tenon_store::Error::from)?;
            ("application/json", "json", text)
        }
        Format::Markdown => {
            let text = markdown::write(&exported(transcript));
            ("text/markdown; charset=utf-8", "md", text)
        }
    };
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            file_name::attachment(&title, extension),
        ),
    ];
    Ok((headers, text).into_response())
}

pub(super) async fn import(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    request: Request,
) -> Result<(StatusCode, Json<ChatSummary>), ApiError> {
    app.storage.check_room()?;
    // Received before there is a place for it: who sends slowly keeps nobody waiting.
    let received = receive(request, &app.budget, Some(&user.id), MAX_IMPORT).await?;
    let _place = line::place(&IMPORTS).await?;
    let reading = app
        .budget
        .parse(&user.id, received.bytes, |body| import::read(body, now()));
    let (chat, _memory) = reading.await?;
    drop(received.reservation);
    let unreadable = |why| ApiError::bad_request(format!("This file cannot be imported. {why}"));
    let chat = app
        .store
        .import_chat(&user.id, chat.map_err(unreadable)?)
        .await?;
    let address = caller.address.to_string();
    user.note(&app, &address, "chat.imported", chat.id.as_str(), json!({}))
        .await;
    Ok((StatusCode::CREATED, Json(summary(&app, chat).await?)))
}

/// Without what only the provider who gave it can read.
pub(super) fn exported(transcript: Transcript) -> ExportedChat {
    let turns = transcript.turns.into_iter().map(|turn| ExportedTurn {
        id: turn.id,
        parent: turn.parent,
        model: turn.model,
        messages: turn
            .messages
            .into_iter()
            .map(|(message, tool_calls)| ExportedMessage {
                id: message.id,
                role: message.role,
                parts: plain(message.parts),
                tool_calls,
                created_at: message.created_at,
            })
            .collect(),
        outcome: turn.outcome,
        usage: turn.usage,
        cost: turn.cost,
    });
    ExportedChat {
        format: FORMAT.into(),
        version: VERSION,
        title: transcript.chat.title,
        created_at: transcript.chat.created_at,
        turns: turns.collect(),
        head: transcript.head,
    }
}

fn plain(parts: Vec<Part>) -> Vec<Part> {
    let plain = parts.into_iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(Part::text(text)),
        Part::Thinking { text, .. } => Some(Part::thinking(text)),
        Part::Call { call, .. } => Some(Part::call(call)),
        Part::Opaque { .. } => None,
    });
    plain.collect()
}
