//! `/api/chats/{id}/share` and `/api/shared`: links to chats, made and revoked by their owner.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tenon_domain::{
    BlobId, CallRecord, ChatId, Content, FileId, ModelRef, Part, SHOWN_PAGE, ToolCall, TurnOutcome,
    Usage,
};
use tenon_store::{Share, ShareScope};
use tokio::sync::Semaphore;

use super::files::file_response;
use crate::concurrency;
use tenon_agent::TurnFault;

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{ExportedMessage, ExportedTurn, NewShare, OwnShare, ShareView, SharedChat};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::chats::export;

/// Anybody may read, and a chat can be long: a few at once are no burden.
static READERS: Semaphore = Semaphore::const_new(4);

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
) -> Result<Json<Option<ShareView>>, ApiError> {
    let share = app.store.share(&user.id, &chat).await?;
    Ok(Json(share.map(view)))
}

pub(crate) async fn make(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(chat): Id<ChatId>,
    JsonBody(new): JsonBody<NewShare>,
) -> Result<Json<ShareView>, ApiError> {
    let scope = ShareScope {
        with_tools: new.with_tools,
        with_files: new.files,
    };
    let share = app.store.share_chat(&user.id, &chat, scope).await?;
    let share = share.ok_or_else(|| ApiError::bad_request(ApiFault::NothingToShare))?;
    let address = caller.address.to_string();
    let detail = json!({"withTools": share.with_tools, "files": share.with_files});
    user.note(&app.store, &address, "share.made", chat.as_str(), detail)
        .await;
    Ok(Json(view(share)))
}

pub(crate) async fn take_back(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(chat): Id<ChatId>,
) -> Result<StatusCode, ApiError> {
    if app.store.unshare_chat(&user.id, &chat).await? {
        let address = caller.address.to_string();
        user.note(
            &app.store,
            &address,
            "share.revoked",
            chat.as_str(),
            json!({}),
        )
        .await;
    }
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn list(
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
pub(crate) async fn read(
    State(app): State<App>,
    Id(token): Id<String>,
) -> Result<Json<SharedChat>, ApiError> {
    let _permit = concurrency::acquire(&READERS).await?;
    let (transcript, scope) = app.store.shared(&token).await?;
    let chat = export(transcript);
    let turns = chat
        .turns
        .into_iter()
        .map(|turn| for_everybody(turn, scope));
    Ok(Json(SharedChat {
        title: chat.title,
        created_at: chat.created_at,
        turns: turns.collect(),
    }))
}

/// A file of a chat that is shared with its files.
pub(crate) async fn file(
    State(app): State<App>,
    Path((token, id)): Path<(String, FileId)>,
) -> Result<Response, ApiError> {
    let _permit = concurrency::acquire(&READERS).await?;
    if [&token, &id.0]
        .iter()
        .any(|id| id.contains(char::is_control))
    {
        return Err(tenon_store::Error::NotFound("file").into());
    }
    let chat = app.store.chat_with_shared_files(&token).await?;
    Ok(file_response(app.store.file_of_chat(&chat, &id).await?))
}

/// Removes what is private to the owner: thinking, costs, errors, and inputs and outputs of tools
/// unless they are shared.
fn for_everybody(turn: ExportedTurn, scope: ShareScope) -> ExportedTurn {
    let with_tools = scope.with_tools;
    let messages = turn.messages.into_iter().map(|message| {
        let is_private = |part: &Part| match part {
            Part::Thinking { .. } | Part::Opaque { .. } => true,
            Part::File { .. } => !scope.with_files,
            Part::Text { .. } | Part::Call { .. } | Part::Image(_) => false,
        };
        let parts = message.parts.into_iter().filter(|part| !is_private(part));
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
        // Only the name: the id may reveal where the model is hosted.
        model: turn.model.map(|model| ModelRef {
            id: tenon_domain::ModelId::new(""),
            ..model
        }),
        outcome: turn.outcome.map(|outcome| match outcome {
            TurnOutcome::Failed(_) => TurnOutcome::Failed(TurnFault::ModelUnusable.into()),
            TurnOutcome::Interrupted(_) => TurnOutcome::Interrupted(TurnFault::BrokeOff.into()),
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
            // Stored outputs are their owner's alone; of a shown page only that there was one is
            // kept.
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
        files: share.with_files,
        created_at: share.created_at,
        behind: share.behind,
    }
}
