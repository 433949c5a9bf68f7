//! Chats that were deleted: gone for everybody at once, for good a while later.
//!
//! Until then a deletion can be undone. What ran in such a chat may still
//! write down how it ended; nothing new begins there.

use std::time::Duration;

use sea_orm::sea_query::{Expr, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{ChatId, Layer, UserId};

use crate::entity::{blobs, chats, tool_calls};
use crate::{Chat, Error, Result, Store, files, now, to_column, tool_settings};

/// How long a deletion can be undone: the ten seconds the page offers it, and
/// some for a slow connection.
const UNDO_WINDOW: Duration = Duration::from_secs(60);

impl Store {
    /// From now on the chat is nowhere.
    pub async fn delete_chat(&self, user: &UserId, chat: &ChatId) -> Result<()> {
        let _change = self.changing_chat(user, chat);
        let deleted = chats::Entity::update_many()
            .col_expr(chats::Column::DeletedAt, Expr::value(now()))
            .filter(chats::Column::Id.eq(&chat.0))
            .filter(chats::Column::UserId.eq(&user.0))
            .filter(chats::Column::DeletedAt.is_null())
            .exec(&self.write)
            .await?;
        match deleted.rows_affected {
            0 => Err(Error::NotFound("chat")),
            _ => Ok(()),
        }
    }

    /// Undoes a deletion, while it can be.
    pub async fn restore_chat(&self, user: &UserId, chat: &ChatId) -> Result<Chat> {
        let _change = self.changing_chat(user, chat);
        let restored = chats::Entity::update_many()
            .col_expr(chats::Column::DeletedAt, Expr::value(None::<i64>))
            .filter(chats::Column::Id.eq(&chat.0))
            .filter(chats::Column::UserId.eq(&user.0))
            .filter(chats::Column::DeletedAt.gte(before(UNDO_WINDOW)))
            .exec_with_returning(&self.write)
            .await?;
        let row = restored.into_iter().next();
        row.map(Chat::from).ok_or(Error::NotFound("chat"))
    }

    /// The chats that were deleted longer ago than this.
    pub async fn deleted_chats(&self, ago: Duration) -> Result<Vec<ChatId>> {
        let chats: Vec<String> = chats::Entity::find()
            .filter(chats::Column::DeletedAt.lte(before(ago)))
            .select_only()
            .column(chats::Column::Id)
            .into_tuple()
            .all(&self.read)
            .await?;
        Ok(chats.into_iter().map(ChatId).collect())
    }

    /// Removes a deleted chat for good, with all that belongs to it: kept
    /// outputs and settings included.
    pub async fn purge_chat(&self, chat: &ChatId) -> Result<()> {
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
        files::forget_chat(&transaction, chat).await?;
        tool_settings::forget(&transaction, Layer::Chat, chat.as_str()).await?;
        let purged = chats::Entity::delete_by_id(&chat.0)
            .filter(chats::Column::DeletedAt.is_not_null())
            .exec(&transaction)
            .await?;
        if purged.rows_affected == 0 {
            // The chat was restored, or another process purged it first: roll back.
            transaction.rollback().await?;
            return Err(Error::NotFound("chat"));
        }
        Ok(transaction.commit().await?)
    }
}

fn before(ago: Duration) -> i64 {
    now().saturating_sub(to_column(ago.as_millis() as u64))
}
