//! Traces of calls outside chats: input and output, sealed by their writer. Written behind, so no
//! call waits for them; kept for 30 days, while there are not too many, or until the keys are
//! rotated.

use sea_orm::{ColumnTrait, DatabaseConnection, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tenon_domain::{CallId, TurnId, UserId};

use crate::audit::first_id_at;
use crate::entity::call_traces;
use crate::events::turn_of_call;
use crate::insert_new::insert_new;
use crate::transaction::begin;
use crate::{Error, Result, Store, now, text};

/// 30 days, in milliseconds.
const RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Some kilobytes each.
const MAX_TRACES: u64 = 100_000;

impl Store {
    /// Writes a trace soon, together with others. Its writer bounds it.
    pub fn call_trace_behind(&self, user: &UserId, call: &CallId, sealed: String) {
        self.behind.call_trace(call_traces::Model {
            call_id: text(call.as_str()),
            user_id: text(&user.0),
            sealed_content: sealed,
        });
    }

    /// That of a user's call, where it was kept.
    pub async fn call_trace(&self, user: &UserId, call: &CallId) -> Result<Option<String>> {
        self.flush().await;
        let row = call_traces::Entity::find_by_id(text(call.as_str()))
            .filter(call_traces::Column::UserId.eq(text(&user.0)))
            .one(&self.read)
            .await?;
        Ok(row.map(|row| row.sealed_content))
    }

    /// The turn of a call that was made in a chat of this user.
    pub async fn turn_of_call(&self, user: &UserId, call: &CallId) -> Result<TurnId> {
        let missing = || Error::NotFound("call");
        let call = CallId(text(call.as_str()));
        let turn = turn_of_call(&call).one(&self.read).await?;
        let turn = TurnId(turn.ok_or_else(missing)?.id);
        match self.chat_of_turn(user, &turn).await {
            Ok(_) => Ok(turn),
            Err(Error::NotFound(_)) => Err(missing()),
            Err(error) => Err(error),
        }
    }

    /// Forgets what is older than 30 days, and the oldest where there are too many. Ids of calls
    /// outside of chats begin with the time.
    pub async fn sweep_call_traces(&self) -> Result<u64> {
        let oldest_allowed: Option<String> = call_traces::Entity::find()
            .select_only()
            .column(call_traces::Column::CallId)
            .order_by_desc(call_traces::Column::CallId)
            .offset(MAX_TRACES)
            .limit(1)
            .into_tuple()
            .one(&self.read)
            .await?;
        let oldest = first_id_at(now() - RETENTION_MS);
        let oldest = oldest.max(oldest_allowed.unwrap_or_default());
        let swept = call_traces::Entity::delete_many()
            .filter(call_traces::Column::CallId.lt(oldest))
            .exec(&self.write)
            .await?;
        Ok(swept.rows_affected)
    }
}

/// In a transaction of its own: nothing else fails with it.
pub(crate) async fn write(write: &DatabaseConnection, rows: Vec<call_traces::Model>) -> Result<()> {
    let transaction = begin(write).await?;
    let columns = ["call_id", "user_id", "sealed_content"];
    let rows = rows
        .into_iter()
        .map(|row| [row.call_id, row.user_id, row.sealed_content].map(Into::into));
    insert_new(&transaction, "call_traces", columns, rows).await?;
    Ok(transaction.commit().await?)
}
