//! People with an account.
//!
//! What decides about several of them at once (who is the first, who is the
//! last admin) is decided one at a time, so that two who ask at the same
//! moment cannot both be right.

mod handover;
mod user_data;

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder,
};
use tenon_domain::{Account, HandoverNotice, KeyId, SessionId, UserId, UserRole};

use crate::account::{AccountError, normal_email};
use crate::connect::one_at_a_time;
use crate::entity::users;
use crate::{
    Error, Result, Store, StoreChange, enum_column, fresh_id, invites, keys, now, sessions, text,
};

/// An account to be made.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
pub struct NewUserRow<'a> {
    pub email: &'a str,
    pub name: &'a str,
    pub role: UserRole,
    /// None: they log in elsewhere.
    pub password_hash: Option<&'a str>,
    pub oidc_subject: Option<&'a str>,
}

/// The kind of account to create.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Clone, Copy)]
pub enum Enrollment<'a> {
    /// The first one or none. It is an admin's and adopts what was there before.
    First,
    /// One more or the first one: whoever sits in a shell may make either.
    Any,
    /// One more. The first one is made by set-up, whose code keeps strangers out.
    Another,
    /// The same, who shows this token of an invitation, which also says their role.
    Invited(&'a str),
}

/// A change of an account; None keeps the current value.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Default)]
pub struct UserEdit<'a> {
    pub name: Option<&'a str>,
    pub email: Option<&'a str>,
    pub role: Option<UserRole>,
    pub disabled: Option<bool>,
    pub password_hash: Option<&'a str>,
    /// Ends all log-ins but this one.
    pub only_session: Option<Option<&'a SessionId>>,
    pub end_keys: bool,
}

/// The ways in that no longer count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevokedCredentials {
    pub sessions: Vec<SessionId>,
    pub keys: Vec<KeyId>,
}

impl Store {
    /// All accounts, oldest first.
    pub async fn users(&self) -> Result<Vec<Account>> {
        let rows = in_order().all(&self.read).await?;
        rows.into_iter().map(Account::try_from).collect()
    }

    pub async fn has_users(&self) -> Result<bool> {
        Ok(users::Entity::find().one(&self.read).await?.is_some())
    }

    pub async fn user(&self, user: &UserId) -> Result<Account> {
        let row = users::Entity::find_by_id(text(&user.0));
        let row = row.one(&self.read).await?;
        row.ok_or(Error::NotFound("user"))?.try_into()
    }

    /// Whose address it is, and the hash of their password.
    pub async fn user_by_email(&self, email: &str) -> Result<Option<(Account, Option<String>)>> {
        let row = users::Entity::find()
            .filter(users::Column::Email.eq(normal_email(email)))
            .one(&self.read)
            .await?;
        row.map(with_hash).transpose()
    }

    /// Who this is at the issuer they log in with.
    pub async fn user_by_subject(&self, subject: &str) -> Result<Option<Account>> {
        let row = users::Entity::find()
            .filter(users::Column::OidcSubject.eq(text(subject)))
            .one(&self.read)
            .await?;
        row.map(Account::try_from).transpose()
    }

    /// Whether a user may act. Who has no account, as in a shell, may.
    pub async fn is_active(&self, user: &UserId) -> Result<bool> {
        let account = self.cached_user(user).await?;
        Ok(account.is_none_or(|account| !account.disabled))
    }

    /// The account of a user who may act.
    pub async fn active_user(&self, user: &UserId) -> Result<Option<Account>> {
        let account = self.cached_user(user).await?;
        Ok(account.filter(|account| !account.disabled))
    }

    async fn cached_user(&self, user: &UserId) -> Result<Option<Account>> {
        let load = || async {
            let row = users::Entity::find_by_id(text(&user.0));
            let row = row.one(&self.read).await?;
            row.map(Account::try_from).transpose()
        };
        let cache = &self.caches.users;
        cache.get_or_load(&self.changes, user.clone(), load).await
    }

    /// The hash of a user's password, where they have one.
    pub async fn password_hash(&self, user: &UserId) -> Result<Option<String>> {
        let row = users::Entity::find_by_id(text(&user.0));
        let row = row.one(&self.read).await?;
        Ok(row.ok_or(Error::NotFound("user"))?.password_hash)
    }

    /// The admin who has been here longest and still may come.
    pub async fn oldest_admin(&self) -> Result<Option<Account>> {
        let load = || async {
            let row = in_order()
                .filter(users::Column::Role.eq(enum_column::write(UserRole::Admin)?))
                .filter(users::Column::Disabled.eq(false))
                .one(&self.read)
                .await?;
            row.map(Account::try_from).transpose()
        };
        let cache = &self.caches.oldest_admin;
        cache.get_or_load(&self.changes, (), load).await
    }

    pub async fn create_user(&self, new: NewUserRow<'_>, who: Enrollment<'_>) -> Result<Account> {
        // The first one adopts what was there before them.
        let _changes = self.changing_all_of_a_user();
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "users").await?;
        let is_first = users::Entity::find().count(&transaction).await? == 0;
        match who {
            Enrollment::First if !is_first => return Err(AccountError::SetUp.into()),
            Enrollment::Another | Enrollment::Invited(_) if is_first => {
                return Err(AccountError::SetUpFirst.into());
            }
            Enrollment::First | Enrollment::Any | Enrollment::Another | Enrollment::Invited(_) => {}
        }
        let id = UserId(fresh_id());
        let email = normal_email(new.email);
        check_free(&transaction, &email, None).await?;
        let role = match who {
            Enrollment::Invited(token) => invites::claim(&transaction, token, &email, &id).await?,
            Enrollment::First => UserRole::Admin,
            Enrollment::Any if is_first => UserRole::Admin,
            Enrollment::Any | Enrollment::Another => new.role,
        };
        let row = users::ActiveModel {
            id: Set(id.0.clone()),
            email: Set(email),
            name: Set(text(new.name)),
            role: Set(enum_column::write(role)?),
            password_hash: Set(new.password_hash.map(text)),
            oidc_subject: Set(new.oidc_subject.map(text)),
            disabled: Set(false),
            created_at: Set(now()),
            last_login_at: Set(None),
        };
        let row = row.insert(&transaction).await?;
        if is_first {
            user_data::adopt(&transaction, &id).await?;
        }
        transaction.commit().await?;
        row.try_into()
    }

    /// Changes an account and tells which ways into it that ended. Whoever is
    /// disabled is logged out by it; the invitations of an admin who leaves are
    /// taken back.
    pub async fn change_user(
        &self,
        user: &UserId,
        edit: UserEdit<'_>,
    ) -> Result<(Account, RevokedCredentials)> {
        let _change = self.changing(StoreChange::Accounts(None));
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "users").await?;
        let old: Account = find(&transaction, user).await?;
        let leaves = edit.role.is_some_and(|role| !role.is_admin()) || edit.disabled == Some(true);
        if leaves {
            check_not_last_admin(&transaction, &old).await?;
            invites::take_back(&transaction, user).await?;
        }
        let email = edit.email.map(normal_email);
        if let Some(email) = &email {
            check_free(&transaction, email, Some(user)).await?;
        }
        let mut row = users::ActiveModel {
            id: Unchanged(old.id.0),
            // Never an update of nothing.
            disabled: Set(edit.disabled.unwrap_or(old.disabled)),
            ..Default::default()
        };
        if let Some(name) = edit.name {
            row.name = Set(text(name));
        }
        if let Some(email) = email {
            row.email = Set(email);
        }
        if let Some(role) = edit.role {
            row.role = Set(enum_column::write(role)?);
        }
        if let Some(hash) = edit.password_hash {
            row.password_hash = Set(Some(text(hash)));
        }
        let row = row.update(&transaction).await?;
        let kept = match edit.only_session {
            _ if row.disabled => Some(None),
            kept => kept,
        };
        let mut revoked = RevokedCredentials::default();
        if let Some(kept) = kept {
            revoked.sessions = sessions::end_all(&transaction, user, kept).await?;
        }
        if edit.end_keys {
            revoked.keys = keys::delete_all(&transaction, user).await?;
        }
        transaction.commit().await?;
        Ok((row.try_into()?, revoked))
    }

    /// Makes an account the one of somebody at an issuer. None: it is somebody's
    /// there. Every other way in ends with it, and so does what could act or tell
    /// anything for whoever had one: see [`handover`].
    ///
    /// The issuer knows whose address it is; an address given at sign-up was
    /// never verified. Whoever took it before its owner came must not stay.
    pub async fn link_subject(
        &self,
        user: &UserId,
        subject: &str,
    ) -> Result<Option<HandoverNotice>> {
        let _changes = self.changing_all_of_a_user();
        let transaction = self.begin().await?;
        let linked = users::Entity::update_many()
            .col_expr(users::Column::OidcSubject, Expr::value(text(subject)))
            .col_expr(
                users::Column::PasswordHash,
                Expr::value(Option::<String>::None),
            )
            .filter(users::Column::Id.eq(text(&user.0)))
            .filter(users::Column::OidcSubject.is_null())
            .exec(&transaction)
            .await?;
        if linked.rows_affected == 0 {
            return Ok(None);
        }
        sessions::end_all(&transaction, user, None).await?;
        keys::delete_all(&transaction, user).await?;
        let off = handover::switch_off(&transaction, user).await?;
        transaction.commit().await?;
        Ok(Some(off))
    }

    /// Deletes an account and everything that belongs to it.
    pub async fn delete_user(&self, user: &UserId) -> Result<()> {
        let _changes = self.changing_all_of_a_user();
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "users").await?;
        let account = find(&transaction, user).await?;
        check_not_last_admin(&transaction, &account).await?;
        user_data::delete(&transaction, user).await?;
        sessions::end_all(&transaction, user, None).await?;
        keys::delete_all(&transaction, user).await?;
        users::Entity::delete_by_id(&user.0)
            .exec(&transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    pub async fn logged_in(&self, user: &UserId) -> Result<()> {
        let _change = self.changing(StoreChange::Accounts(None));
        users::Entity::update_many()
            .col_expr(users::Column::LastLoginAt, Expr::value(now()))
            .filter(users::Column::Id.eq(text(&user.0)))
            .exec(&self.write)
            .await?;
        Ok(())
    }
}

impl TryFrom<users::Model> for Account {
    type Error = Error;

    fn try_from(row: users::Model) -> Result<Self> {
        Ok(Self {
            role: enum_column::read(&row.role)?,
            id: UserId(row.id),
            email: row.email,
            name: row.name,
            disabled: row.disabled,
            created_at: row.created_at,
            last_login_at: row.last_login_at,
        })
    }
}

fn with_hash(mut row: users::Model) -> Result<(Account, Option<String>)> {
    let hash = row.password_hash.take();
    Ok((row.try_into()?, hash))
}

fn in_order() -> sea_orm::Select<users::Entity> {
    users::Entity::find()
        .order_by_asc(users::Column::CreatedAt)
        .order_by_asc(users::Column::Id)
}

async fn find(db: &impl ConnectionTrait, user: &UserId) -> Result<Account> {
    let row = users::Entity::find_by_id(text(&user.0)).one(db).await?;
    row.ok_or(Error::NotFound("user"))?.try_into()
}

async fn check_free(
    transaction: &DatabaseTransaction,
    email: &str,
    but: Option<&UserId>,
) -> Result<()> {
    let row = users::Entity::find()
        .filter(users::Column::Email.eq(email))
        .one(transaction)
        .await?;
    match row {
        Some(row) if but.is_none_or(|but| but.0 != row.id) => Err(AccountError::EmailTaken.into()),
        _ => Ok(()),
    }
}

async fn check_not_last_admin(transaction: &DatabaseTransaction, account: &Account) -> Result<()> {
    if !account.role.is_admin() || account.disabled {
        return Ok(());
    }
    let others = users::Entity::find()
        .filter(users::Column::Role.eq(enum_column::write(UserRole::Admin)?))
        .filter(users::Column::Disabled.eq(false))
        .filter(users::Column::Id.ne(&account.id.0))
        .count(transaction)
        .await?;
    match others {
        0 => Err(AccountError::LastAdmin.into()),
        _ => Ok(()),
    }
}
