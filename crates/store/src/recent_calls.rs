//! The last calls of a tool that a user made, in chats or outside of any, from the audit log.

use std::collections::HashMap;

use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QuerySelect, QueryTrait, Statement,
};
use serde_json::Value;
use tenon_domain::{CallId, CallStatus, ChatId, ToolId, TurnId, UserId};

use crate::chat_owner::of;
use crate::entity::{chats, messages, tool_calls};
use crate::{Result, Store, enum_column, text};

/// How many entries of the audit log are read: it has no index but time.
const MAX_AUDIT_ENTRIES: u64 = 20_000;

/// A call that a user made.
#[derive(Debug, Clone, PartialEq)]
pub struct RecentCall {
    pub call: CallId,
    /// Where it was made in a chat that is still there.
    pub chat: Option<ChatId>,
    pub turn: Option<TurnId>,
    /// When it ended.
    pub at: i64,
    pub status: CallStatus,
    pub duration_ms: Option<u64>,
    /// "page", "shell", or "key:" and the key's id.
    pub door: String,
}

#[derive(FromQueryResult)]
struct AuditedCall {
    at: i64,
    door: String,
    detail: String,
}

impl Store {
    /// The newest first, as far as the audit log is read for them.
    pub async fn recent_calls(
        &self,
        user: &UserId,
        tool: &ToolId,
        limit: u64,
    ) -> Result<Vec<RecentCall>> {
        self.flush().await;
        let select = "SELECT at, door, detail FROM (\
                SELECT id, at, user_id, door, action, subject, detail FROM audit \
                ORDER BY id DESC LIMIT $1\
            ) AS latest WHERE action = 'tool.called' AND user_id = $2 AND subject = $3 \
            ORDER BY id DESC LIMIT $4";
        let values = [
            MAX_AUDIT_ENTRIES.into(),
            text(&user.0).into(),
            text(tool.as_str()).into(),
            limit.into(),
        ];
        let backend = self.read.get_database_backend();
        let select = Statement::from_sql_and_values(backend, select, values);
        let rows = AuditedCall::find_by_statement(select)
            .all(&self.read)
            .await?;
        let mut calls = Vec::with_capacity(rows.len());
        for row in rows {
            calls.extend(recent_call(row)?);
        }
        self.find_turns(user, &mut calls).await?;
        Ok(calls)
    }

    /// The turns of those that were made in chats of this user, unless they are deleted.
    async fn find_turns(&self, user: &UserId, calls: &mut [RecentCall]) -> Result<()> {
        let in_chats = calls.iter().filter(|call| call.chat.is_some());
        let in_chats: Vec<String> = in_chats.map(|call| call.call.0.clone()).collect();
        let theirs = of(user)
            .select_only()
            .column(chats::Column::Id)
            .into_query();
        let messages_of_calls: Vec<(String, String)> = tool_calls::Entity::find()
            .filter(tool_calls::Column::Id.is_in(in_chats))
            .filter(tool_calls::Column::ChatId.in_subquery(theirs))
            .select_only()
            .column(tool_calls::Column::Id)
            .column(tool_calls::Column::MessageId)
            .into_tuple()
            .all(&self.read)
            .await?;
        let ids = messages_of_calls
            .iter()
            .map(|(_, message)| message.as_str());
        let turns: HashMap<String, String> = messages::Entity::find()
            .filter(messages::Column::Id.is_in(ids))
            .select_only()
            .column(messages::Column::Id)
            .column(messages::Column::TurnId)
            .into_tuple()
            .all(&self.read)
            .await?
            .into_iter()
            .collect();
        for call in calls {
            let of_call = messages_of_calls.iter().find(|(id, _)| *id == call.call.0);
            let turn = of_call.and_then(|(_, message)| turns.get(message));
            call.turn = turn.map(TurnId::new);
            if call.turn.is_none() {
                call.chat = None;
            }
        }
        Ok(())
    }
}

/// None: an entry of before calls had ids in it.
fn recent_call(row: AuditedCall) -> Result<Option<RecentCall>> {
    let detail: Value = serde_json::from_str(&row.detail)?;
    let word = |name: &str| detail[name].as_str();
    let Some(call) = word("callId") else {
        return Ok(None);
    };
    let status = match word("status") {
        Some(status) => enum_column::read(status)?,
        // Entries of calls by hand had only this.
        None if detail["ok"] == true => CallStatus::Done,
        None => CallStatus::Failed,
    };
    Ok(Some(RecentCall {
        call: CallId::new(call),
        chat: word("chatId").map(ChatId::new),
        turn: None,
        at: row.at,
        status,
        duration_ms: detail["durationMs"].as_u64(),
        door: row.door,
    }))
}
