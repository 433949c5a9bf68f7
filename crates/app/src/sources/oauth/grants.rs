//! What one person was granted at one server, sealed in the store.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tenon_domain::UserId;
use tenon_sources::mcp::oauth::{Grant, GrantStorage, GrantStorageError};
use tenon_store::{Store, Vault};

use super::LoginTarget;

pub(super) struct GrantStore {
    pub(super) store: Store,
    pub(super) vault: Arc<Vault>,
    pub(super) user: UserId,
    /// What was granted at another address is not for this one.
    pub(super) target: LoginTarget,
}

/// What is sealed.
#[derive(Serialize, Deserialize)]
struct SealedGrant {
    address: String,
    origin: String,
    grant: Grant,
}

#[async_trait]
impl GrantStorage for GrantStore {
    async fn load(&self) -> Result<Option<Grant>, GrantStorageError> {
        let stored = self.store.grant(&self.target.source, &self.user).await;
        let Some(stored) = stored.map_err(|error| self.failed(&error))? else {
            return Ok(None);
        };
        let opened = self
            .vault
            .open_sealed(&about(&stored.id), &stored.sealed_grant);
        let opened = opened.map_err(|error| self.failed(&error))?;
        // One that another version wrote in another way is as good as none.
        let sealed: Option<SealedGrant> = serde_json::from_str(&opened).ok();
        let sealed = sealed.filter(|sealed| {
            let is_here = self.target.origin.as_ref() == Some(&sealed.origin);
            is_here && sealed.address == self.target.address
        });
        Ok(sealed.map(|sealed| sealed.grant))
    }

    async fn save(&self, grant: &Grant) -> Result<(), GrantStorageError> {
        let Some(origin) = self.target.origin.clone() else {
            return Err(GrantStorageError(
                "Nobody knows where this server's address leads.".into(),
            ));
        };
        let sealed = SealedGrant {
            address: self.target.address.clone(),
            origin,
            grant: grant.clone(),
        };
        let sealed = serde_json::to_string(&sealed).map_err(|error| self.failed(&error))?;
        let seal = |id: &str| self.vault.seal(&about(id), &sealed);
        let kept = self
            .store
            .put_grant(&self.target.source, &self.user, seal)
            .await;
        kept.map(drop).map_err(|error| self.failed(&error))
    }

    async fn remove(&self) -> Result<(), GrantStorageError> {
        let removed = self
            .store
            .remove_grant(&self.target.source, &self.user)
            .await;
        removed.map(drop).map_err(|error| self.failed(&error))
    }
}

impl GrantStore {
    fn failed(&self, error: &dyn std::error::Error) -> GrantStorageError {
        tracing::error!(source = %self.target.source, %error, "a log-in at a server cannot be kept or read");
        GrantStorageError("Tenon's storage does not answer, its log says why.".into())
    }
}

fn about(id: &str) -> String {
    format!("grant:{id}")
}
