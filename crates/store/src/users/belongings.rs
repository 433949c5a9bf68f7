//! What belongs to a user, wherever it lies.

use sea_orm::sea_query::{Expr, Query};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{ChatId, Layer, TurnId, UserId};

use crate::entity::{blobs, chats, preferences, tool_settings, tools, turns};
use crate::{Result, Store, invites, text, word};

/// Whose everything is until there is an account.
pub const LOCAL: &str = "local";

impl Store {
    /// All chats of a user, hidden ones too.
    pub async fn chat_ids(&self, user: &UserId) -> Result<Vec<ChatId>> {
        let ids: Vec<String> = chats::Entity::find()
            .filter(chats::Column::UserId.eq(text(&user.0)))
            .select_only()
            .column(chats::Column::Id)
            .into_tuple()
            .all(&self.read)
            .await?;
        Ok(ids.into_iter().map(ChatId).collect())
    }

    /// The turns of a user that have no end.
    pub async fn open_turns_of(&self, user: &UserId) -> Result<Vec<TurnId>> {
        let theirs = Query::select()
            .column(chats::Column::Id)
            .from(chats::Entity)
            .and_where(chats::Column::UserId.eq(text(&user.0)))
            .to_owned();
        let ids: Vec<String> = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .filter(turns::Column::ChatId.in_subquery(theirs))
            .select_only()
            .column(turns::Column::Id)
            .into_tuple()
            .all(&self.read)
            .await?;
        Ok(ids.into_iter().map(TurnId).collect())
    }
}

/// Gives the first account what was there before it.
pub(super) async fn adopt(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let theirs = || Expr::value(user.0.clone());
    chats::Entity::update_many()
        .col_expr(chats::Column::UserId, theirs())
        .filter(chats::Column::UserId.eq(LOCAL))
        .exec(transaction)
        .await?;
    blobs::Entity::update_many()
        .col_expr(blobs::Column::Owner, theirs())
        .filter(blobs::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    tools::Entity::update_many()
        .col_expr(tools::Column::Owner, theirs())
        .filter(tools::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    tool_settings::Entity::update_many()
        .col_expr(tool_settings::Column::Owner, theirs())
        .filter(tool_settings::Column::Layer.eq(word::write(Layer::User)?))
        .filter(tool_settings::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    preferences::Entity::update_many()
        .col_expr(preferences::Column::Owner, theirs())
        .filter(preferences::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    Ok(())
}

/// Deletes all of it. Log-ins and keys go with the account itself.
pub(super) async fn delete(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let chats_of_user = Query::select()
        .column(chats::Column::Id)
        .from(chats::Entity)
        .and_where(chats::Column::UserId.eq(&user.0))
        .to_owned();
    tool_settings::Entity::delete_many()
        .filter(tool_settings::Column::Layer.eq(word::write(Layer::Chat)?))
        .filter(tool_settings::Column::Owner.in_subquery(chats_of_user))
        .exec(transaction)
        .await?;
    tool_settings::Entity::delete_many()
        .filter(tool_settings::Column::Layer.eq(word::write(Layer::User)?))
        .filter(tool_settings::Column::Owner.eq(&user.0))
        .exec(transaction)
        .await?;
    preferences::Entity::delete_many()
        .filter(preferences::Column::Owner.eq(&user.0))
        .exec(transaction)
        .await?;
    blobs::Entity::delete_many()
        .filter(blobs::Column::Owner.eq(&user.0))
        .exec(transaction)
        .await?;
    tools::Entity::delete_many()
        .filter(tools::Column::Owner.eq(&user.0))
        .exec(transaction)
        .await?;
    invites::take_back(transaction, user).await?;
    chats::Entity::delete_many()
        .filter(chats::Column::UserId.eq(&user.0))
        .exec(transaction)
        .await?;
    Ok(())
}
