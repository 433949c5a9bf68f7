//! Reads the configuration again when its file changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::Mutex;

use super::config::{self, BridgeServerConfig};
use super::servers::BridgeServers;

/// How often the file is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The file of a configuration. A file that cannot be used changes nothing.
#[derive(Debug)]
pub(super) struct ConfigWatch {
    path: PathBuf,
    env: BTreeMap<String, String>,
}

impl ConfigWatch {
    pub(super) fn new(path: PathBuf, env: BTreeMap<String, String>) -> Self {
        Self { path, env }
    }

    pub(super) fn read(&self) -> Result<Vec<BridgeServerConfig>> {
        self.text().and_then(|text| self.parse(&text))
    }

    /// The mutex is for the end of the bridge: nothing else waits for it.
    pub(super) async fn run(self, servers: Arc<Mutex<BridgeServers>>) {
        let mut last = self.text().ok();
        let mut interval = tokio::time::interval(POLL_INTERVAL);
        loop {
            interval.tick().await;
            let Ok(text) = tokio::fs::read_to_string(&self.path).await else {
                continue;
            };
            if last.as_ref() == Some(&text) {
                continue;
            }
            let applied = match self.parse(&text) {
                Ok(configs) => servers.lock().await.apply(configs).await,
                Err(error) => Err(error),
            };
            match applied {
                Ok(()) => tracing::info!("the configuration was read again"),
                Err(error) => {
                    tracing::warn!("the configuration stays as it was: {error:#}");
                }
            }
            last = Some(text);
        }
    }

    fn text(&self) -> Result<String> {
        let read = std::fs::read_to_string(&self.path);
        read.with_context(|| format!("{} cannot be read", self.path.display()))
    }

    fn parse(&self, text: &str) -> Result<Vec<BridgeServerConfig>> {
        let parsed = config::read(text, &self.env);
        parsed.with_context(|| format!("{} cannot be used", self.path.display()))
    }
}
