//! The person something is done for, and the credential that shows who they are.
//!
//! A program shows a key, a page a cookie, on somebody's own computer (`--single-user`) as well.
//! In a shell nobody has to show anything: whoever can read the data folder has everything in it.

use std::sync::Arc;

use serde_json::Value;
use tenon_domain::pattern::Pattern;
use tenon_domain::{
    Account, Caller, EntryPoint, KeyAccess, KeyId, KeyScope, SessionId, UserId, UserRole,
};
use tenon_store::{AuditEntry, LOCAL, Store};

use crate::{Error, Result};

/// The person a request is made for, and how we know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentUser {
    pub id: UserId,
    pub role: UserRole,
    pub credential: AuthMethod,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthMethod {
    Session(SessionId),
    Key(KeyId, Arc<KeyScope>),
    /// A command of somebody who can read the data folder.
    Shell,
}

impl CurrentUser {
    /// The user of a shell or of single-user mode: the oldest admin. Until there are accounts it is
    /// the user `local`.
    pub async fn owner(store: &Store, credential: AuthMethod) -> tenon_store::Result<Self> {
        let admin = store.oldest_admin().await?;
        Ok(Self {
            id: admin.map_or(UserId::new(LOCAL), |admin| admin.id),
            role: UserRole::Admin,
            credential,
        })
    }

    /// The user of an API key; None for an unknown key. Keys made before the first account only
    /// work in single-user mode.
    pub async fn by_key(
        store: &Store,
        key: &str,
        single_user: bool,
    ) -> tenon_store::Result<Option<Self>> {
        let Some(key) = store.find_key(key).await? else {
            return Ok(None);
        };
        let credential = AuthMethod::Key(key.id.clone(), key.scope.clone());
        Ok(match &key.account {
            Some(account) => Some(Self {
                id: account.id.clone(),
                role: account.role,
                credential,
            }),
            None if single_user => Some(Self::owner(store, credential).await?),
            None => None,
        })
    }

    /// The user of a session token. In single-user mode, sessions of accounts do not count.
    pub async fn by_session(
        store: &Store,
        token: &str,
        single_user: bool,
    ) -> tenon_store::Result<Option<Self>> {
        if single_user {
            return match store.local_session_of(token).await? {
                Some(session) => {
                    let credential = AuthMethod::Session(session);
                    Ok(Some(Self::owner(store, credential).await?))
                }
                None => Ok(None),
            };
        }
        let found = store.session_of(token).await?;
        Ok(found.map(|(user, session)| Self {
            id: user.id,
            role: user.role,
            credential: AuthMethod::Session(session),
        }))
    }

    /// The user of a shell command.
    pub async fn of_shell(store: &Store) -> tenon_store::Result<Self> {
        Self::owner(store, AuthMethod::Shell).await
    }

    /// How they came in.
    pub fn entry_point(&self) -> EntryPoint {
        match &self.credential {
            AuthMethod::Session(_) => EntryPoint::Page,
            AuthMethod::Key(id, _) => EntryPoint::Key(id.clone()),
            AuthMethod::Shell => EntryPoint::Shell,
        }
    }

    /// Who calls a tool where they do so themself.
    pub fn caller(&self) -> Caller {
        match &self.credential {
            AuthMethod::Session(_) | AuthMethod::Shell => Caller::Person,
            AuthMethod::Key(_, scope) => Caller::Key {
                scope: scope.clone(),
            },
        }
    }

    /// The tools that they, or a model that works for them, may use although the policy is to ask.
    pub fn granted(&self) -> &[Pattern] {
        match &self.credential {
            AuthMethod::Key(_, scope) => &scope.allow,
            AuthMethod::Session(_) | AuthMethod::Shell => &[],
        }
    }

    /// The account of the user; a made-up one for the user of single-user mode.
    pub async fn account(&self, store: &Store) -> tenon_store::Result<Account> {
        if self.id.as_str() != LOCAL {
            return store.user(&self.id).await;
        }
        Ok(Account {
            id: self.id.clone(),
            email: String::new(),
            name: String::new(),
            role: self.role,
            disabled: false,
            created_at: 0,
            last_login_at: None,
        })
    }

    /// The same with the role that their account has by now, for what outlives a request.
    pub(crate) async fn with_current_role(&self, store: &Store) -> tenon_store::Result<Self> {
        if self.id.as_str() == LOCAL {
            return Ok(self.clone());
        }
        let account = store.active_user(&self.id).await?;
        Ok(Self {
            role: account.map_or(UserRole::User, |account| account.role),
            ..self.clone()
        })
    }

    /// Whether they may decide for everybody: not every key of an admin may.
    pub fn administers(&self) -> bool {
        self.has_full_access() && self.role.is_admin()
    }

    /// Whether they may do all that is theirs to do: not every key may.
    pub fn has_full_access(&self) -> bool {
        match &self.credential {
            AuthMethod::Key(_, scope) => scope.access == KeyAccess::Full,
            AuthMethod::Session(_) | AuthMethod::Shell => true,
        }
    }

    /// Refuses keys where only the person themself may act.
    pub fn require_person(&self) -> Result<()> {
        match self.credential {
            AuthMethod::Key(..) => Err(Error::KeyNotAllowed),
            AuthMethod::Session(_) | AuthMethod::Shell => Ok(()),
        }
    }

    /// Waits until the credential is revoked, by any process.
    pub async fn revoked(&self, store: &Store) {
        let mut changes = store.watch_accounts();
        // A store that cannot be read ends nothing.
        while self.is_valid(store).await.unwrap_or(true) && changes.changed().await.is_ok() {}
    }

    /// Whether their credential still counts.
    pub async fn is_valid(&self, store: &Store) -> tenon_store::Result<bool> {
        match &self.credential {
            AuthMethod::Shell => Ok(true),
            AuthMethod::Session(session) => store.session_exists(session).await,
            AuthMethod::Key(key, _) => store.key_exists(key).await,
        }
    }

    /// Audits an action. A failure to write the log does not undo the action.
    pub async fn note(
        &self,
        store: &Store,
        address: &str,
        action: &'static str,
        subject: &str,
        detail: Value,
    ) {
        record(store, self.entry(address, action, subject, detail)).await;
    }

    fn entry(
        &self,
        address: &str,
        action: &'static str,
        subject: &str,
        detail: Value,
    ) -> AuditEntry {
        AuditEntry {
            user: Some(self.id.clone()),
            door: self.entry_point(),
            action,
            subject: subject.to_owned(),
            detail,
            address: address.to_owned(),
        }
    }
}

/// Writes an entry of the audit log.
pub async fn record(store: &Store, entry: AuditEntry) {
    let action = entry.action;
    if let Err(error) = store.audit(entry).await {
        tracing::error!(%error, action, "the audit log cannot be written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_without_an_account_counts_in_single_user_mode_alone() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let (local, scope) = (UserId::new(LOCAL), KeyScope::default());
        let made = store.create_key(&local, "editor", &scope);
        let (token, key) = made.await.unwrap();
        let user = async |single_user| {
            let user = CurrentUser::by_key(&store, &token.0, single_user);
            user.await.unwrap()
        };
        assert_eq!(user(false).await, None);
        let owner = CurrentUser {
            id: local,
            role: UserRole::Admin,
            credential: AuthMethod::Key(key.id, Arc::new(scope)),
        };
        assert_eq!(user(true).await, Some(owner));
    }
}
