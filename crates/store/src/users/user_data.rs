//! Everything that belongs to a user, in all tables.

use sea_orm::sea_query::{Expr, Query};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};
use tenon_domain::{ChatId, Layer, SourceId, TurnId, UserId};

use crate::entity::{
    api_keys, blobs, call_traces, chats, experts, files, folders, model_calls, preferences,
    prompts, secrets, skill_user_settings, skills, source_grants, sources, tool_settings, tools,
    turns,
};
use crate::{LOCAL, Result, Store, enum_column, invites, local_servers, source_cache, text};

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
        .filter(tool_settings::Column::Layer.eq(enum_column::write(Layer::User)?))
        .filter(tool_settings::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    preferences::Entity::update_many()
        .col_expr(preferences::Column::Owner, theirs())
        .filter(preferences::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    experts::Entity::update_many()
        .col_expr(experts::Column::Owner, theirs())
        .filter(experts::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    folders::Entity::update_many()
        .col_expr(folders::Column::Owner, theirs())
        .filter(folders::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    files::Entity::update_many()
        .col_expr(files::Column::Owner, theirs())
        .filter(files::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    prompts::Entity::update_many()
        .col_expr(prompts::Column::Owner, theirs())
        .filter(prompts::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    skills::Entity::update_many()
        .col_expr(skills::Column::Owner, theirs())
        .filter(skills::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    skill_user_settings::Entity::update_many()
        .col_expr(skill_user_settings::Column::UserId, theirs())
        .filter(skill_user_settings::Column::UserId.eq(LOCAL))
        .exec(transaction)
        .await?;
    sources::Entity::update_many()
        .col_expr(sources::Column::Owner, theirs())
        .filter(sources::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    source_grants::Entity::update_many()
        .col_expr(source_grants::Column::UserId, theirs())
        .filter(source_grants::Column::UserId.eq(LOCAL))
        .exec(transaction)
        .await?;
    secrets::Entity::update_many()
        .col_expr(secrets::Column::Owner, theirs())
        .filter(secrets::Column::Owner.eq(LOCAL))
        .exec(transaction)
        .await?;
    api_keys::Entity::update_many()
        .col_expr(api_keys::Column::UserId, theirs())
        .filter(api_keys::Column::UserId.eq(LOCAL))
        .exec(transaction)
        .await?;
    model_calls::Entity::update_many()
        .col_expr(model_calls::Column::UserId, theirs())
        .filter(model_calls::Column::UserId.eq(LOCAL))
        .exec(transaction)
        .await?;
    call_traces::Entity::update_many()
        .col_expr(call_traces::Column::UserId, theirs())
        .filter(call_traces::Column::UserId.eq(LOCAL))
        .exec(transaction)
        .await?;
    adopt_connections(transaction, user).await
}

/// Connections of one person are called `SOURCE:USER`; their tools keep their ids.
async fn adopt_connections(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let ids: Vec<String> = tools::Entity::find()
        .filter(tools::Column::Owner.eq(&user.0))
        .select_only()
        .column(tools::Column::SourceId)
        .distinct()
        .into_tuple()
        .all(transaction)
        .await?;
    let former = format!(":{LOCAL}");
    for id in ids {
        if let Some(source) = id.strip_suffix(&former) {
            let name = format!("{source}:{}", user.0);
            tools::Entity::update_many()
                .col_expr(tools::Column::SourceId, Expr::value(name))
                .filter(tools::Column::SourceId.eq(&id))
                .exec(transaction)
                .await?;
        }
    }
    // What they last offered is asked for again.
    local_servers::forget_user(transaction, &UserId::new(LOCAL)).await?;
    source_cache::forget_user(transaction, &UserId::new(LOCAL)).await
}

/// Deletes all of it, but for what shows who they are.
pub(super) async fn delete(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let chats_of_user = Query::select()
        .column(chats::Column::Id)
        .from(chats::Entity)
        .and_where(chats::Column::UserId.eq(&user.0))
        .to_owned();
    tool_settings::Entity::delete_many()
        .filter(tool_settings::Column::Layer.eq(enum_column::write(Layer::Chat)?))
        .filter(tool_settings::Column::Owner.in_subquery(chats_of_user))
        .exec(transaction)
        .await?;
    tool_settings::Entity::delete_many()
        .filter(tool_settings::Column::Layer.eq(enum_column::write(Layer::User)?))
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
    delete_sources(transaction, user).await?;
    crate::experts::forget_user(transaction, user).await?;
    crate::prompts::forget_user(transaction, user).await?;
    crate::folders::forget_user(transaction, user).await?;
    crate::files::forget_user(transaction, user).await?;
    crate::skills::forget_user(transaction, user).await?;
    invites::take_back(transaction, user).await?;
    model_calls::Entity::delete_many()
        .filter(model_calls::Column::UserId.eq(&user.0))
        .exec(transaction)
        .await?;
    call_traces::Entity::delete_many()
        .filter(call_traces::Column::UserId.eq(&user.0))
        .exec(transaction)
        .await?;
    chats::Entity::delete_many()
        .filter(chats::Column::UserId.eq(&user.0))
        .exec(transaction)
        .await?;
    Ok(())
}

/// Their servers, where they are logged in, and what they gave servers to know.
async fn delete_sources(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let own: Vec<String> = sources::Entity::find()
        .filter(sources::Column::Owner.eq(&user.0))
        .select_only()
        .column(sources::Column::Id)
        .into_tuple()
        .all(transaction)
        .await?;
    for id in own {
        crate::sources::forget(transaction, &SourceId(id)).await?;
    }
    sources::Entity::delete_many()
        .filter(sources::Column::Owner.eq(&user.0))
        .exec(transaction)
        .await?;
    source_grants::Entity::delete_many()
        .filter(source_grants::Column::UserId.eq(&user.0))
        .exec(transaction)
        .await?;
    secrets::Entity::delete_many()
        .filter(secrets::Column::Owner.eq(&user.0))
        .exec(transaction)
        .await?;
    local_servers::forget_user(transaction, user).await?;
    source_cache::forget_user(transaction, user).await
}
