//! The account of somebody who logs in with an OpenID Connect issuer.

use serde_json::json;
use tenon_domain::{Account, EntryPoint};
use tenon_store::{AccountError, AuditEntry, Enrollment, Error, NewUserRow};

use super::Accounts;
use crate::auth::oidc::{Identity, Oidc, OidcError};
use crate::auth::record;

impl Accounts {
    /// Whose account it is: the one they came to before, the one with their
    /// address, or a new one.
    pub async fn of_identity(
        &self,
        oidc: &Oidc,
        identity: &Identity,
        address: &str,
    ) -> Result<(Account, &'static str), OidcError> {
        let known = self.store.user_by_subject(&identity.subject).await?;
        if let Some(email) = identity
            .email
            .as_ref()
            .filter(|email| !oidc.is_domain_allowed(email))
        {
            return Err(OidcError::Domain(email.clone()));
        }
        if let Some(account) = known {
            return enabled(account).map(|account| (account, "login.oidc"));
        }
        let email = identity.email.as_deref().ok_or(OidcError::Email)?;
        if let Some((account, _)) = self.store.user_by_email(email).await? {
            let account = enabled(account)?;
            self.link(&account, &identity.subject, address).await?;
            return Ok((account, "login.oidc"));
        }
        if !oidc.signs_up() {
            return Err(OidcError::NoAccount(email.to_owned()));
        }
        let new = NewUserRow {
            email,
            name: &identity.name,
            role: Default::default(),
            password_hash: None,
            oidc_subject: Some(&identity.subject),
        };
        match self.store.create_user(new, Enrollment::Another).await {
            Ok(account) => Ok((account, "sign-up.oidc")),
            Err(Error::Account(AccountError::SetUpFirst)) => {
                Err(OidcError::NoAccount(email.to_owned()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives an account to whom its address belongs, and locks out whoever
    /// was in it: see [`tenon_store::Store::link_subject`].
    async fn link(&self, account: &Account, subject: &str, address: &str) -> Result<(), OidcError> {
        let Some(off) = self.store.link_subject(&account.id, subject).await? else {
            // The account is linked to another person at the issuer, and an equal address does not
            // change that.
            return Err(OidcError::NoAccount(account.email.clone()));
        };
        let entry = AuditEntry {
            user: Some(account.id.clone()),
            door: EntryPoint::Page,
            action: "user.changed",
            subject: account.id.0.clone(),
            detail: json!({
                "linked": subject,
                "removed": ["password", "sessions", "keys"],
                "switchedOff": off,
            }),
            address: address.to_owned(),
        };
        record(&self.store, entry).await;
        self.cancel_turns(&account.id)
            .await
            .map_err(|_| OidcError::Session)?;
        let forgotten = self.devices.forget_user(&account.id).await;
        if let Err(why) = forgotten {
            tracing::error!(
                %why,
                "what browsers found for a former holder is still listed"
            );
            return Err(OidcError::Session);
        }
        self.sources.sync().await;
        Ok(())
    }
}

fn enabled(account: Account) -> Result<Account, OidcError> {
    if account.disabled {
        Err(OidcError::Disabled)
    } else {
        Ok(account)
    }
}
