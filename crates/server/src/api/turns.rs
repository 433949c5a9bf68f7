//! `/api/chats/{id}/turns` and `/api/turns`: starting, cancelling and looking into turns, choosing
//! a branch.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenon_agent::{TurnMessage, TurnOverrides, TurnRequest};
use tenon_domain::{ChatId, TurnId};

use crate::api_fault::ApiFault;
use crate::error::ApiError;
use crate::expert_choice::choose_for_chat;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{ChooseBranch, StartTurn, TurnStarted, TurnTrace};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::traces;

pub(crate) async fn start(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    JsonBody(turn): JsonBody<StartTurn>,
) -> Result<(StatusCode, Json<TurnStarted>), ApiError> {
    let id = turn.turn_id.map(parse_id).transpose()?;
    let chosen = choose_for_chat(&app, &user, &chat, turn.model_id.as_ref()).await;
    let (model, profile) = match chosen {
        Ok(chosen) => chosen,
        Err(error) => {
            // Sent again after its model has gone, it is the turn of the first time.
            let message = TurnMessage {
                user: &user.id,
                chat: &chat,
                text: turn.text.as_deref(),
                images: &[],
                files: &[],
                replaces: turn.replaces.as_ref(),
            };
            return match id {
                Some(id) if app.agent.has_started(&id, message).await? => Ok(accepted(id)),
                Some(_) | None => Err(error),
            };
        }
    };
    let files = app.files.attach(&user.id, &chat, &turn.file_ids).await;
    let files = files.map_err(|error| ApiError::from(error).in_field("fileIds"))?;
    let door = user.entry_point();
    let request = TurnRequest {
        granted: user.granted().to_vec(),
        user: user.id,
        chat,
        id,
        text: turn.text,
        images: Vec::new(),
        files,
        replaces: turn.replaces,
        tools: turn.tool_ids,
        model,
        language: turn.language,
        can_ask: door.is_interactive(),
        door,
        profile,
        overrides: TurnOverrides::default(),
        device: turn.device_id,
    };
    let turn_id = app.agent.start(request).await?;
    Ok(accepted(turn_id))
}

fn accepted(turn_id: TurnId) -> (StatusCode, Json<TurnStarted>) {
    (StatusCode::ACCEPTED, Json(TurnStarted { turn_id }))
}

fn parse_id(id: TurnId) -> Result<TurnId, ApiError> {
    let id = tenon_store::parse_id(id.as_str()).map(TurnId);
    id.ok_or_else(|| ApiError::bad_request(ApiFault::TurnId))
}

pub(crate) async fn choose_branch(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    JsonBody(branch): JsonBody<ChooseBranch>,
) -> Result<StatusCode, ApiError> {
    app.agent
        .choose_branch(&user.id, &chat, &branch.turn_id)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How a turn went; for one that runs, as far as it is.
pub(crate) async fn trace(
    State(app): State<App>,
    user: CurrentUser,
    Id(turn): Id<TurnId>,
) -> Result<Json<TurnTrace>, ApiError> {
    let trace = traces::turn_trace(&app.store, &user.id, &turn).await?;
    Ok(Json(trace))
}

/// Stopping a turn that has already ended is not an error, because the two may cross.
pub(crate) async fn cancel(
    State(app): State<App>,
    user: CurrentUser,
    Id(turn): Id<TurnId>,
) -> Result<StatusCode, ApiError> {
    app.store.chat_of_turn(&user.id, &turn).await?;
    if !app.agent.cancel(&turn) {
        // The process that ran it may be gone: recovery ends the turn or adopts it, so that it can
        // be stopped here.
        app.recover().await?;
        app.agent.stop(&turn).await?;
    }
    Ok(StatusCode::ACCEPTED)
}
