//! The chats of a user.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Query;
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tenon_domain::{ChatId, TurnId, UserId};

use crate::entity::{blobs, chats, tool_calls, turns};
use crate::{Error, Result, Store, fresh_id, now};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub id: ChatId,
    pub title: String,
    /// The number of its newest event.
    pub last_seq: i64,
    pub created_at: i64,
    pub updated_at: i64,
}

impl Store {
    pub async fn create_chat(&self, user: &UserId, title: &str) -> Result<Chat> {
        let at = now();
        let row = chats::ActiveModel {
            id: Set(fresh_id()),
            user_id: Set(user.0.clone()),
            title: Set(crate::text(title)),
            last_seq: Set(0),
            created_at: Set(at),
            updated_at: Set(at),
        };
        Ok(row.insert(&self.write).await?.into())
    }

    pub async fn chat(&self, user: &UserId, chat: &ChatId) -> Result<Chat> {
        let row = chats::Entity::find_by_id(&chat.0)
            .filter(chats::Column::UserId.eq(&user.0))
            .one(&self.read)
            .await?;
        row.map(Chat::from).ok_or(Error::NotFound("chat"))
    }

    /// The chats of a user, newest first.
    pub async fn chats(&self, user: &UserId, limit: u64) -> Result<Vec<Chat>> {
        let rows = chats::Entity::find()
            .filter(chats::Column::UserId.eq(&user.0))
            .order_by_desc(chats::Column::UpdatedAt)
            .order_by_desc(chats::Column::Id)
            .limit(limit)
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(Chat::from).collect())
    }

    /// Deletes a chat and all that belongs to it, kept outputs included.
    pub async fn delete_chat(&self, user: &UserId, chat: &ChatId) -> Result<()> {
        self.chat(user, chat).await?;
        let transaction = self.begin().await?;
        let calls = Query::select()
            .column(tool_calls::Column::Id)
            .from(tool_calls::Entity)
            .and_where(tool_calls::Column::ChatId.eq(&chat.0))
            .to_owned();
        blobs::Entity::delete_many()
            .filter(blobs::Column::CallId.in_subquery(calls))
            .exec(&transaction)
            .await?;
        chats::Entity::delete_by_id(&chat.0)
            .exec(&transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// The chat a turn belongs to, if it is this user's.
    pub async fn chat_of_turn(&self, user: &UserId, turn: &TurnId) -> Result<ChatId> {
        let turn = turns::Entity::find_by_id(&turn.0).one(&self.read).await?;
        let chat = ChatId(turn.ok_or(Error::NotFound("turn"))?.chat_id);
        match self.chat(user, &chat).await {
            Ok(chat) => Ok(chat.id),
            Err(Error::NotFound(_)) => Err(Error::NotFound("turn")),
            Err(other) => Err(other),
        }
    }
}

impl From<chats::Model> for Chat {
    fn from(row: chats::Model) -> Self {
        Self {
            id: ChatId(row.id),
            title: row.title,
            last_seq: row.last_seq,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}
