//! Tenon put together: store, hub, agent and the models they work with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tenon_agent::{Agent, Settings};
use tenon_domain::{ChatId, ToolId, UserId};
use tenon_llm::{Assistant, Provider};
use tenon_sources::connect;
use tenon_store::{Store, Vault};
use tenon_tools::{Connection, Limits, Registry, Shelf};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::models::Models;
use crate::models::endpoints::Endpoints;
use crate::stored::Stored;

/// Everything a door needs. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub registry: Arc<Registry>,
    pub agent: Agent,
    pub models: Models,
    pub allowed_hosts: Arc<[String]>,
    /// Fires when open connections should end.
    pub closing: CancellationToken,
    /// Keeps the sources in the registry.
    _connected: Arc<[Connection]>,
}

impl App {
    /// Opens the data folder, with the assistant that comes with Tenon. What
    /// processes that died left open there is tied up first.
    pub async fn open(data: &Path, config: &Config) -> Result<Self> {
        Self::with_model(data, config, Arc::new(Assistant)).await
    }

    /// The same with another model in the place of that assistant.
    pub async fn with_model(
        data: &Path,
        config: &Config,
        builtin: Arc<dyn Provider>,
    ) -> Result<Self> {
        std::fs::create_dir_all(data)
            .with_context(|| format!("the data folder {} cannot be made", data.display()))?;
        let data = std::path::absolute(data)?;
        let store = match &config.database {
            Some(url) => Store::open(url).await,
            None => Store::open_file(&data.join("tenon.db")).await,
        };
        let store = store.context("the database cannot be opened")?;

        let stored = Arc::new(Stored(store.clone()));
        let shelf: Arc<dyn Shelf> = stored.clone();
        let registry = Registry::new(stored, shelf.clone(), Limits::default());
        let mut connected = Vec::new();
        for source in config
            .sources()
            .iter()
            .flat_map(|config| connect(config, &shelf))
        {
            connected.push(
                registry
                    .connect(source)
                    .await
                    .context("the tools cannot be listed")?,
            );
        }

        let vault = Vault::open(&data, config.secret_key.as_deref())
            .context("the key to the stored secrets cannot be used")?;
        let endpoints = Endpoints::new(&config.environment, config.local_models.as_deref());
        let models = Models::new(store.clone(), vault, builtin, endpoints);

        let mut settings = Settings::new(data.join("work"));
        if let Some(seconds) = config.model_silence_seconds {
            settings.model_silence = Duration::from_secs(seconds.max(1));
        }
        let agent = Agent::new(store.clone(), registry.clone(), settings);
        agent
            .recover()
            .await
            .context("chats that were cut off cannot be mended")?;
        store.sweep_blobs().await?;
        Ok(Self {
            store,
            registry,
            agent,
            models,
            allowed_hosts: config.allowed_hosts.clone().into(),
            closing: CancellationToken::new(),
            _connected: connected.into(),
        })
    }

    /// Where calls that a person makes by hand, outside any chat, may work.
    pub fn workspace_by_hand(&self, user: &UserId) -> PathBuf {
        self.agent.workspace(&ChatId(format!("by-hand-{user}")))
    }
}

/// What to say when a tool id is not known.
pub fn no_such_tool(id: &ToolId) -> String {
    format!("There is no tool `{id}`. `tenon tools list` shows all of them.")
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}
