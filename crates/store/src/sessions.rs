//! Log-ins: one browser of one person, known by a token of which only the hash is kept.
//!
//! Those of single-user mode are kept under [`LOCAL`], also once there are accounts:
//! they count in that mode alone and never become the log-in of an account.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use sea_orm::ActiveValue::Set;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect,
};
use tenon_domain::{Account, SessionId, UserId};

use crate::entity::{auth_sessions, users};
use crate::token::{SecretToken, TokenHash};
use crate::{Error, LOCAL, Result, Store, fresh_id, now, text};

/// A log-in that is not used for so long is over: 30 days, in milliseconds.
const SESSION_TTL_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Its use is written down at most this often: not every request should be a write.
const SEEN_AT_INTERVAL_MS: i64 = 5 * 60 * 1000;

/// What a browser says it is can be any length; this is enough to know it by.
const MAX_AGENT_CHARS: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSession {
    pub id: SessionId,
    pub agent: String,
    pub address: String,
    pub created_at: i64,
    pub last_seen_at: i64,
    /// They came from their issuer for it.
    pub by_oidc: bool,
}

/// A log-in as it is cached.
#[derive(Debug)]
pub(crate) struct SessionEntry {
    id: SessionId,
    user: UserId,
    /// Both as they were written down last.
    seen_at: AtomicI64,
    expires_at: AtomicI64,
}

impl Store {
    /// The token is told here and never again.
    pub async fn create_session(
        &self,
        user: &UserId,
        agent: &str,
        address: &str,
    ) -> Result<(SecretToken, LoginSession)> {
        self.begin_session(user, agent, address, false).await
    }

    /// The same for somebody who comes from their issuer.
    pub async fn create_oidc_session(
        &self,
        user: &UserId,
        agent: &str,
        address: &str,
    ) -> Result<(SecretToken, LoginSession)> {
        self.begin_session(user, agent, address, true).await
    }

    async fn begin_session(
        &self,
        user: &UserId,
        agent: &str,
        address: &str,
        by_oidc: bool,
    ) -> Result<(SecretToken, LoginSession)> {
        let _change = self.changing_credentials(user);
        let token = SecretToken::fresh("");
        let agent: String = agent.chars().take(MAX_AGENT_CHARS).collect();
        let at = now();
        let transaction = self.begin().await?;
        if user.as_str() != LOCAL {
            // The row is locked until the session is written, so that disabling the user ends this
            // session too.
            let owner = users::Entity::find_by_id(&user.0)
                .filter(users::Column::Disabled.eq(false))
                .lock_shared()
                .one(&transaction)
                .await?;
            owner.ok_or(Error::NotFound("user"))?;
        }
        // The end of those that nobody uses any more.
        auth_sessions::Entity::delete_many()
            .filter(auth_sessions::Column::ExpiresAt.lt(at))
            .exec(&transaction)
            .await?;
        let row = auth_sessions::ActiveModel {
            id: Set(fresh_id()),
            token_hash: Set(TokenHash::of(&token.0).text()),
            user_id: Set(user.0.clone()),
            agent: Set(text(&agent)),
            address: Set(text(address)),
            created_at: Set(at),
            last_seen_at: Set(at),
            expires_at: Set(at + SESSION_TTL_MS),
            by_oidc: Set(by_oidc),
        };
        let session = row.insert(&transaction).await?.into();
        transaction.commit().await?;
        Ok((token, session))
    }

    /// The account of a session token, if it is valid.
    pub async fn session_of(&self, token: &str) -> Result<Option<(Account, SessionId)>> {
        let Some(session) = self.find_session(token).await? else {
            return Ok(None);
        };
        let Some(account) = self.active_user(&session.user).await? else {
            return Ok(None);
        };
        self.mark_session_seen(&session);
        Ok(Some((account, session.id.clone())))
    }

    /// The single-user session of a token, if it is valid.
    pub async fn local_session_of(&self, token: &str) -> Result<Option<SessionId>> {
        let found = self.find_session(token).await?;
        let Some(session) = found.filter(|session| session.user.as_str() == LOCAL) else {
            return Ok(None);
        };
        self.mark_session_seen(&session);
        Ok(Some(session.id.clone()))
    }

    async fn find_session(&self, token: &str) -> Result<Option<Arc<SessionEntry>>> {
        let hash = TokenHash::of(token);
        let load = || async {
            let found = auth_sessions::Entity::find()
                .filter(auth_sessions::Column::TokenHash.eq(hash.text()))
                .one(&self.read)
                .await?;
            Ok(found.map(|row| Arc::new(SessionEntry::from(row))))
        };
        let cache = &self.caches.sessions;
        let found = cache.get_or_load(&self.changes, hash, load).await?;
        let Some(session) = found else {
            return Ok(None);
        };
        if session.expires_at.load(Ordering::Relaxed) > now() {
            return Ok(Some(session));
        }
        // Its use at another server may have made it last longer since.
        let stored = auth_sessions::Entity::find_by_id(&session.id.0);
        let stored = Box::pin(stored.one(&self.read)).await?;
        let Some(stored) = stored.filter(|stored| stored.expires_at > now()) else {
            return Ok(None);
        };
        session
            .expires_at
            .store(stored.expires_at, Ordering::Relaxed);
        Ok(Some(session))
    }

    /// Has it written down that a log-in is in use, now and then. It lasts longer by that.
    fn mark_session_seen(&self, session: &SessionEntry) {
        let at = now();
        if at - session.seen_at.load(Ordering::Relaxed) > SEEN_AT_INTERVAL_MS {
            let expires_at = at + SESSION_TTL_MS;
            session.seen_at.store(at, Ordering::Relaxed);
            session.expires_at.store(expires_at, Ordering::Relaxed);
            self.behind.session_seen(&session.id, at, expires_at);
        }
    }

    /// Whether a log-in still counts.
    pub async fn session_exists(&self, session: &SessionId) -> Result<bool> {
        let load = || async {
            let found = auth_sessions::Entity::find_by_id(&session.0);
            let found = found.one(&self.read).await?;
            Ok(found.map(|session| session.expires_at))
        };
        let cache = &self.caches.session_ends;
        let key = session.clone();
        let ends_at = cache.get_or_load(&self.changes, key, load).await?;
        match ends_at {
            Some(at) if at > now() => Ok(true),
            // Its use may have made it last longer since.
            Some(_) => Ok(self.session(session).await?.is_some()),
            None => Ok(false),
        }
    }

    /// A log-in that still counts.
    pub async fn session(&self, session: &SessionId) -> Result<Option<LoginSession>> {
        let found = auth_sessions::Entity::find_by_id(&session.0)
            .filter(auth_sessions::Column::ExpiresAt.gt(now()))
            .one(&self.read)
            .await?;
        Ok(found.map(LoginSession::from))
    }

    /// The log-ins of a user, the one used last first.
    pub async fn sessions(&self, user: &UserId) -> Result<Vec<LoginSession>> {
        self.flush().await;
        let rows = auth_sessions::Entity::find()
            .filter(auth_sessions::Column::UserId.eq(&user.0))
            .filter(auth_sessions::Column::ExpiresAt.gt(now()))
            .order_by_desc(auth_sessions::Column::LastSeenAt)
            .order_by_desc(auth_sessions::Column::Id)
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(LoginSession::from).collect())
    }

    /// Ends all log-ins that are kept under a name and tells which they were: those of single-user
    /// mode belong to no account that could be changed.
    pub async fn delete_sessions(&self, user: &UserId) -> Result<Vec<SessionId>> {
        let _change = self.changing_credentials(user);
        let transaction = self.begin().await?;
        let ended = end_all(&transaction, user, None).await?;
        transaction.commit().await?;
        Ok(ended)
    }

    pub async fn delete_session(&self, user: &UserId, session: &SessionId) -> Result<()> {
        let _change = self.changing_credentials(user);
        let deleted = auth_sessions::Entity::delete_by_id(&session.0)
            .filter(auth_sessions::Column::UserId.eq(&user.0))
            .exec(&self.write)
            .await?;
        match deleted.rows_affected {
            0 => Err(Error::NotFound("session")),
            _ => Ok(()),
        }
    }
}

/// Ends all log-ins of a user but one.
pub(crate) async fn end_all(
    transaction: &DatabaseTransaction,
    user: &UserId,
    but: Option<&SessionId>,
) -> Result<Vec<SessionId>> {
    let rows = auth_sessions::Entity::find()
        .filter(auth_sessions::Column::UserId.eq(&user.0))
        .all(transaction)
        .await?;
    let ended: Vec<SessionId> = rows
        .into_iter()
        .map(|row| SessionId(row.id))
        .filter(|id| but != Some(id))
        .collect();
    auth_sessions::Entity::delete_many()
        .filter(auth_sessions::Column::UserId.eq(&user.0))
        .filter(auth_sessions::Column::Id.ne(but.map_or("", SessionId::as_str)))
        .exec(transaction)
        .await?;
    Ok(ended)
}

impl From<auth_sessions::Model> for SessionEntry {
    fn from(row: auth_sessions::Model) -> Self {
        Self {
            id: SessionId(row.id),
            user: UserId(row.user_id),
            seen_at: AtomicI64::new(row.last_seen_at),
            expires_at: AtomicI64::new(row.expires_at),
        }
    }
}

impl From<auth_sessions::Model> for LoginSession {
    fn from(row: auth_sessions::Model) -> Self {
        Self {
            id: SessionId(row.id),
            agent: row.agent,
            address: row.address,
            created_at: row.created_at,
            last_seen_at: row.last_seen_at,
            by_oidc: row.by_oidc,
        }
    }
}
