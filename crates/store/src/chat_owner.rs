//! Queries for the owner of a chat and the chats of a user.

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use tenon_domain::UserId;

use crate::entity::chats;
use crate::{Error, Result};

/// The owner of a chat.
pub(crate) async fn owner_of(db: &impl ConnectionTrait, chat: &str) -> Result<UserId> {
    let owner: Option<String> = chats::Entity::find_by_id(chat)
        .select_only()
        .column(chats::Column::UserId)
        .into_tuple()
        .one(db)
        .await?;
    owner.map(UserId).ok_or(Error::NotFound("chat"))
}

/// The chats of a user that are not deleted.
pub(crate) fn of(user: &UserId) -> Select<chats::Entity> {
    chats::Entity::find()
        .filter(chats::Column::UserId.eq(&user.0))
        .filter(chats::Column::DeletedAt.is_null())
}
