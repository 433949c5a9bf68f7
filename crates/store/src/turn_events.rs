//! One turn as it went: its facts and its events, for whoever looks into it.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{ChatId, Event, EventBody, ModelId, ModelRef, TurnId, UserId};

use crate::entity::{messages, turns};
use crate::{Error, Result, Store};

/// Of one query.
const PAGE_EVENTS: u64 = 200;

/// A turn has some dozens; one with more is shown as far as this.
const MAX_EVENTS: usize = 4000;

/// A turn and what happened in it.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEvents {
    pub chat: ChatId,
    pub turn: TurnId,
    pub model: Option<ModelRef>,
    /// "page", "shell", or "key:" and the key's id.
    pub door: String,
    pub started_at: i64,
    /// None while it runs.
    pub ended_at: Option<i64>,
    /// In order, from the one that began it. Some may be about the chat and not about the turn.
    pub events: Vec<Event>,
    /// Whether all of them are there.
    pub is_whole: bool,
}

impl Store {
    /// What happened in a turn of this user.
    pub async fn turn_events(&self, user: &UserId, turn: &TurnId) -> Result<TurnEvents> {
        let chat = self.chat_of_turn(user, turn).await?;
        let row = turns::Entity::find_by_id(&turn.0).one(&self.read).await?;
        let row = row.ok_or(Error::NotFound("turn"))?;
        let first: Option<Option<i64>> = messages::Entity::find()
            .filter(messages::Column::TurnId.eq(&turn.0))
            .select_only()
            .column_as(messages::Column::Seq.min(), "first")
            .into_tuple()
            .one(&self.read)
            .await?;
        let mut after = first.flatten().unwrap_or(1) - 1;
        let mut events = Vec::new();
        let is_whole = loop {
            let page = self.events(&chat, after, PAGE_EVENTS).await?;
            let is_last = (page.len() as u64) < PAGE_EVENTS;
            let end = page.iter().position(|event| ends(event, turn));
            after = page.last().map_or(after, |event| event.seq);
            events.extend(page.into_iter().take(end.map_or(usize::MAX, |end| end + 1)));
            if end.is_some() || is_last {
                break true;
            }
            if events.len() >= MAX_EVENTS {
                break false;
            }
        };
        Ok(TurnEvents {
            chat,
            turn: turn.clone(),
            model: row.model_id.zip(row.model_name).map(|(id, name)| ModelRef {
                id: ModelId(id),
                name,
            }),
            door: row.door,
            started_at: row.started_at,
            ended_at: row.ended_at,
            events,
            is_whole,
        })
    }
}

fn ends(event: &Event, turn: &TurnId) -> bool {
    matches!(&event.body, EventBody::TurnFinished { turn_id, .. } if turn_id == turn)
}
