//! Secrets that configurations refer to by name. Their values are never shown.

use tenon_domain::UserId;
use tenon_sources::variables::FillError;
use tenon_sources::variables::{Variable, is_name};

use super::entry::SourceEntry;
use super::error::SourceError;
use super::input_error::{SourceDenied, SourceFault, SourceInputError};
use super::{Inner, Sources};
use crate::auth::CurrentUser;
use crate::sources::read_model::SecretView;
use crate::sources::requests::NewSecret;

/// Holds a certificate chain; larger values belong into a file.
const MAX_VALUE_BYTES: usize = 32 * 1024;

/// Per user, and as many shared ones: they are listed without pages.
const MAX_SECRETS: usize = 200;

/// Prefix of the name of a personal secret.
const OWN: &str = "user.";

impl Sources {
    /// The names of everybody's secrets and of somebody's own.
    pub async fn secrets(&self, user: &CurrentUser) -> Result<Vec<SecretView>, SourceError> {
        let secrets = self.0.store.secrets().await?.into_iter();
        let theirs = secrets.filter(|secret| secret.owner.as_ref().is_none_or(|o| *o == user.id));
        let views = theirs.map(|secret| SecretView {
            name: secret.name,
            mine: secret.owner.is_some(),
            updated_at: secret.updated_at,
        });
        Ok(views.collect())
    }

    /// Sets a secret. Servers that use it are restarted, or started for the first time.
    pub async fn set_secret(
        &self,
        user: &CurrentUser,
        name: &str,
        new: NewSecret,
    ) -> Result<(), SourceError> {
        let owner = owner(user, new.mine)?;
        if !is_name(name) {
            return Err(SourceInputError::SecretName.into());
        }
        if let Some(own) = name.strip_prefix(OWN) {
            let name = own.into();
            return Err(SourceInputError::SecretIsOwn { name }.into());
        }
        if new.value.is_empty() {
            return Err(SourceInputError::SecretEmpty.into());
        }
        if new.value.len() > MAX_VALUE_BYTES || new.value.contains('\0') {
            return Err(SourceInputError::SecretTooLong.into());
        }
        let all = self.0.store.secrets().await?;
        let others = all
            .iter()
            .filter(|one| one.owner.as_ref() == owner && one.name != name);
        if others.count() >= MAX_SECRETS {
            return Err(SourceInputError::TooManySecrets.into());
        }
        let seal = |id: &str| self.0.vault.seal(&about(id), &new.value);
        self.0.store.put_secret(owner, name, seal).await?;
        self.try_again_with(owner, name).await?;
        self.sync().await;
        Ok(())
    }

    pub async fn remove_secret(
        &self,
        user: &CurrentUser,
        name: &str,
        mine: bool,
    ) -> Result<(), SourceError> {
        let owner = owner(user, mine)?;
        self.0.store.remove_secret(owner, name).await?;
        self.sync().await;
        Ok(())
    }

    /// Restarts servers that asked for a log-in, since their key may have been wrong. A shared
    /// server is not restarted for a personal secret.
    async fn try_again_with(&self, owner: Option<&UserId>, name: &str) -> Result<(), SourceError> {
        let secret = match owner {
            Some(_) => Variable::Personal(name.to_owned()),
            None => Variable::Shared(name.to_owned()),
        };
        let is_meant = |entry: &SourceEntry| {
            let is_theirs = owner.is_none() || entry.owner.as_ref() == owner;
            entry.wants_login && is_theirs && entry.variables().contains(&secret)
        };
        let seen = self.0.snapshot();
        for entry in seen.entries.values().filter(|entry| is_meant(entry)) {
            self.forget_login_requirement(&entry.id).await?;
        }
        Ok(())
    }
}

/// How a variable is named where secrets are listed.
pub(super) fn secret_name(variable: &Variable) -> String {
    match variable {
        Variable::Shared(name) => name.clone(),
        Variable::Personal(name) => format!("{OWN}{name}"),
    }
}

/// The value of a secret.
pub(super) async fn open(
    inner: &Inner,
    owner: Option<&UserId>,
    name: &str,
) -> Result<Option<String>, FillError> {
    let secret = inner.store.secret(owner, name).await;
    let secret = secret.map_err(|error| {
        tracing::error!(%error, "a secret cannot be read");
        FillError::Unread(SourceFault::SecretsUnread.into())
    })?;
    let Some(secret) = secret else {
        return Ok(None);
    };
    let opened = inner
        .vault
        .open_sealed(&about(&secret.id), &secret.sealed_value);
    let opened = opened.map_err(|error| {
        let unusable = SourceFault::SecretUnusable {
            name: name.into(),
            message: error.to_string().into(),
        };
        FillError::Unset(unusable.into())
    })?;
    Ok(Some(opened))
}

fn about(id: &str) -> String {
    format!("secret:{id}")
}

fn owner(user: &CurrentUser, mine: bool) -> Result<Option<&UserId>, SourceError> {
    if mine {
        Ok(Some(&user.id))
    } else if user.administers() {
        Ok(None)
    } else {
        Err(SourceDenied::SharedSecrets.into())
    }
}
