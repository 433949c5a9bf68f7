//! Invitations to make an account: each for one person, once, for a week.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder,
};
use tenon_domain::{InviteId, UserId, UserRole};

use crate::account::{AccountError, normal_email};
use crate::entity::invites;
use crate::token::{SecretToken, TokenHash};
use crate::{Error, Result, Store, StoreChange, enum_column, fresh_id, now, text};

/// 7 days, in milliseconds.
const INVITE_TTL_MS: i64 = 7 * 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    pub id: InviteId,
    /// Only this address may use it.
    pub email: Option<String>,
    pub role: UserRole,
    pub created_at: i64,
    pub expires_at: i64,
}

impl Store {
    /// The token is told here and never again.
    pub async fn create_invite(
        &self,
        by: &UserId,
        email: Option<&str>,
        role: UserRole,
    ) -> Result<(SecretToken, Invite)> {
        let token = SecretToken::fresh("");
        let at = now();
        let row = invites::ActiveModel {
            id: Set(fresh_id()),
            token_hash: Set(TokenHash::of(&token.0).text()),
            email: Set(email.map(normal_email)),
            role: Set(enum_column::write(role)?),
            created_by: Set(by.0.clone()),
            created_at: Set(at),
            expires_at: Set(at + INVITE_TTL_MS),
            used_by: Set(None),
        };
        let _change = self.changing(StoreChange::Accounts(None));
        let invite = row.insert(&self.write).await?.try_into()?;
        Ok((token, invite))
    }

    /// Those that can still be used, newest first.
    pub async fn invites(&self) -> Result<Vec<Invite>> {
        let rows = open()
            .order_by_desc(invites::Column::CreatedAt)
            .order_by_desc(invites::Column::Id)
            .all(&self.read)
            .await?;
        rows.into_iter().map(Invite::try_from).collect()
    }

    /// What a token invites to, if it can still be used.
    pub async fn invite_of(&self, token: &str) -> Result<Option<Invite>> {
        let row = open()
            .filter(invites::Column::TokenHash.eq(TokenHash::of(token).text()))
            .one(&self.read)
            .await?;
        row.map(Invite::try_from).transpose()
    }

    pub async fn delete_invite(&self, invite: &InviteId) -> Result<()> {
        let _change = self.changing(StoreChange::Accounts(None));
        let deleted = invites::Entity::delete_by_id(text(&invite.0))
            .exec(&self.write)
            .await?;
        match deleted.rows_affected {
            0 => Err(Error::NotFound("invitation")),
            _ => Ok(()),
        }
    }
}

/// Uses an invitation up, together with the account it makes.
pub(crate) async fn claim(
    transaction: &DatabaseTransaction,
    token: &str,
    email: &str,
    user: &UserId,
) -> Result<UserRole> {
    let found = open()
        .filter(invites::Column::TokenHash.eq(TokenHash::of(token).text()))
        .one(transaction)
        .await?;
    let found = found.ok_or(AccountError::Invite)?;
    if found.email.as_ref().is_some_and(|only| only != email) {
        return Err(AccountError::InviteEmail.into());
    }
    let claimed = invites::Entity::update_many()
        .col_expr(invites::Column::UsedBy, Expr::value(user.0.clone()))
        .filter(invites::Column::Id.eq(&found.id))
        .filter(invites::Column::UsedBy.is_null())
        .exec(transaction)
        .await?;
    match claimed.rows_affected {
        0 => Err(AccountError::Invite.into()),
        _ => enum_column::read(&found.role),
    }
}

/// Revokes invitations of a person who is no longer an admin.
pub(crate) async fn take_back(transaction: &DatabaseTransaction, by: &UserId) -> Result<()> {
    invites::Entity::delete_many()
        .filter(invites::Column::CreatedBy.eq(&by.0))
        .exec(transaction)
        .await?;
    Ok(())
}

fn open() -> sea_orm::Select<invites::Entity> {
    invites::Entity::find()
        .filter(invites::Column::UsedBy.is_null())
        .filter(invites::Column::ExpiresAt.gt(now()))
}

impl TryFrom<invites::Model> for Invite {
    type Error = Error;

    fn try_from(row: invites::Model) -> Result<Self> {
        Ok(Self {
            role: enum_column::read(&row.role)?,
            id: InviteId(row.id),
            email: row.email,
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }
}
