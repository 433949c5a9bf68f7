//! Accounts, as an admin and their owners look after them.

mod issuer;
mod keys;
mod login;

use serde::Deserialize;
use serde_json::json;
use tenon_agent::{Agent, remove_folder};
use tenon_domain::{Account, UserId, UserRole};
use tenon_sources::browser::DeviceHub;
use tenon_store::{Enrollment, NewUserRow, RevokedCredentials, Store, UserEdit};
use ts_rs::TS;

use crate::auth::{Auth, AuthMethod, CurrentUser};
use crate::outputs::manual_workspace;
use crate::profile::{checked_email, checked_name};
use crate::sources::Sources;
use crate::{Error, Result};

pub use keys::{CreatedKey, KeyView, NewKey};
pub use login::{AccountDetails, LoginClient, LoginMethod};

/// The setting by which everybody may make an account.
const SIGN_UP: &str = "sign_up";

/// Cheap to clone.
#[derive(Clone)]
pub struct Accounts {
    pub(crate) store: Store,
    pub(crate) auth: Auth,
    pub(crate) agent: Agent,
    pub(crate) sources: Sources,
    pub(crate) devices: DeviceHub,
}

/// An account that an admin makes for somebody.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAccount {
    pub name: String,
    pub email: String,
    pub password: String,
    #[serde(default)]
    #[ts(optional, as = "Option<UserRole>")]
    pub role: UserRole,
}

/// What an admin changes about an account; what is left out stays.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UserChange {
    #[ts(optional)]
    pub name: Option<String>,
    #[ts(optional)]
    pub role: Option<UserRole>,
    #[ts(optional)]
    pub disabled: Option<bool>,
    /// Ends their sessions.
    #[ts(optional)]
    pub password: Option<String>,
    /// A new password ends their keys as well, unless they are to stay.
    #[ts(optional, as = "Option<bool>")]
    pub keep_keys: bool,
}

impl Accounts {
    /// Makes an account for somebody.
    pub async fn create(
        &self,
        by: &CurrentUser,
        address: &str,
        new: NewAccount,
    ) -> Result<Account> {
        let (email, name) = (checked_email(&new.email)?, checked_name(&new.name)?);
        let hash = self.auth.passwords.hash(&new.password).await?;
        let account = NewUserRow {
            email: &email,
            name: &name,
            role: new.role,
            password_hash: Some(&hash),
            oidc_subject: None,
        };
        let who = match by.credential {
            AuthMethod::Shell => Enrollment::Any,
            AuthMethod::Session(_) | AuthMethod::Key(..) => Enrollment::Another,
        };
        let account = self.store.create_user(account, who).await?;
        let detail = json!({"email": account.email, "role": account.role});
        let id = account.id.as_str();
        by.note(&self.store, address, "user.created", id, detail)
            .await;
        Ok(account)
    }

    /// Changes an account, and ends the sessions of whoever may no longer stay. A new password
    /// ends log-ins, and keys unless they are to stay.
    pub async fn change(
        &self,
        by: &CurrentUser,
        address: &str,
        id: &UserId,
        change: UserChange,
    ) -> Result<(Account, RevokedCredentials)> {
        let name = change.name.as_deref().map(checked_name).transpose()?;
        let hash = match &change.password {
            Some(password) => Some(self.auth.passwords.hash(password).await?),
            None => None,
        };
        let edit = UserEdit {
            name: name.as_deref(),
            role: change.role,
            disabled: change.disabled,
            password_hash: hash.as_deref(),
            only_session: hash.is_some().then_some(None),
            end_keys: hash.is_some() && !change.keep_keys,
            ..UserEdit::default()
        };
        let (account, revoked) = self.store.change_user(id, edit).await?;
        if account.disabled {
            self.cancel_turns(id).await?;
        }
        // Which sources run for a user depends on their role and on whether the account is enabled.
        self.sources.sync().await;
        let action = match change.disabled {
            Some(true) => "user.disabled",
            _ => "user.changed",
        };
        let detail = json!({
            "name": name,
            "role": change.role,
            "disabled": change.disabled,
            "password": hash.is_some(),
            "keys": revoked.keys.len(),
        });
        by.note(&self.store, address, action, id.as_str(), detail)
            .await;
        Ok((account, revoked))
    }

    /// Deletes an account with everything in it.
    pub async fn delete(&self, by: &CurrentUser, address: &str, id: &UserId) -> Result<()> {
        let gone = self.store.user(id).await?;
        // Log out first, then delete: work of a running session would be left behind.
        let disabled = UserEdit {
            disabled: Some(true),
            ..UserEdit::default()
        };
        self.store.change_user(id, disabled).await?;
        self.cancel_turns(id).await?;
        for chat in self.store.chat_ids(id).await? {
            match self.agent.delete(id, &chat).await {
                Ok(()) | Err(tenon_store::Error::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
            remove_folder(&self.agent.workspace(&chat)).await;
        }
        remove_folder(&self.agent.workspace(&manual_workspace(id))).await;
        let forgotten = self.devices.forget_user(id).await;
        forgotten.map_err(|error| {
            tracing::error!(%error, "what browsers found cannot be forgotten");
            Error::DeviceStore
        })?;
        self.store.delete_user(id).await?;
        self.sources.sync().await;
        let detail = json!({"email": gone.email, "name": gone.name});
        by.note(&self.store, address, "user.deleted", id.as_str(), detail)
            .await;
        Ok(())
    }

    /// Cancels the turns of a user whose log-ins and keys have ended.
    async fn cancel_turns(&self, user: &UserId) -> tenon_store::Result<()> {
        for turn in self.store.open_turns_of(user).await? {
            self.agent.cancel(&turn);
        }
        Ok(())
    }

    /// Whether everybody may make an account.
    pub async fn sign_up_is_open(&self) -> tenon_store::Result<bool> {
        let decided = self.store.preference(None, SIGN_UP).await?;
        Ok(decided.unwrap_or_default())
    }

    /// Decides whether everybody may make an account.
    pub async fn open_sign_up(
        &self,
        by: &CurrentUser,
        address: &str,
        is_open: bool,
    ) -> tenon_store::Result<()> {
        self.store.set_preference(None, SIGN_UP, &is_open).await?;
        let detail = json!({"signUp": is_open});
        by.note(&self.store, address, "settings.changed", SIGN_UP, detail)
            .await;
        Ok(())
    }
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accounts").finish_non_exhaustive()
    }
}
