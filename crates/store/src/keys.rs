//! Keys for programs that act for a person. Only their hashes are kept.
//!
//! Those that are made before there is an account are kept under [`LOCAL`]: they count in
//! single-user mode alone, and the first account takes them over.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use sea_orm::ActiveValue::Set;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder,
};
use tenon_domain::{Account, KeyId, KeyScope, UserId};

use crate::entity::api_keys;
use crate::token::{SecretToken, TokenHash};
use crate::{Error, LOCAL, Result, Store, fresh_id, now, text};

const PREFIX: &str = "tn_";

/// How much of a key is kept to know it by: the prefix and four characters.
const HINT_CHARS: usize = 7;

/// Its use is written down at most this often.
const USED_AT_INTERVAL_MS: i64 = 60 * 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub name: String,
    /// How it begins.
    pub hint: String,
    pub scope: KeyScope,
    pub created_at: i64,
    pub last_used_at: Option<i64>,
}

/// A key that counts, as it is cached: with whose it is, and what every request needs of it.
#[derive(Debug)]
pub struct KeyEntry {
    /// None: it is one of [`LOCAL`], which counts in single-user mode alone. Callers have to check.
    pub account: Option<Account>,
    pub id: KeyId,
    pub scope: Arc<KeyScope>,
    /// Last use as written to the database; 0: never.
    used_at: AtomicI64,
}

impl Store {
    /// The key itself is told here and never again.
    pub async fn create_key(
        &self,
        user: &UserId,
        name: &str,
        scope: &KeyScope,
    ) -> Result<(SecretToken, ApiKey)> {
        let _change = self.changing_credentials(user);
        let token = SecretToken::fresh(PREFIX);
        let hint: String = token.0.chars().take(HINT_CHARS).collect();
        let row = api_keys::ActiveModel {
            id: Set(fresh_id()),
            token_hash: Set(TokenHash::of(&token.0).text()),
            user_id: Set(user.0.clone()),
            name: Set(text(name)),
            hint: Set(format!("{hint}…")),
            scope: Set(serde_json::to_string(scope)?),
            created_at: Set(now()),
            last_used_at: Set(None),
        };
        let key = row.insert(&self.write).await?.try_into()?;
        Ok((token, key))
    }

    /// The key that somebody shows, if it still counts. Its use is written behind.
    pub async fn find_key(&self, token: &str) -> Result<Option<Arc<KeyEntry>>> {
        let hash = TokenHash::of(token);
        let load = || self.load_key(hash);
        let found = self.caches.keys.get_or_load(&self.changes, hash, load);
        let Some(entry) = found.await? else {
            return Ok(None);
        };
        let (at, used_at) = (now(), entry.used_at.load(Ordering::Relaxed));
        if at - used_at > USED_AT_INTERVAL_MS {
            entry.used_at.store(at, Ordering::Relaxed);
            self.behind.key_used(&entry.id, at);
        }
        Ok(Some(entry))
    }

    async fn load_key(&self, hash: TokenHash) -> Result<Option<Arc<KeyEntry>>> {
        let found = api_keys::Entity::find()
            .filter(api_keys::Column::TokenHash.eq(hash.text()))
            .one(&self.read)
            .await?;
        let Some(row) = found else {
            return Ok(None);
        };
        let owner = UserId::new(&row.user_id);
        let account = self.active_user(&owner).await?;
        if account.is_none() && owner.as_str() != LOCAL {
            return Ok(None);
        }
        let key = ApiKey::try_from(row)?;
        let used_at = AtomicI64::new(key.last_used_at.unwrap_or_default());
        Ok(Some(Arc::new(KeyEntry {
            account,
            id: key.id,
            scope: Arc::new(key.scope),
            used_at,
        })))
    }

    /// Whether a key still counts.
    pub async fn key_exists(&self, key: &KeyId) -> Result<bool> {
        let load = || async {
            let Some(row) = api_keys::Entity::find_by_id(&key.0).one(&self.read).await? else {
                return Ok(false);
            };
            let owner = UserId(row.user_id);
            Ok(owner.as_str() == LOCAL || self.active_user(&owner).await?.is_some())
        };
        let cache = &self.caches.live_keys;
        cache.get_or_load(&self.changes, key.clone(), load).await
    }

    /// The keys of a user, newest first.
    pub async fn keys(&self, user: &UserId) -> Result<Vec<ApiKey>> {
        self.flush().await;
        let rows = api_keys::Entity::find()
            .filter(api_keys::Column::UserId.eq(&user.0))
            .order_by_desc(api_keys::Column::CreatedAt)
            .order_by_desc(api_keys::Column::Id)
            .all(&self.read)
            .await?;
        rows.into_iter().map(ApiKey::try_from).collect()
    }

    pub async fn delete_key(&self, user: &UserId, key: &KeyId) -> Result<()> {
        let _change = self.changing_credentials(user);
        let deleted = api_keys::Entity::delete_by_id(&key.0)
            .filter(api_keys::Column::UserId.eq(&user.0))
            .exec(&self.write)
            .await?;
        match deleted.rows_affected {
            0 => Err(Error::NotFound("key")),
            _ => Ok(()),
        }
    }
}

/// Ends all keys of a user and tells which they were.
pub(crate) async fn delete_all(
    transaction: &DatabaseTransaction,
    user: &UserId,
) -> Result<Vec<KeyId>> {
    let rows = api_keys::Entity::find()
        .filter(api_keys::Column::UserId.eq(&user.0))
        .all(transaction)
        .await?;
    api_keys::Entity::delete_many()
        .filter(api_keys::Column::UserId.eq(&user.0))
        .exec(transaction)
        .await?;
    Ok(rows.into_iter().map(|row| KeyId(row.id)).collect())
}

impl TryFrom<api_keys::Model> for ApiKey {
    type Error = Error;

    fn try_from(row: api_keys::Model) -> Result<Self> {
        Ok(Self {
            id: KeyId(row.id),
            name: row.name,
            hint: row.hint,
            scope: serde_json::from_str(&row.scope)?,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
        })
    }
}
