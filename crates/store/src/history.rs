//! Messages and calls as the tables keep them.

use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tenon_domain::{
    CallId, CallRecord, ChatId, MessageId, MessageRecord, Part, ToolId, TurnId, Usage,
};

use crate::entity::{messages, tool_calls, turns};
use crate::{Result, Store, enum_column};

/// Both engines bound the values of one statement.
const MAX_IDS_PER_QUERY: usize = 1000;

impl Store {
    /// All that was said in a chat, in order.
    pub async fn messages(&self, chat: &ChatId) -> Result<Vec<MessageRecord>> {
        let rows = messages::Entity::find()
            .filter(messages::Column::ChatId.eq(&chat.0))
            .order_by_asc(messages::Column::Seq)
            .all(&self.read)
            .await?;
        rows.into_iter().map(message).collect()
    }

    /// What was said in these turns of a chat, in order.
    pub async fn messages_of(&self, chat: &ChatId, turns: &[TurnId]) -> Result<Vec<MessageRecord>> {
        let mut rows = Vec::new();
        for turns in turns.chunks(MAX_IDS_PER_QUERY) {
            let some = messages::Entity::find()
                .filter(messages::Column::ChatId.eq(&chat.0))
                .filter(messages::Column::TurnId.is_in(turns.iter().map(TurnId::as_str)));
            rows.extend(some.all(&self.read).await?);
        }
        rows.sort_by_key(|row| row.seq);
        rows.into_iter().map(message).collect()
    }

    /// All calls of a chat, in the order they were requested.
    pub async fn calls(&self, chat: &ChatId) -> Result<Vec<CallRecord>> {
        let rows = tool_calls::Entity::find()
            .filter(tool_calls::Column::ChatId.eq(&chat.0))
            .order_by_asc(tool_calls::Column::Seq)
            .all(&self.read)
            .await?;
        rows.into_iter().map(call).collect()
    }

    /// The calls of these turns, in the order they were requested.
    pub async fn calls_within(&self, turns: &[TurnId]) -> Result<Vec<CallRecord>> {
        let mut rows = Vec::new();
        for turns in turns.chunks(MAX_IDS_PER_QUERY) {
            let said_in = Query::select()
                .column(messages::Column::Id)
                .from(messages::Entity)
                .and_where(messages::Column::TurnId.is_in(turns.iter().map(TurnId::as_str)))
                .to_owned();
            let some = tool_calls::Entity::find()
                .filter(tool_calls::Column::MessageId.in_subquery(said_in));
            rows.extend(some.all(&self.read).await?);
        }
        rows.sort_by_key(|row| row.seq);
        rows.into_iter().map(call).collect()
    }

    /// Keeps what a model has said so far, in case there is no later.
    /// Nothing is announced: it is the same text the screen has had as deltas.
    pub async fn checkpoint(&self, message: &MessageId, parts: &[Part]) -> Result<()> {
        use sea_orm::sea_query::Expr;
        messages::Entity::update_many()
            .col_expr(
                messages::Column::Parts,
                Expr::value(serde_json::to_string(parts)?),
            )
            .filter(messages::Column::Id.eq(&message.0))
            .filter(messages::Column::Open.eq(true))
            .exec(&self.write)
            .await?;
        Ok(())
    }
}

pub(crate) fn message(row: messages::Model) -> Result<MessageRecord> {
    Ok(MessageRecord {
        id: MessageId(row.id),
        chat_id: ChatId(row.chat_id),
        turn_id: TurnId(row.turn_id),
        role: enum_column::read(&row.role)?,
        parts: serde_json::from_str(&row.parts)?,
        created_at: row.created_at,
    })
}

fn call(row: tool_calls::Model) -> Result<CallRecord> {
    Ok(CallRecord {
        id: CallId(row.id),
        message_id: MessageId(row.message_id),
        tool_id: ToolId(row.tool_id),
        display_name: row.display_name,
        runs_on: enum_column::read(&row.runs_on)?,
        input: serde_json::from_str(&row.input)?,
        status: enum_column::read(&row.status)?,
        output: row
            .output
            .as_deref()
            .map(serde_json::from_str)
            .transpose()?,
        error: row.error.as_deref().map(serde_json::from_str).transpose()?,
        duration_ms: row.duration_ms.map(|ms| ms.unsigned_abs()),
        asked: row.asked_at.is_some() && row.verdict.is_none() && row.ended_at.is_none(),
        verdict: row.verdict.as_deref().map(enum_column::read).transpose()?,
    })
}

impl From<&turns::Model> for Usage {
    fn from(turn: &turns::Model) -> Self {
        Self {
            input_tokens: turn.input_tokens.unsigned_abs(),
            output_tokens: turn.output_tokens.unsigned_abs(),
            cache_read_tokens: turn.cache_read_tokens.unsigned_abs(),
            cache_write_tokens: turn.cache_write_tokens.unsigned_abs(),
        }
    }
}
