//! Saying something, saying it differently, and taking it back.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenon_agent::TurnRequest;
use tenon_domain::{ChatId, TurnId};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{ChooseBranch, StartTurn, TurnStarted};
use crate::app::App;
use crate::auth::CurrentUser;

pub(super) async fn start(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    Body(turn): Body<StartTurn>,
) -> Result<(StatusCode, Json<TurnStarted>), ApiError> {
    let model = app.models.choose_for(&user, turn.model_id.as_ref()).await?;
    let door = user.door();
    let request = TurnRequest {
        granted: user.granted().to_vec(),
        user: user.id,
        chat,
        text: turn.text,
        replaces: turn.replaces,
        tools: turn.tool_ids,
        model,
        can_ask: door.has_a_person(),
        door,
    };
    let turn_id = app.agent.start(request).await?;
    Ok((StatusCode::ACCEPTED, Json(TurnStarted { turn_id })))
}

pub(super) async fn choose_branch(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    Body(branch): Body<ChooseBranch>,
) -> Result<StatusCode, ApiError> {
    app.agent
        .choose_branch(&user.id, &chat, &branch.turn_id)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stopping what has ended already is no mistake: the two may cross on the way.
pub(super) async fn cancel(
    State(app): State<App>,
    user: CurrentUser,
    Id(turn): Id<TurnId>,
) -> Result<StatusCode, ApiError> {
    app.store.chat_of_turn(&user.id, &turn).await?;
    if !app.agent.cancel(&turn) {
        // Whoever ran it may be gone; then it ends here, or goes on here to be stopped.
        app.mend().await?;
        app.agent.cancel(&turn);
    }
    Ok(StatusCode::ACCEPTED)
}
