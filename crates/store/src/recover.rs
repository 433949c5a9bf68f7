//! What a turn left loose, and what processes that went away left behind.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{CallId, CallStatus, ChatId, MessageRecord, TurnId};

use crate::entity::{messages, tool_calls, turns};
use crate::history::message;
use crate::runner::Claim;
use crate::{Result, Store};

/// A turn without an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    pub id: TurnId,
    pub chat_id: ChatId,
}

/// The open turns of a process that is gone. Nobody else tidies up after it
/// while this is held.
#[derive(Debug)]
pub struct Abandoned {
    pub turns: Vec<OpenTurn>,
    _claim: Claim,
}

impl Store {
    /// The turns that have no end, whoever runs them.
    pub async fn open_turns(&self) -> Result<Vec<OpenTurn>> {
        let rows = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(OpenTurn::from).collect())
    }

    /// The open turns of processes that are gone.
    pub async fn abandoned(&self) -> Result<Vec<Abandoned>> {
        let runners: Vec<String> = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .select_only()
            .column(turns::Column::Runner)
            .distinct()
            .into_tuple()
            .all(&self.read)
            .await?;
        let mut abandoned = Vec::new();
        for runner in runners {
            let Some(claim) = self.runner.claim(&self.read, &runner).await? else {
                continue;
            };
            // Read again: another process may have tidied up before we got the lock.
            let rows = turns::Entity::find()
                .filter(turns::Column::Outcome.is_null())
                .filter(turns::Column::Runner.eq(runner))
                .all(&self.read)
                .await?;
            abandoned.push(Abandoned {
                turns: rows.into_iter().map(OpenTurn::from).collect(),
                _claim: claim,
            });
        }
        Ok(abandoned)
    }

    /// What of a turn is still open: messages being spoken, with the text of their
    /// last checkpoint, and calls without a result.
    pub async fn loose_ends(&self, turn: &TurnId) -> Result<(Vec<MessageRecord>, Vec<CallId>)> {
        let spoken = messages::Entity::find()
            .filter(messages::Column::TurnId.eq(&turn.0))
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
        let open = spoken.into_iter().filter(|message| message.open);
        Ok((
            open.map(message).collect::<Result<_>>()?,
            calls.into_iter().map(|call| CallId(call.id)).collect(),
        ))
    }
}

impl From<turns::Model> for OpenTurn {
    fn from(row: turns::Model) -> Self {
        Self {
            id: TurnId(row.id),
            chat_id: ChatId(row.chat_id),
        }
    }
}
