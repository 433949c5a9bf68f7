//! Saying something, and taking it back.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tenon_agent::TurnRequest;
use tenon_domain::{ChatId, TurnId};

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::wire::{StartTurn, TurnStarted};
use crate::app::App;
use crate::auth::CurrentUser;

pub(super) async fn start(
    State(app): State<App>,
    user: CurrentUser,
    Id(chat): Id<ChatId>,
    Body(turn): Body<StartTurn>,
) -> Result<(StatusCode, Json<TurnStarted>), ApiError> {
    let model = app.models.choose(turn.model_id.as_ref()).await?;
    let request = TurnRequest {
        user: user.id,
        chat,
        text: turn.text,
        tools: turn.tool_ids,
        model,
    };
    let turn_id = app.agent.start(request).await?;
    Ok((StatusCode::ACCEPTED, Json(TurnStarted { turn_id })))
}

/// Stopping what has ended already is no mistake: the two may cross on the way.
pub(super) async fn cancel(
    State(app): State<App>,
    user: CurrentUser,
    Id(turn): Id<TurnId>,
) -> Result<StatusCode, ApiError> {
    app.store.chat_of_turn(&user.id, &turn).await?;
    app.agent.cancel(&turn);
    Ok(StatusCode::ACCEPTED)
}
