//! Recovery: the open ends of a turn, and the turns of processes that are gone.

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{
    CallRecord, ChatId, EntryPoint, MessageRecord, ModelId, ToolId, TurnId, Usage, UserId,
};

use crate::entity::{chats, messages, turns};
use crate::history::message;
use crate::runner::Claim;
use crate::{Result, Store, enum_column, to_column};

/// A turn without an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    pub id: TurnId,
    pub chat_id: ChatId,
}

/// An open turn that can go on where it stands: a call of it was asked about
/// and has not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedTurn {
    pub id: TurnId,
    pub chat_id: ChatId,
    pub user: UserId,
    /// Who was asked. Turns of the first tables do not know.
    pub model: Option<ModelId>,
    /// These tools alone.
    pub tools: Option<Vec<ToolId>>,
    pub door: EntryPoint,
    /// What it took so far.
    pub usage: Usage,
}

/// The open turns of a process that is gone. Nobody else tidies up after it
/// while this is held.
#[derive(Debug)]
pub struct AbandonedTurns {
    pub turns: Vec<OpenTurn>,
    _claim: Claim,
}

impl Store {
    /// Whether another process may have left something open since the last look.
    pub fn may_have_other_runners(&self) -> bool {
        self.runner.may_have_others()
    }

    /// The turns that have no end, whoever runs them.
    pub async fn open_turns(&self) -> Result<Vec<OpenTurn>> {
        let rows = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(OpenTurn::from).collect())
    }

    /// Whether a turn has no end yet.
    pub async fn is_open(&self, turn: &TurnId) -> Result<bool> {
        let open = turns::Entity::find_by_id(&turn.0).filter(turns::Column::Outcome.is_null());
        Ok(open.one(&self.read).await?.is_some())
    }

    /// The processes that have open turns.
    pub async fn runners(&self) -> Result<Vec<String>> {
        let runners = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .select_only()
            .column(turns::Column::Runner)
            .distinct()
            .into_tuple()
            .all(&self.read)
            .await?;
        Ok(runners)
    }

    /// The open turns of a process, if it is gone. One process at a time: a
    /// claim may hold a connection, and there are not many of them.
    pub async fn abandoned(&self, runner: &str) -> Result<Option<AbandonedTurns>> {
        let Some(claim) = self.runner.claim(&self.read, runner).await? else {
            return Ok(None);
        };
        // Read under the lock: another process may have tidied up before we got it.
        let rows = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .filter(turns::Column::Runner.eq(runner))
            .all(&self.read)
            .await?;
        Ok(Some(AbandonedTurns {
            turns: rows.into_iter().map(OpenTurn::from).collect(),
            _claim: claim,
        }))
    }

    /// The turn as one that can go on, where it is.
    pub async fn paused(&self, turn: &TurnId) -> Result<Option<PausedTurn>> {
        let calls = self.calls_of(turn).await?;
        if !calls.iter().any(CallRecord::is_paused) {
            return Ok(None);
        }
        let found = turns::Entity::find_by_id(&turn.0)
            .filter(turns::Column::Outcome.is_null())
            .one(&self.read)
            .await?;
        let Some(row) = found else { return Ok(None) };
        let chat = chats::Entity::find_by_id(&row.chat_id)
            .one(&self.read)
            .await?;
        let Some(chat) = chat.filter(|chat| chat.deleted_at.is_none()) else {
            return Ok(None);
        };
        let usage = Usage::from(&row);
        Ok(Some(PausedTurn {
            id: turn.clone(),
            chat_id: ChatId(row.chat_id),
            user: UserId(chat.user_id),
            model: row.model_id.map(ModelId),
            tools: row
                .tool_ids
                .as_deref()
                .map(serde_json::from_str)
                .transpose()?,
            door: enum_column::read(&row.door)?,
            usage,
        }))
    }

    /// From now on this process runs the turn.
    pub async fn adopt(&self, turn: &TurnId) -> Result<()> {
        turns::Entity::update_many()
            .col_expr(
                turns::Column::Runner,
                Expr::value(self.runner.name.as_str()),
            )
            .filter(turns::Column::Id.eq(&turn.0))
            .filter(turns::Column::Outcome.is_null())
            .exec(&self.write)
            .await?;
        Ok(())
    }

    /// Keeps what a turn took so far, in case another process goes on with it.
    pub async fn keep_usage(&self, turn: &TurnId, usage: &Usage) -> Result<()> {
        let counts = [
            (turns::Column::InputTokens, usage.input_tokens),
            (turns::Column::OutputTokens, usage.output_tokens),
            (turns::Column::CacheReadTokens, usage.cache_read_tokens),
            (turns::Column::CacheWriteTokens, usage.cache_write_tokens),
        ];
        let mut kept = turns::Entity::update_many()
            .filter(turns::Column::Id.eq(&turn.0))
            .filter(turns::Column::Outcome.is_null());
        for (column, count) in counts {
            kept = kept.col_expr(column, Expr::value(to_column(count)));
        }
        kept.exec(&self.write).await?;
        Ok(())
    }

    /// All calls of a turn, in the order they were requested.
    pub async fn calls_of(&self, turn: &TurnId) -> Result<Vec<CallRecord>> {
        self.calls_within(std::slice::from_ref(turn)).await
    }

    /// What of a turn is still open: messages being spoken, with the text of their
    /// last checkpoint, and calls without a result.
    pub async fn open_items(&self, turn: &TurnId) -> Result<(Vec<MessageRecord>, Vec<CallRecord>)> {
        let open = messages::Entity::find()
            .filter(messages::Column::TurnId.eq(&turn.0))
            .filter(messages::Column::Open.eq(true))
            .all(&self.read)
            .await?;
        let mut calls = self.calls_of(turn).await?;
        calls.retain(|call| call.status.is_open());
        Ok((open.into_iter().map(message).collect::<Result<_>>()?, calls))
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
