//! People's own browsers as a place where tools run: what is kept of them.

use async_trait::async_trait;
use tenon_domain::{SourceId, SourceInfo, SourceKind};
use tenon_sources::browser::{DeviceInfo, Memory, Remembered, Via};
use tenon_store::{Store, StoredLocal};

/// The store, as the desk knows it.
#[derive(Debug)]
pub(crate) struct Kept(pub(crate) Store);

#[async_trait]
impl Memory for Kept {
    async fn load(&self) -> Result<Vec<Remembered>, String> {
        let stored = self.0.local_servers().await;
        let stored =
            stored.map_err(|error| format!("What browsers found cannot be read: {error}."))?;
        Ok(stored.into_iter().map(remembered).collect())
    }

    async fn keep(&self, server: &Remembered) -> Result<(), String> {
        let Some(owner) = server.info.owner.clone() else {
            return Ok(());
        };
        let stored = StoredLocal {
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
        kept.map_err(|error| format!("What a browser found cannot be kept: {error}."))
    }

    async fn seen(&self, servers: &[SourceId]) -> Result<(), String> {
        let seen = self.0.see_local_servers(servers).await;
        seen.map_err(|error| format!("What a browser uses cannot be noted: {error}."))
    }

    async fn forget(&self, servers: &[SourceId]) -> Result<(), String> {
        let forgotten = self.0.forget_local_servers(servers).await;
        forgotten.map_err(|error| format!("What a browser found cannot be forgotten: {error}."))
    }
}

fn remembered(stored: StoredLocal) -> Remembered {
    Remembered {
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
        via: Via::named(&stored.via),
        tools: stored.tools,
    }
}
