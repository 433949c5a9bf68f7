//! What a process that went away left open.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tenon_domain::{CallId, CallStatus, ChatId, MessageRecord, TurnId};

use crate::entity::{messages, tool_calls, turns};
use crate::history::message;
use crate::{Result, Store};

/// A turn that nobody is running any more, and its loose ends.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTurn {
    pub id: TurnId,
    pub chat_id: ChatId,
    /// Messages that were being spoken, with the text of their last checkpoint.
    pub messages: Vec<MessageRecord>,
    pub calls: Vec<CallId>,
}

impl Store {
    /// The turns that have no end. Only meaningful while no other process runs turns.
    pub async fn open_turns(&self) -> Result<Vec<OpenTurn>> {
        let rows = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .all(&self.read)
            .await?;
        let mut open = Vec::with_capacity(rows.len());
        for turn in rows {
            let spoken = messages::Entity::find()
                .filter(messages::Column::TurnId.eq(&turn.id))
                .all(&self.read)
                .await?;
            let said_in: Vec<String> = spoken.iter().map(|message| message.id.clone()).collect();
            let calls = tool_calls::Entity::find()
                .filter(tool_calls::Column::MessageId.is_in(said_in))
                .filter(
                    tool_calls::Column::Status
                        .is_in([CallStatus::Pending.as_str(), CallStatus::Running.as_str()]),
                )
                .all(&self.read)
                .await?;
            open.push(OpenTurn {
                id: TurnId(turn.id),
                chat_id: ChatId(turn.chat_id),
                messages: spoken
                    .into_iter()
                    .filter(|message| message.open)
                    .map(message)
                    .collect::<Result<_>>()?,
                calls: calls.into_iter().map(|call| CallId(call.id)).collect(),
            });
        }
        Ok(open)
    }
}
