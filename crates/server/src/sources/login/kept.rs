//! What one person was granted at one server, sealed in the store.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tenon_domain::UserId;
use tenon_sources::mcp::oauth::{Grant, Grants};
use tenon_store::{Store, Vault};

use super::Place;

pub(super) struct Kept {
    pub(super) store: Store,
    pub(super) vault: Arc<Vault>,
    pub(super) user: UserId,
    /// What was granted at another address is not for this one.
    pub(super) place: Place,
}

/// What is sealed.
#[derive(Serialize, Deserialize)]
struct Sealed {
    address: String,
    origin: String,
    grant: Grant,
}

#[async_trait]
impl Grants for Kept {
    async fn load(&self) -> Result<Option<Grant>, String> {
        let stored = self.store.grant(&self.place.source, &self.user).await;
        let Some(stored) = stored.map_err(|error| self.failed(&error))? else {
            return Ok(None);
        };
        let opened = self
            .vault
            .open_sealed(&about(&stored.id), &stored.sealed_grant);
        let opened = opened.map_err(|error| self.failed(&error))?;
        // One that another version wrote in another way is as good as none.
        let sealed: Option<Sealed> = serde_json::from_str(&opened).ok();
        let sealed = sealed.filter(|sealed| {
            let is_here = self.place.origin.as_ref() == Some(&sealed.origin);
            is_here && sealed.address == self.place.address
        });
        Ok(sealed.map(|sealed| sealed.grant))
    }

    async fn save(&self, grant: &Grant) -> Result<(), String> {
        let Some(origin) = self.place.origin.clone() else {
            return Err("Nobody knows where this server's address leads.".into());
        };
        let sealed = Sealed {
            address: self.place.address.clone(),
            origin,
            grant: grant.clone(),
        };
        let sealed = serde_json::to_string(&sealed).map_err(|error| self.failed(&error))?;
        let seal = |id: &str| self.vault.seal(&about(id), &sealed);
        let kept = self
            .store
            .put_grant(&self.place.source, &self.user, seal)
            .await;
        kept.map(drop).map_err(|error| self.failed(&error))
    }

    async fn remove(&self) -> Result<(), String> {
        let removed = self
            .store
            .remove_grant(&self.place.source, &self.user)
            .await;
        removed.map(drop).map_err(|error| self.failed(&error))
    }
}

impl Kept {
    fn failed(&self, error: &dyn std::error::Error) -> String {
        tracing::error!(source = %self.place.source, %error, "a log-in at a server cannot be kept or read");
        "Tenon's storage does not answer, its log says why.".into()
    }
}

fn about(id: &str) -> String {
    format!("grant:{id}")
}
