//! Finds the process that runs an open turn, to which stops and answers are sent.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use tenon_domain::{CallId, ChatId, TurnId};

use crate::entity::turns;
use crate::events::turn_of_call;
use crate::recover::owner;
use crate::{Result, Store, TurnOwner};

impl Store {
    pub async fn owner_of(&self, turn: &TurnId) -> Result<Option<TurnOwner>> {
        self.owner_by(turns::Entity::find_by_id(&turn.0)).await
    }

    pub async fn owner_of_call(&self, call: &CallId) -> Result<Option<TurnOwner>> {
        self.owner_by(turn_of_call(call)).await
    }

    /// Of the turn that is open in a chat.
    pub async fn owner_in(&self, chat: &ChatId) -> Result<Option<TurnOwner>> {
        let open = turns::Entity::find().filter(turns::Column::ChatId.eq(&chat.0));
        self.owner_by(open).await
    }

    /// The open turns of these chats that other processes run.
    pub async fn turns_elsewhere(&self, chats: &[ChatId]) -> Result<HashMap<ChatId, TurnId>> {
        if !self.has_leases() || chats.is_empty() {
            return Ok(HashMap::new());
        }
        let open: Vec<(String, String)> = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .filter(turns::Column::Runner.ne(self.runner_name()))
            .filter(turns::Column::ChatId.is_in(chats.iter().map(|chat| &chat.0)))
            .select_only()
            .column(turns::Column::ChatId)
            .column(turns::Column::Id)
            .into_tuple()
            .all(&self.read)
            .await?;
        let open = open.into_iter();
        Ok(open
            .map(|(chat, turn)| (ChatId(chat), TurnId(turn)))
            .collect())
    }

    async fn owner_by(&self, turn: Select<turns::Entity>) -> Result<Option<TurnOwner>> {
        let open = turn.filter(turns::Column::Outcome.is_null());
        Ok(open.one(&self.read).await?.as_ref().map(owner))
    }
}
