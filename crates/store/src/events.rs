//! The numbered events of a chat: appended with their effects, read back in order.

mod present;

use std::time::Duration;

pub(crate) use present::of_call as turn_of_call;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use tenon_domain::{ChatId, Event, EventBody, UserId, Verdict};
use tokio::time::timeout;

use crate::changes::PendingChange;
use crate::entity::{chats, events};
use crate::projection::{EventOrigin, project};
use crate::{Error, Result, Store, StoreChange, TurnOwner, code, now};

/// A transaction that waits for a lock is refused before; what takes as long as a lease lasts has
/// nobody's turn to write to any more.
const APPEND_TIMEOUT: Duration = Duration::from_secs(15);

/// Also of events that have next to no bytes.
const MAX_READ_TOGETHER: u64 = 512;

impl Store {
    /// Writes what happened, in order, and its effects on the tables: all of it or nothing.
    pub async fn append(&self, chat: &ChatId, bodies: Vec<EventBody>) -> Result<Vec<Event>> {
        let mut written = self.append_all(vec![(chat.clone(), bodies)]).await?;
        written.pop().unwrap_or(Err(Error::NotFound("chat")))
    }

    /// The same for several chats in one transaction, which is what makes
    /// many small events cheap. A chat that is gone fails alone.
    pub async fn append_all(
        &self,
        batch: Vec<(ChatId, Vec<EventBody>)>,
    ) -> Result<Vec<Result<Vec<Event>>>> {
        let written = if self.has_leases() {
            // A process without its lease fails at once instead of waiting for an unreachable
            // database.
            self.runner.check_lease()?;
            let written = timeout(APPEND_TIMEOUT, self.append_together(batch)).await;
            written.unwrap_or_else(|_late| {
                let seconds = APPEND_TIMEOUT.as_secs();
                Err(Error::NoAnswer(format!("it said nothing for {seconds} s")))
            })
        } else {
            self.append_together(batch).await
        };
        self.note_write(&written);
        written
    }

    async fn append_together(
        &self,
        batch: Vec<(ChatId, Vec<EventBody>)>,
    ) -> Result<Vec<Result<Vec<Event>>>> {
        let mut changes: Vec<PendingChange<'_>> = Vec::with_capacity(batch.len());
        let transaction = self.begin().await?;
        let owner = self.runner.owner(&transaction).await?;
        let mut written = Vec::with_capacity(batch.len());
        for (chat, bodies) in batch {
            // An approval that is remembered also changes tool settings.
            let sets_tools = bodies.iter().any(is_remembered);
            written.push(match append(&transaction, &owner, chat, bodies).await {
                Ok((user, events)) => {
                    let chat = events.first().map(|event| &event.chat_id);
                    changes.extend(chat.map(|chat| self.changing_chat(&user, chat)));
                    if sets_tools {
                        changes.push(self.changing(StoreChange::ToolSettings(Some(user))));
                    }
                    Ok(events)
                }
                // Nothing of it was written, and the others must not suffer for it.
                Err(refused @ (Error::NotFound(_) | Error::NotOwner)) => Err(refused),
                Err(other) => return Err(other),
            });
        }
        transaction.commit().await.map_err(uncommitted)?;
        Ok(written)
    }

    /// What happened in a chat after number `after`, at most `limit` of it.
    pub async fn events(&self, chat: &ChatId, after: i64, limit: u64) -> Result<Vec<Event>> {
        let rows = events::Entity::find()
            .filter(events::Column::ChatId.eq(&chat.0))
            .filter(events::Column::Seq.gt(after))
            .order_by_asc(events::Column::Seq)
            .limit(limit)
            .all(&self.read)
            .await?;
        rows.into_iter().map(event_of).collect()
    }

    /// The same, as many as have about `bytes` in the store, and one where that alone has more. So
    /// many small ones are read at once, and no more memory is taken for large ones.
    pub async fn events_within(&self, chat: &ChatId, after: i64, bytes: i64) -> Result<Vec<Event>> {
        let sizes: Vec<(i64, i64)> = events::Entity::find()
            .select_only()
            .column(events::Column::Seq)
            .expr(Expr::cust("CAST(OCTET_LENGTH(body) AS BIGINT)"))
            .filter(events::Column::ChatId.eq(&chat.0))
            .filter(events::Column::Seq.gt(after))
            .order_by_asc(events::Column::Seq)
            .limit(MAX_READ_TOGETHER)
            .into_tuple()
            .all(&self.read)
            .await?;
        let mut total = 0;
        let fits = sizes.iter().take_while(|(_, size)| {
            total += size;
            total <= bytes
        });
        let count = fits.count().max(1) as u64;
        if sizes.is_empty() {
            return Ok(Vec::new());
        }
        self.events(chat, after, count).await
    }
}

/// The database says that it did not commit, or nothing more: then it may have.
pub(crate) fn uncommitted(error: DbErr) -> Error {
    match code(&error).as_deref() {
        // A connection that fails, and a server that is shut down.
        Some(code) if !code.starts_with("08") && !code.starts_with("57") => error.into(),
        Some(_) | None => Error::NoAnswer(error.to_string()),
    }
}

fn event_of(row: events::Model) -> Result<Event> {
    Ok(Event {
        chat_id: ChatId(row.chat_id),
        seq: row.seq,
        at: row.at,
        body: serde_json::from_str(&row.body)?,
    })
}

/// Whether it is an answer for more than the one call.
fn is_remembered(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::CallAnswered {
            verdict: Verdict::Chat | Verdict::Always,
            ..
        }
    )
}

async fn append(
    db: &impl ConnectionTrait,
    owner: &TurnOwner,
    chat: ChatId,
    bodies: Vec<EventBody>,
) -> Result<(UserId, Vec<Event>)> {
    present::check(db, owner, &bodies).await?;
    let at = now();
    let count = bodies.len() as i64;
    // The update locks the chat's row, so that two writers cannot take the same number.
    let mut update = chats::Entity::update_many()
        .col_expr(
            chats::Column::LastSeq,
            Expr::col(chats::Column::LastSeq).add(count),
        )
        .filter(chats::Column::Id.eq(&chat.0));
    // Another name or another branch on show is nothing new in the chat: it keeps its place in the
    // list.
    let is_news = |body: &EventBody| {
        !matches!(
            body,
            EventBody::ChatTitled { .. } | EventBody::BranchChosen { .. }
        )
    };
    if bodies.iter().any(is_news) {
        update = update.col_expr(chats::Column::UpdatedAt, Expr::value(at));
    }
    let begins = |body: &EventBody| matches!(body, EventBody::TurnStarted { .. });
    if bodies.iter().any(begins) {
        // A new turn unarchives the chat. A deleted chat accepts no new turn, but a running one may
        // end, because the deletion can be undone.
        update = update
            .col_expr(chats::Column::ArchivedAt, Expr::value(None::<i64>))
            .filter(chats::Column::DeletedAt.is_null());
    }
    let row = update.exec_with_returning(db).await?.into_iter().next();
    let row = row.ok_or(Error::NotFound("chat"))?;

    let numbered = bodies.into_iter().zip(row.last_seq - count + 1..);
    let events: Vec<Event> = numbered
        .map(|(body, seq)| Event {
            chat_id: chat.clone(),
            seq,
            at,
            body,
        })
        .collect();
    write(db, EventOrigin::Runner(owner), &events).await?;
    Ok((UserId(row.user_id), events))
}

/// Writes events that have their numbers, and their effects.
pub(crate) async fn write(
    db: &impl ConnectionTrait,
    origin: EventOrigin<'_>,
    events: &[Event],
) -> Result<()> {
    let mut rows = Vec::with_capacity(events.len());
    for event in events {
        project(db, origin, event).await?;
        rows.push(events::ActiveModel {
            chat_id: Set(event.chat_id.0.clone()),
            seq: Set(event.seq),
            at: Set(event.at),
            body: Set(serde_json::to_string(&event.body)?),
        });
    }
    // Both engines bound the values of one statement.
    for rows in rows.chunks(1000) {
        events::Entity::insert_many(rows.to_vec())
            .exec_without_returning(db)
            .await?;
    }
    Ok(())
}
