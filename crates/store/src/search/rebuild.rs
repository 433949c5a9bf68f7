//! An index that is missing, or was made by other rules, is made anew when the
//! database is opened.
//!
//! Chat by chat, each in a transaction of its own: who is cut off begins again
//! at the next start, and a chat that was done twice is none the worse for it.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::index::{index_call, index_message, index_title};
use crate::entity::{chats, messages, preferences, search_entries, tool_calls};
use crate::{Result, Store};

/// Another number for each change of what is indexed or how text is cut into words.
const INDEX_VERSION: &str = "1";
const VERSION_NAME: &str = "search.version";

/// How many chats are listed at a time.
const BATCH_ROWS: u64 = 500;

impl Store {
    pub(crate) async fn refresh_search(&self) -> Result<()> {
        let version = preferences::Entity::find_by_id((String::new(), VERSION_NAME.to_owned()))
            .one(&self.read)
            .await?;
        if version.is_some_and(|row| row.value == INDEX_VERSION) {
            return Ok(());
        }
        // Oldest first: results are sorted by the age of their entries.
        let mut done = (i64::MIN, String::new());
        loop {
            let chats = self.chats_after(&done).await?;
            let Some(last) = chats.last() else { break };
            done = (last.updated_at, last.id.clone());
            for chat in chats {
                self.index_chat(chat).await?;
            }
        }
        let version = preferences::ActiveModel {
            owner: Set(String::new()),
            name: Set(VERSION_NAME.into()),
            value: Set(INDEX_VERSION.into()),
        };
        let key = [preferences::Column::Owner, preferences::Column::Name];
        preferences::Entity::insert(version)
            .on_conflict(
                OnConflict::columns(key)
                    .update_column(preferences::Column::Value)
                    .to_owned(),
            )
            .exec_without_returning(&self.write)
            .await?;
        Ok(())
    }

    async fn chats_after(&self, (updated_at, id): &(i64, String)) -> Result<Vec<chats::Model>> {
        let place = Expr::tuple([
            Expr::col(chats::Column::UpdatedAt),
            Expr::col(chats::Column::Id),
        ]);
        let done = Expr::tuple([Expr::value(*updated_at), Expr::value(id.clone())]);
        let chats = chats::Entity::find()
            .filter(place.gt(done))
            .order_by_asc(chats::Column::UpdatedAt)
            .order_by_asc(chats::Column::Id)
            .limit(BATCH_ROWS);
        Ok(chats.all(&self.read).await?)
    }

    async fn index_chat(&self, chat: chats::Model) -> Result<()> {
        let transaction = self.begin().await?;
        // The row is locked, so that no other process writes to the chat or indexes it meanwhile.
        let chat = chats::Entity::find_by_id(chat.id)
            .lock_exclusive()
            .one(&transaction)
            .await?;
        let Some(chat) = chat else { return Ok(()) };
        search_entries::Entity::delete_many()
            .filter(search_entries::Column::ChatId.eq(&chat.id))
            .exec(&transaction)
            .await?;
        index_title(&transaction, &chat.id, &chat.title).await?;
        let messages = messages::Entity::find()
            .filter(messages::Column::ChatId.eq(&chat.id))
            .filter(messages::Column::Open.eq(false))
            .order_by_asc(messages::Column::Seq)
            .all(&transaction)
            .await?;
        for message in messages {
            let parts: Vec<_> = serde_json::from_str(&message.parts)?;
            index_message(&transaction, &chat.id, &message.id, &parts).await?;
        }
        let calls = tool_calls::Entity::find()
            .filter(tool_calls::Column::ChatId.eq(&chat.id))
            .filter(tool_calls::Column::EndedAt.is_not_null())
            .order_by_asc(tool_calls::Column::Seq)
            .all(&transaction)
            .await?;
        for call in calls {
            index_call(&transaction, &call).await?;
        }
        Ok(transaction.commit().await?)
    }
}
