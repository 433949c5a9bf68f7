//! Whether what an event goes on with is still there.
//!
//! A restore can take a turn away while a process runs it. What that process
//! then says about it must not become part of a chat that never knew the turn.

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter};
use tenon_domain::{CallId, EventBody, MessageId, TurnId};

use crate::entity::{messages, tool_calls, turns};
use crate::{Error, Result};

/// Looks at the first of events that belong together: the others go on from it.
pub(super) async fn check(db: &impl ConnectionTrait, bodies: &[EventBody]) -> Result<()> {
    let is_there = match bodies.first() {
        Some(EventBody::MessageStarted { message }) => is_open(db, &message.turn_id).await?,
        Some(EventBody::TurnFinished { turn_id, .. }) => has_turn(db, turn_id).await?,
        Some(EventBody::MessageFinished { message_id, .. }) => has_message(db, message_id).await?,
        Some(EventBody::CallRequested { call }) => has_message(db, &call.message_id).await?,
        Some(
            EventBody::CallAsked { call_id }
            | EventBody::CallAnswered { call_id, .. }
            | EventBody::CallStarted { call_id }
            | EventBody::FormShown { call_id, .. }
            | EventBody::FormAnswered { call_id, .. }
            | EventBody::CallFinished { call_id, .. },
        ) => has_call(db, call_id).await?,
        Some(
            EventBody::ChatTitled { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::BranchChosen { .. }
            | EventBody::ToolsLeftOut { .. },
        )
        | None => true,
    };
    is_there.then_some(()).ok_or(Error::NotFound("turn"))
}

async fn is_open(db: &impl ConnectionTrait, turn: &TurnId) -> Result<bool> {
    let open = turns::Entity::find_by_id(&turn.0).filter(turns::Column::Outcome.is_null());
    Ok(open.count(db).await? > 0)
}

async fn has_turn(db: &impl ConnectionTrait, turn: &TurnId) -> Result<bool> {
    Ok(turns::Entity::find_by_id(&turn.0).count(db).await? > 0)
}

async fn has_message(db: &impl ConnectionTrait, message: &MessageId) -> Result<bool> {
    Ok(messages::Entity::find_by_id(&message.0).count(db).await? > 0)
}

async fn has_call(db: &impl ConnectionTrait, call: &CallId) -> Result<bool> {
    Ok(tool_calls::Entity::find_by_id(&call.0).count(db).await? > 0)
}
