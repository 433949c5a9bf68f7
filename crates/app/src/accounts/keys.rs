//! Keys for programs: each person's own.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tenon_domain::pattern::{MAX_PATTERN_BYTES, Pattern};
use tenon_domain::{KeyId, KeyScope, UserId};
use tenon_store::ApiKey;
use ts_rs::TS;

use super::Accounts;
use crate::Result;
use crate::auth::CurrentUser;
use crate::error::AccountInputError;
use crate::profile::checked_name;

/// More keys than a person can review come from a script gone wrong.
const MAX_KEYS: usize = 100;

const MAX_PATTERNS: usize = 100;

/// A key as its owner sees it.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    pub id: KeyId,
    pub name: String,
    /// How it begins: `tn_Ab3d…`
    pub hint: String,
    pub scope: KeyScope,
    #[ts(type = "number")]
    pub created_at: i64,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<i64>,
}

/// A key that somebody wants.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKey {
    pub name: String,
    /// Needed where the log-in is older than ten minutes: else `password_needed`. Who has no
    /// password logs in anew: `login_needed`.
    #[ts(optional)]
    pub password: Option<String>,
    #[serde(default)]
    #[ts(optional, as = "Option<KeyScope>")]
    pub scope: KeyScope,
    /// The same as `allow` of the scope, for who wants nothing else in it.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<Pattern>>")]
    pub allow: Vec<Pattern>,
}

/// A key that was made: the only time the key itself is told.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    pub key: String,
    #[serde(flatten)]
    pub view: KeyView,
}

impl Accounts {
    /// Makes a key for somebody, and writes down who did.
    pub async fn create_key(
        &self,
        by: &CurrentUser,
        owner: &UserId,
        address: &str,
        new: NewKey,
    ) -> Result<CreatedKey> {
        let name = checked_name(&new.name)?;
        let mut scope = new.scope;
        scope.allow.extend(new.allow);
        check(&scope)?;
        if self.store.keys(owner).await?.len() >= MAX_KEYS {
            return Err(AccountInputError::TooManyKeys { max: MAX_KEYS }.into());
        }
        let (token, key) = self.store.create_key(owner, &name, &scope).await?;
        let detail = json!({"name": key.name, "scope": key.scope, "userId": owner});
        by.note(&self.store, address, "key.created", key.id.as_str(), detail)
            .await;
        Ok(CreatedKey {
            key: token.0,
            view: key.into(),
        })
    }
}

fn check(scope: &KeyScope) -> Result<()> {
    if scope.allow.len() <= MAX_PATTERNS && scope.allow.iter().all(Pattern::is_valid) {
        return Ok(());
    }
    let refused = AccountInputError::KeyPatterns {
        max: MAX_PATTERNS,
        length: MAX_PATTERN_BYTES,
    };
    Err(refused.into())
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name,
            hint: key.hint,
            scope: key.scope,
            created_at: key.created_at,
            last_used_at: key.last_used_at,
        }
    }
}
