//! What is stored of tool servers that people's browsers found.

use async_trait::async_trait;
use tenon_domain::{SourceId, SourceInfo, SourceKind, UserId};
use tenon_sources::browser::{
    BrowserError, DeviceInfo, LocalProtocol, LocalServerRecord, LocalServerStore,
};
use tenon_store::{Store, StoredLocalServer};

/// The store, as the device hub uses it.
#[derive(Debug)]
pub(crate) struct DeviceStore(pub(crate) Store);

#[async_trait]
impl LocalServerStore for DeviceStore {
    async fn load(&self) -> Result<Vec<LocalServerRecord>, BrowserError> {
        let stored = self.0.local_servers().await;
        let stored = stored.map_err(|error| BrowserError::Load(error.into()))?;
        Ok(stored.into_iter().map(record).collect())
    }

    async fn load_device(
        &self,
        user: &UserId,
        device: &str,
    ) -> Result<Vec<LocalServerRecord>, BrowserError> {
        let stored = self.0.local_servers_of(user, device).await;
        let stored = stored.map_err(|error| BrowserError::Load(error.into()))?;
        Ok(stored.into_iter().map(record).collect())
    }

    async fn save(&self, server: &LocalServerRecord) -> Result<(), BrowserError> {
        let Some(owner) = server.info.owner.clone() else {
            return Ok(());
        };
        let stored = StoredLocalServer {
            id: server.info.id.clone(),
            owner,
            device_id: server.device.id.clone(),
            device_name: server.device.name.clone(),
            name: server.info.name.clone(),
            title: server.info.title.clone(),
            url: server.url.clone(),
            via: server.via.as_str().to_owned(),
            tools: server.tools.clone(),
        };
        let kept = self.0.put_local_server(&stored).await;
        kept.map_err(|error| BrowserError::Save(error.into()))
    }

    async fn mark_seen(&self, servers: &[SourceId]) -> Result<(), BrowserError> {
        let seen = self.0.see_local_servers(servers).await;
        seen.map_err(|error| BrowserError::MarkSeen(error.into()))
    }

    async fn delete_unseen(&self) -> Result<Vec<SourceId>, BrowserError> {
        let swept = self.0.sweep_local_servers().await;
        swept.map_err(|error| BrowserError::Delete(error.into()))
    }

    async fn delete(&self, servers: &[SourceId]) -> Result<(), BrowserError> {
        let forgotten = self.0.forget_local_servers(servers).await;
        forgotten.map_err(|error| BrowserError::Delete(error.into()))
    }
}

fn record(stored: StoredLocalServer) -> LocalServerRecord {
    LocalServerRecord {
        info: SourceInfo {
            id: stored.id,
            kind: SourceKind::Browser,
            name: stored.name,
            title: stored.title,
            owner: Some(stored.owner),
        },
        device: DeviceInfo {
            id: stored.device_id,
            name: stored.device_name,
        },
        url: stored.url,
        via: LocalProtocol::named(&stored.via),
        tools: stored.tools,
    }
}
