//! A whole chat, turn by turn: what is exported and what is shared.

use std::collections::{HashMap, HashSet};

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tenon_domain::{
    CallId, CallRecord, ChatId, Cost, MessageId, MessageRecord, ModelId, ModelRef, TurnId,
    TurnOutcome, Usage, UserId,
};

use crate::chat_owner::of;
use crate::entity::{chats, turns};
use crate::{Branches, Chat, Error, Result, Store, TurnNode};

#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    pub chat: Chat,
    /// In the order they began: a turn comes after its parent.
    pub turns: Vec<TurnRecord>,
    /// The last turn of the branch on show.
    pub head: Option<TurnId>,
}

/// A turn as history keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    pub id: TurnId,
    pub parent: Option<TurnId>,
    pub model: Option<ModelRef>,
    /// Each with the calls in it.
    pub messages: Vec<(MessageRecord, Vec<CallRecord>)>,
    /// None while it runs.
    pub outcome: Option<TurnOutcome>,
    pub usage: Usage,
    pub cost: Option<Cost>,
}

/// How much of a chat is told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TranscriptScope<'a> {
    Whole,
    /// One branch alone: the turns that lead to this one.
    Until(&'a TurnId),
}

impl Store {
    pub async fn transcript(&self, user: &UserId, chat: &ChatId) -> Result<Transcript> {
        let row = self.row_of(user, chat).await?;
        self.build_transcript(row, TranscriptScope::Whole).await
    }

    /// The branch on show alone.
    pub async fn active_branch_transcript(
        &self,
        user: &UserId,
        chat: &ChatId,
    ) -> Result<Transcript> {
        let row = self.row_of(user, chat).await?;
        let Some(head) = row.head.clone().map(TurnId) else {
            return self.build_transcript(row, TranscriptScope::Whole).await;
        };
        self.build_transcript(row, TranscriptScope::Until(&head))
            .await
    }

    pub(crate) async fn row_of(&self, user: &UserId, chat: &ChatId) -> Result<chats::Model> {
        let row = of(user).filter(chats::Column::Id.eq(&chat.0));
        row.one(&self.read).await?.ok_or(Error::NotFound("chat"))
    }

    /// Turns first, calls last: what comes to the chat meanwhile is left out
    /// together with all that belongs to it.
    pub(crate) async fn build_transcript(
        &self,
        row: chats::Model,
        extent: TranscriptScope<'_>,
    ) -> Result<Transcript> {
        let head = match extent {
            TranscriptScope::Whole => row.head.clone().map(TurnId),
            TranscriptScope::Until(last) => Some(last.clone()),
        };
        let chat = Chat::from(row);
        let rows = turns::Entity::find()
            .filter(turns::Column::ChatId.eq(&chat.id.0))
            .all(&self.read)
            .await?;
        let mut rows: HashMap<String, turns::Model> =
            rows.into_iter().map(|row| (row.id.clone(), row)).collect();
        let (messages, all_calls) = match extent {
            TranscriptScope::Whole => (self.messages(&chat.id).await?, self.calls(&chat.id).await?),
            TranscriptScope::Until(last) => {
                let path = path(&rows, last);
                (
                    self.messages_of(&chat.id, &path).await?,
                    self.calls_within(&path).await?,
                )
            }
        };
        let mut calls: HashMap<MessageId, Vec<CallRecord>> = HashMap::new();
        for call in all_calls {
            calls.entry(call.message_id.clone()).or_default().push(call);
        }

        let mut turns: Vec<TurnRecord> = Vec::with_capacity(rows.len());
        let mut places: HashMap<TurnId, usize> = HashMap::new();
        for mut message in messages {
            if let Some(row) = rows.remove(&message.turn_id.0) {
                places.insert(message.turn_id.clone(), turns.len());
                turns.push(turn(row)?);
            }
            let Some(place) = places.get(&message.turn_id) else {
                continue;
            };
            let calls = calls.remove(&message.id).unwrap_or_default();
            // A call that is still being spoken is none yet.
            let known: HashSet<&CallId> = calls.iter().map(|call| &call.id).collect();
            let is_known = |call: &CallId| known.contains(call);
            let is_kept =
                |part: &tenon_domain::Part| part.as_call().is_none_or(|c| is_known(&c.id));
            message.parts.retain(is_kept);
            turns[*place].messages.push((message, calls));
        }
        Ok(Transcript { chat, turns, head })
    }
}

fn path(rows: &HashMap<String, turns::Model>, last: &TurnId) -> Vec<TurnId> {
    let places = rows.values().map(|row| TurnNode {
        id: TurnId::new(&row.id),
        parent: row.parent_id.as_deref().map(TurnId::new),
    });
    Branches::new(places.collect(), None).path(Some(last))
}

fn turn(row: turns::Model) -> Result<TurnRecord> {
    let usage = Usage::from(&row);
    let model = row.model_id.zip(row.model_name);
    let cost = row.cost_micros.zip(row.cost_currency);
    Ok(TurnRecord {
        id: TurnId(row.id),
        parent: row.parent_id.map(TurnId),
        model: model.map(|(id, name)| ModelRef {
            id: ModelId(id),
            name,
        }),
        messages: Vec::new(),
        outcome: row
            .outcome
            .as_deref()
            .map(serde_json::from_str)
            .transpose()?,
        usage,
        cost: cost.map(|(micros, currency)| Cost {
            currency,
            micros: micros.unsigned_abs(),
        }),
    })
}
