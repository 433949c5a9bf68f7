//! What ends when an account turns out to be somebody else's.
//!
//! Whoever was in it before must neither act nor learn anything through it any more, and
//! its owner must not act by what a stranger set up. Chats stay: they say what happened.

use sea_orm::sea_query::{Expr, Query, SelectStatement};
use sea_orm::{ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder};
use tenon_domain::{HandoverNotice, Layer, Policy, UserId};

use crate::entity::{
    chats, local_servers, preferences, secrets, shares, source_grants, sources, tool_settings,
};
use crate::{Result, Store, StoreChange, enum_column, invites, now, source_cache, text};

/// Where the owner finds what was switched off, until they have read it.
const NOTICE_NAME: &str = "switched_off";

impl Store {
    /// What was switched off in an account when its owner came, if they have not read it yet.
    pub async fn switched_off(&self, user: &UserId) -> Result<Option<HandoverNotice>> {
        self.preference(Some(user), NOTICE_NAME).await
    }

    /// They have read it.
    pub async fn forget_switched_off(&self, user: &UserId) -> Result<()> {
        let _change = self.changing(StoreChange::Preferences(Some(user.clone())));
        preferences::Entity::delete_by_id((text(&user.0), NOTICE_NAME.to_owned()))
            .exec(&self.write)
            .await?;
        Ok(())
    }
}

/// Switches it all off and keeps a notice of it for the owner.
pub(super) async fn switch_off(
    transaction: &DatabaseTransaction,
    user: &UserId,
) -> Result<HandoverNotice> {
    let owner = text(&user.0);
    let off = HandoverNotice {
        at: now(),
        servers: switch_servers_off(transaction, &owner).await?,
        server_log_ins: source_grants::Entity::delete_many()
            .filter(source_grants::Column::UserId.eq(&owner))
            .exec(transaction)
            .await?
            .rows_affected,
        secrets: secrets::Entity::delete_many()
            .filter(secrets::Column::Owner.eq(&owner))
            .exec(transaction)
            .await?
            .rows_affected,
        shares: shares::Entity::delete_many()
            .filter(shares::Column::ChatId.in_subquery(chats_of(&owner)))
            .exec(transaction)
            .await?
            .rows_affected,
        allowed_tools: ask_again(transaction, &owner).await?,
        local_servers: local_servers::Entity::find()
            .filter(local_servers::Column::Owner.eq(&owner))
            .all(transaction)
            .await?
            .len() as u64,
    };
    crate::local_servers::forget_user(transaction, user).await?;
    source_cache::forget_user(transaction, user).await?;
    invites::take_back(transaction, user).await?;
    // A system prompt of a stranger would speak to the owner's models.
    crate::experts::forget_user(transaction, user).await?;
    crate::prompts::forget_user(transaction, user).await?;
    crate::folders::forget_user(transaction, user).await?;
    chats::Entity::update_many()
        .col_expr(chats::Column::Settings, Expr::value(None::<String>))
        .col_expr(chats::Column::FolderId, Expr::value(None::<String>))
        .filter(chats::Column::UserId.eq(&owner))
        .exec(transaction)
        .await?;
    // The addresses that the owner's own pages would look at are among them.
    preferences::Entity::delete_many()
        .filter(preferences::Column::Owner.eq(&owner))
        .exec(transaction)
        .await?;
    crate::preferences::put(transaction, Some(user), NOTICE_NAME, &off).await?;
    Ok(off)
}

/// Tells the names of those that were on.
async fn switch_servers_off(transaction: &DatabaseTransaction, owner: &str) -> Result<Vec<String>> {
    let is_on = Condition::all()
        .add(sources::Column::Owner.eq(owner))
        .add(sources::Column::Enabled.eq(true));
    let rows = sources::Entity::find()
        .filter(is_on.clone())
        .order_by_asc(sources::Column::Name)
        .all(transaction)
        .await?;
    sources::Entity::update_many()
        .col_expr(sources::Column::Enabled, Expr::value(false))
        .col_expr(sources::Column::UpdatedAt, Expr::value(now()))
        .filter(is_on)
        .exec(transaction)
        .await?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

/// Revokes permissions to use tools without asking. Denied and switched-off tools stay so.
async fn ask_again(transaction: &DatabaseTransaction, owner: &str) -> Result<u64> {
    let of_user = Condition::all()
        .add(tool_settings::Column::Layer.eq(enum_column::write(Layer::User)?))
        .add(tool_settings::Column::Owner.eq(owner));
    let of_chats = Condition::all()
        .add(tool_settings::Column::Layer.eq(enum_column::write(Layer::Chat)?))
        .add(tool_settings::Column::Owner.in_subquery(chats_of(owner)));
    let theirs = Condition::any().add(of_user).add(of_chats);
    let allowed = tool_settings::Entity::update_many()
        .col_expr(
            tool_settings::Column::Policy,
            Expr::value(Option::<String>::None),
        )
        .filter(theirs.clone())
        .filter(tool_settings::Column::Policy.eq(enum_column::write(Policy::Allow)?))
        .exec(transaction)
        .await?;
    // Delete rows that no longer set anything.
    tool_settings::Entity::delete_many()
        .filter(theirs)
        .filter(tool_settings::Column::Enabled.is_null())
        .filter(tool_settings::Column::Policy.is_null())
        .exec(transaction)
        .await?;
    Ok(allowed.rows_affected)
}

fn chats_of(owner: &str) -> SelectStatement {
    Query::select()
        .column(chats::Column::Id)
        .from(chats::Entity)
        .and_where(chats::Column::UserId.eq(owner))
        .to_owned()
}
