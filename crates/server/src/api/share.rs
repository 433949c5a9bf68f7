//! Links to chats: made and taken back by their owner, read by whoever has one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::{
    BlobId, CallRecord, ChatId, Content, ModelRef, Part, SHOWN_PAGE, ToolCall, TurnOutcome, Usage,
};
use tenon_store::Share;
use tokio::sync::Semaphore;

use super::body::Body;
use super::error::ApiError;
use super::export::exported;
use super::id::Id;
use super::line;
use super::wire::{ExportedMessage, ExportedTurn, NewShare, OwnShare, ShareView, SharedChat};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;

/// Anybody may read, and a chat can be long: a few at once are no burden.
static READERS: Semaphore = Semaphore::const_new(4);

pub(super) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
) -> Result<Json<Option<ShareView>>, ApiError> {
    let share = app.store.share(&user.id, &chat).await?;
    Ok(Json(share.map(view)))
}

pub(super) async fn make(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(chat): Id<ChatId>,
    Body(new): Body<NewShare>,
) -> Result<Json<ShareView>, ApiError> {
    let share = app
        .store
        .share_chat(&user.id, &chat, new.with_tools)
        .await?;
    let share = share.ok_or_else(|| {
        ApiError::bad_request("There is nothing to share before the first answer has ended.")
    })?;
    let address = caller.address.to_string();
    let detail = json!({"withTools": share.with_tools});
    user.note(&app, &address, "share.made", chat.as_str(), detail)
        .await;
    Ok(Json(view(share)))
}

pub(super) async fn take_back(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(chat): Id<ChatId>,
) -> Result<StatusCode, ApiError> {
    if app.store.unshare_chat(&user.id, &chat).await? {
        let address = caller.address.to_string();
        user.note(&app, &address, "share.revoked", chat.as_str(), json!({}))
            .await;
    }
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn list(
    State(app): State<App>,
    user: CurrentUser,
) -> Result<Json<Vec<OwnShare>>, ApiError> {
    let shares = app.store.shares(&user.id).await?;
    let shares = shares.into_iter().map(|(chat, share)| OwnShare {
        chat_id: chat.id,
        title: chat.title,
        share: view(share),
    });
    Ok(Json(shares.collect()))
}

/// For everybody: the link is all that is asked for.
pub(super) async fn read(
    State(app): State<App>,
    Id(token): Id<String>,
) -> Result<Json<SharedChat>, ApiError> {
    let _place = line::place(&READERS).await?;
    let (transcript, with_tools) = app.store.shared(&token).await?;
    let chat = exported(transcript);
    let turns = chat
        .turns
        .into_iter()
        .map(|turn| for_everybody(turn, with_tools));
    Ok(Json(SharedChat {
        title: chat.title,
        created_at: chat.created_at,
        turns: turns.collect(),
    }))
}

/// Without what is its owner's alone: what a model thought, what it cost, why
/// it failed or broke off, and what tools were given and gave where that is not shared.
fn for_everybody(turn: ExportedTurn, with_tools: bool) -> ExportedTurn {
    let messages = turn.messages.into_iter().map(|message| {
        let thought = |part: &Part| matches!(part, Part::Thinking { .. } | Part::Opaque { .. });
        let parts = message.parts.into_iter().filter(|part| !thought(part));
        let parts = parts.map(|part| match part {
            Part::Call { call, .. } if !with_tools => Part::call(ToolCall {
                input: json!({}),
                ..call
            }),
            other => other,
        });
        let calls = message.tool_calls.into_iter();
        ExportedMessage {
            parts: parts.collect(),
            tool_calls: calls.map(|call| shown(call, with_tools)).collect(),
            ..message
        }
    });
    ExportedTurn {
        messages: messages.collect(),
        // By its name alone: the id says where it is reached.
        model: turn.model.map(|model| ModelRef {
            id: tenon_domain::ModelId::new(""),
            ..model
        }),
        outcome: turn.outcome.map(|outcome| match outcome {
            TurnOutcome::Failed { .. } => TurnOutcome::Failed {
                message: "The model could not be used.".into(),
            },
            TurnOutcome::Interrupted { .. } => TurnOutcome::Interrupted {
                message: "The answer broke off.".into(),
            },
            ended @ (TurnOutcome::Done | TurnOutcome::Stopped | TurnOutcome::StepLimit) => ended,
        }),
        usage: Usage::default(),
        cost: None,
        ..turn
    }
}

fn shown(mut call: CallRecord, with_tools: bool) -> CallRecord {
    call.asked = false;
    call.verdict = None;
    if !with_tools {
        call.input = json!({});
        call.output = None;
        call.error = None;
    }
    if let Some(output) = &mut call.output {
        output.content.retain_mut(|content| match content {
            // What lies on the shelf is its owner's alone; of a page that was shown it is said that it was.
            Content::Blob {
                blob_id,
                media_type,
                ..
            } => {
                *blob_id = BlobId::new("");
                media_type == SHOWN_PAGE
            }
            _ => true,
        });
    }
    call
}

fn view(share: Share) -> ShareView {
    ShareView {
        token: share.token,
        with_tools: share.with_tools,
        created_at: share.created_at,
        behind: share.behind,
    }
}
