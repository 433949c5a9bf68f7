//! Whether what an event goes on with is still there, and is this process's.
//!
//! A restore can take a turn away while a process runs it. What that process
//! then says about it must not become part of a chat that never knew the turn. Where there are
//! leases, another process may have taken the turn over: then this one has nothing more to say
//! about it.

use sea_orm::sea_query::{Query, SelectStatement};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use tenon_domain::{CallId, EventBody, MessageId, TurnId};

use crate::entity::{messages, tool_calls, turns};
use crate::{Error, Result, TurnOwner};

/// Looks at the first of events that belong together: the others go on from it.
pub(super) async fn check(
    db: &impl ConnectionTrait,
    owner: &TurnOwner,
    bodies: &[EventBody],
) -> Result<()> {
    let turn = match bodies.first() {
        Some(EventBody::MessageStarted { message }) => {
            by_id(&message.turn_id).filter(turns::Column::Outcome.is_null())
        }
        Some(EventBody::TurnFinished { turn_id, .. } | EventBody::ToolsLeftOut { turn_id, .. }) => {
            by_id(turn_id)
        }
        Some(EventBody::MessageFinished { message_id, .. }) => of_message(message_id),
        Some(EventBody::CallRequested { call }) => of_message(&call.message_id),
        Some(
            EventBody::CallAsked { call_id }
            | EventBody::CallAnswered { call_id, .. }
            | EventBody::CallStarted { call_id }
            | EventBody::FormShown { call_id, .. }
            | EventBody::FormAnswered { call_id, .. }
            | EventBody::CallFinished { call_id, .. },
        ) => of_call(call_id),
        Some(
            EventBody::ChatTitled { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::BranchChosen { .. },
        )
        | None => return Ok(()),
    };
    let found: Option<(String, i64)> = turn
        .select_only()
        .column(turns::Column::Runner)
        .column(turns::Column::Fence)
        .into_tuple()
        .one(db)
        .await?;
    let (runner, fence) = found.ok_or(Error::NotFound("turn"))?;
    // A person may answer at any server.
    let is_answer = matches!(bodies.first(), Some(EventBody::CallAnswered { .. }));
    let is_own = owner.fence == 0 || (owner.fence == fence && owner.runner == runner);
    if is_own || is_answer {
        Ok(())
    } else {
        Err(Error::NotOwner)
    }
}

fn by_id(turn: &TurnId) -> Select<turns::Entity> {
    turns::Entity::find_by_id(&turn.0)
}

fn of_message(message: &MessageId) -> Select<turns::Entity> {
    let turn = Query::select()
        .column(messages::Column::TurnId)
        .from(messages::Entity)
        .and_where(messages::Column::Id.eq(&message.0))
        .to_owned();
    within(turn)
}

pub(crate) fn of_call(call: &CallId) -> Select<turns::Entity> {
    let message = Query::select()
        .column(tool_calls::Column::MessageId)
        .from(tool_calls::Entity)
        .and_where(tool_calls::Column::Id.eq(&call.0))
        .to_owned();
    let turn = Query::select()
        .column(messages::Column::TurnId)
        .from(messages::Entity)
        .and_where(messages::Column::Id.in_subquery(message))
        .to_owned();
    within(turn)
}

fn within(turn: SelectStatement) -> Select<turns::Entity> {
    turns::Entity::find().filter(turns::Column::Id.in_subquery(turn))
}
