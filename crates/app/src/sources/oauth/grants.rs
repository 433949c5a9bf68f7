//! The OAuth grant of one person at one server, sealed in the store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tenon_domain::UserId;
use tenon_sources::mcp::oauth::{Grant, GrantStorage, GrantStorageError};
use tenon_store::{LeaseHolder, Store, Vault};
use tokio::time::Instant;

use super::LoginTarget;

/// Longest time of a refresh. Waiters wait a little longer.
const LOCK_TIME: Duration = Duration::from_secs(30);
const LOCK_TIMEOUT: Duration = Duration::from_secs(32);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(super) struct GrantStore {
    pub(super) store: Store,
    pub(super) vault: Arc<Vault>,
    pub(super) user: UserId,
    /// The address of the grant; a grant for another address is not used.
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
        // A grant in the format of another version counts as missing.
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

    async fn lock(&self) {
        let until = Instant::now() + LOCK_TIMEOUT;
        while Instant::now() < until {
            match self.store.take_lease(&self.lease(), LOCK_TIME).await {
                Ok(LeaseHolder::Other(_) | LeaseHolder::Unknown) => {
                    tokio::time::sleep(LOCK_POLL_INTERVAL).await;
                }
                // A database that is away refuses to store it, too.
                Ok(LeaseHolder::This) | Err(_) => return,
            }
        }
    }

    async fn unlock(&self) {
        if let Err(error) = self.store.drop_lease(&self.lease()).await {
            tracing::debug!(%error, "others wait a little longer to renew a log-in");
        }
    }
}

impl GrantStore {
    fn lease(&self) -> String {
        format!("grant:{}:{}", self.target.source, self.user)
    }

    fn failed(&self, error: &dyn std::error::Error) -> GrantStorageError {
        tracing::error!(source = %self.target.source, %error, "a log-in at a server cannot be kept or read");
        GrantStorageError("Tenon's storage does not answer, its log says why.".into())
    }
}

fn about(id: &str) -> String {
    format!("grant:{id}")
}
