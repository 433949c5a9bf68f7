//! Tracks whether a chat was named by a person or a model.

use sea_orm::{EntityTrait, QuerySelect};
use tenon_domain::{ChatId, TitledBy};

use crate::entity::chats;
use crate::{Error, Result, Store, enum_column};

impl Store {
    pub async fn titled_by(&self, chat: &ChatId) -> Result<TitledBy> {
        let by: Option<String> = chats::Entity::find_by_id(&chat.0)
            .select_only()
            .column(chats::Column::TitledBy)
            .into_tuple()
            .one(&self.read)
            .await?;
        enum_column::read(&by.ok_or(Error::NotFound("chat"))?)
    }
}
