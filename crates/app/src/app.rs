//! [`App`]: everything assembled, the store, the tool registry, the agent, models, sources and
//! accounts.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::future::BoxFuture;
use tenon_agent::{Agent, AgentSettings};
use tenon_assistant::Assistant;
use tenon_bus::{Bus, BusAddress};
use tenon_domain::source::BuiltinConfig;
use tenon_domain::{CodedError, ToolId, UserId};
use tenon_llm::Provider;
use tenon_net::Network;
use tenon_sandbox::Sandbox;
use tenon_sources::browser::DeviceHub;
use tenon_sources::{CallRoutes, builtin};
use tenon_store::{Error, PausedTurn, Store, Vault};
use tenon_tools::{CallLimits, Connection, OutputStore, Quota, Registry};
use tokio_util::sync::CancellationToken;

use crate::accounts::Accounts;
use crate::auth::oidc::{Issuer, Oidc};
use crate::auth::setup::SetupCode;
use crate::auth::{Auth, CurrentUser};
use crate::budget::Budget;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::devices::DeviceStore;
use crate::experts::{ExpertError, Experts};
use crate::files::Attachments;
use crate::folders::Folders;
use crate::instructions::Instructions;
use crate::models::embeddings::ModelEmbedder;
use crate::models::endpoints::ModelEndpoints;
use crate::models::{ModelLookupError, Models};
use crate::outputs::{StoredOutputs, StoredToolIds, UserStorage};
use crate::prompts::SavedPrompts;
use crate::skills::Skills;
use crate::sources::configured::ConfiguredServers;
use crate::sources::folder::WatchedFolder;
use crate::sources::{RunMode, Sources};
use crate::storage::Storage;
use crate::tools::{CallTraces, UserTools};
use crate::user_feed::{FeedSources, UserFeed};
use crate::web_images::WebImages;

/// How long a command waits for servers whose tools nobody knows yet. Programs of
/// Python on a busy machine need most of it.
const FIRST_START_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a shutdown waits for running answers unless the settings say so.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);

/// Everything that the HTTP server and the command line need. One reference count: every request
/// takes some clones of it.
#[derive(Clone)]
pub struct App(Arc<AppServices>);

pub struct AppServices {
    pub store: Store,
    pub registry: Arc<Registry>,
    pub agent: Agent,
    pub models: Models,
    pub experts: Experts,
    pub prompts: SavedPrompts,
    pub instructions: Instructions,
    pub folders: Folders,
    pub files: Attachments,
    pub web_images: WebImages,
    /// The other servers on the same database.
    pub cluster: Cluster,
    pub skills: Skills,
    pub sources: Sources,
    /// People's own browsers.
    pub devices: DeviceHub,
    /// Outputs that were too long to show.
    pub outputs: Arc<dyn OutputStore>,
    pub builtin: BuiltinConfig,
    pub accounts: Accounts,
    pub tools: UserTools,
    /// What changes for each user, for their open pages.
    pub user_feed: UserFeed,
    /// The folder that is watched for files of servers.
    pub watched: Arc<Path>,
    /// The servers in the settings file and environment.
    configured: ConfiguredServers,
    /// The model whose embeddings tools are found by, if any.
    embedding_model: Option<String>,
    pub auth: Auth,
    /// Whether writes to the database succeed.
    pub storage: Storage,
    pub allowed_hosts: Arc<[String]>,
    /// Memory budget for request data, per user and in total.
    pub budget: Budget,
    /// How many connections may be open at once, where the operator says so.
    pub max_connections: Option<usize>,
    /// How long a shutdown waits for answers that are being given.
    pub drain_timeout: Duration,
    /// Whether `/metrics` is for everybody who can reach the server.
    pub open_metrics: bool,
    /// Fires when open connections should end.
    pub closing: CancellationToken,
    /// Keeps the sources in the registry.
    _connected: Vec<Connection>,
}

impl Deref for App {
    type Target = AppServices;

    fn deref(&self) -> &AppServices {
        &self.0
    }
}

impl App {
    /// Opens the data folder, with the assistant that comes with Tenon. What
    /// processes that died left open there is tied up first.
    pub fn open<'a>(data: &'a Path, config: &'a Config) -> BoxFuture<'a, Result<Self>> {
        Box::pin(Self::with_model(data, config, Arc::new(Assistant)))
    }

    /// The same with another model in the place of that assistant.
    pub async fn with_model(
        data: &Path,
        config: &Config,
        builtin: Arc<dyn Provider>,
    ) -> Result<Self> {
        let store = open_store(data, config).await?;
        let data = std::path::absolute(data)?;
        let bus = open_bus(&store, config).await?;

        let (free_space, workspaces) = (config.free_space(&data), data.join("work"));
        let owned = Arc::new(UserStorage {
            store: store.clone(),
            workspaces: workspaces.clone(),
        });
        let quota = Quota::new(config.quota(), free_space.clone(), owned);
        let outputs: Arc<dyn OutputStore> = Arc::new(StoredOutputs {
            store: store.clone(),
            quota: quota.clone(),
        });
        let ids = Arc::new(StoredToolIds(store.clone()));
        let registry = Registry::new(ids, outputs.clone(), CallLimits::default());
        let mut connected = Vec::new();
        let builtin_sources = builtin::sources(&config.builtin(), outputs.clone(), quota.clone());
        for source in builtin_sources.iter().cloned() {
            connected.push(
                registry
                    .connect(source)
                    .await
                    .context("the tools cannot be listed")?,
            );
        }

        let vault = Arc::new(open_vault(&data, config)?);
        // In single-user mode and on a single server the set-up code is random and works once;
        // servers of a cluster derive the same one.
        let setup = if bus.is_alone() || config.single_user {
            SetupCode::fresh()
        } else {
            SetupCode::shared(&[&vault.export_keys(), &store.cluster_id().await?])
        };
        let endpoints = ModelEndpoints::new(&config.environment, config.local_models.as_deref());
        let models = Models::new(store.clone(), vault.clone(), builtin, endpoints);
        let skills = Skills::open(
            (store.clone(), vault.clone()),
            registry.clone(),
            data.join("skills"),
            config,
            builtin_sources,
            quota.clone(),
        )
        .await
        .map_err(|error| anyhow::Error::msg(error.detail().message))
        .context("the skills cannot be read")?;
        let routes = CallRoutes::new(bus.clone());
        let sources = Sources::new(
            store.clone(),
            vault.clone(),
            registry.clone(),
            routes.clone(),
        );
        let device_store = Arc::new(DeviceStore(store.clone()));
        let reading = sources.clone();
        let parses = Box::new(move |user: &UserId| reading.parses(Some(user)));
        let devices = DeviceHub::new(registry.clone(), device_store, parses, routes);
        devices.forget_unseen().await.map_err(anyhow::Error::msg)?;
        devices.restore().await.map_err(anyhow::Error::msg)?;

        let mut settings = AgentSettings::new(workspaces);
        settings.free_space = free_space.clone();
        settings.bus = bus.clone();
        if let Some(seconds) = config.model_silence_seconds {
            settings.model_silence = Duration::from_secs(seconds.max(1));
            settings.local_first_word = settings.model_silence;
        }
        settings.model_titles = config.model_titles.unwrap_or(true);
        settings.keeps_requests = config.keep_model_requests.unwrap_or(true);
        let agent = Agent::new(store.clone(), registry.clone(), settings);
        agent
            .recover()
            .await
            .context("chats that were cut off cannot be mended")?;
        store.sweep_blobs().await?;
        store.sweep_audit().await?;
        store.sweep_model_calls().await?;
        store.sweep_call_traces().await?;
        store.sweep_embeddings().await?;
        let auth = Auth::new(config, issuer(&data, config)?, setup);
        let experts = Experts::new(store.clone());
        let files = Attachments::new(
            store.clone(),
            agent.clone(),
            quota,
            document_reader(config)?,
        );
        files.sweep().await?;
        let closing = CancellationToken::new();
        Ok(Self(Arc::new(AppServices {
            accounts: Accounts {
                store: store.clone(),
                auth: auth.clone(),
                agent: agent.clone(),
                sources: sources.clone(),
                devices: devices.clone(),
            },
            tools: UserTools {
                store: store.clone(),
                registry: registry.clone(),
                agent: agent.clone(),
                devices: devices.clone(),
                experts: experts.clone(),
                call_traces: Arc::new(CallTraces::new(
                    store.clone(),
                    vault.clone(),
                    config.keep_model_requests.unwrap_or(true),
                )),
                closing: closing.clone(),
            },
            prompts: SavedPrompts {
                store: store.clone(),
            },
            instructions: Instructions {
                store: store.clone(),
                experts: experts.clone(),
            },
            folders: Folders {
                store: store.clone(),
                experts: experts.clone(),
            },
            files,
            web_images: WebImages::new(Network::of_setting(config.allow_private_networks)),
            experts,
            skills,
            user_feed: UserFeed::new(FeedSources {
                store: store.clone(),
                agent: agent.clone(),
                registry: registry.clone(),
                sources: sources.clone(),
                devices: devices.clone(),
                models: models.clone(),
            }),
            storage: Storage::new(store.clone(), free_space),
            cluster: Cluster::new(store.clone(), bus),
            store,
            registry,
            agent,
            models,
            sources,
            devices,
            outputs,
            builtin: config.builtin(),
            configured: ConfiguredServers::read(config),
            embedding_model: config.embedding_model.clone(),
            watched: data.join("mcp_servers").into(),
            auth,
            allowed_hosts: config.allowed_hosts.clone().into(),
            budget: Budget::new(),
            max_connections: config.max_connections,
            drain_timeout: config
                .drain_seconds
                .map_or(DRAIN_TIMEOUT, Duration::from_secs),
            open_metrics: config.open_metrics,
            closing,
            _connected: connected,
        })))
    }

    /// Ties up what processes that died left open since, and goes on with the
    /// turns that wait for a person. For one that stays: who goes away soon
    /// again leaves those alone.
    pub async fn recover(&self) -> Result<(), Error> {
        self.agent.recover().await?;
        let mut failed = None;
        for paused in self.agent.take_over().await? {
            if let Err(error) = self.resume(&paused).await {
                self.agent.put_back(paused);
                failed = Some(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Goes on with a turn that waits for a person, or ends it where it cannot go on.
    async fn resume(&self, paused: &PausedTurn) -> Result<(), Error> {
        let profile = self.instructions.of_chat(&paused.user, &paused.chat_id);
        let profile = match profile.await {
            Ok((_, profile)) => profile,
            Err(ExpertError::Store(error)) => return Err(error),
            Err(error) => return self.agent.give_up(paused, error.detail()).await,
        };
        let why = match self.models.choose_redacted(paused.model.as_ref()).await {
            Ok(model) => match self.agent.resume(paused.clone(), model, profile) {
                // If Tenon shuts down again, the next start resumes the turn.
                Ok(()) | Err(tenon_agent::Error::Closing) => return Ok(()),
                // A turn of this process lets go of the chat in a moment.
                Err(tenon_agent::Error::Busy) => {
                    self.agent.put_back(paused.clone());
                    return Ok(());
                }
                Err(error) => error.detail(),
            },
            Err(ModelLookupError::Store(error)) if !matches!(error, Error::Secret(_)) => {
                return Err(error);
            }
            Err(error) => error.detail(),
        };
        tracing::warn!(chat = %paused.chat_id, turn = %paused.id, %why, "a turn that waited cannot go on");
        self.agent.give_up(paused, why).await
    }

    /// Has tools found by embeddings too, where a model is configured for that. For a process in
    /// which models look for tools: embedding them takes a while, and may cost something.
    pub fn start_embedding(&self) {
        if let Some(model) = &self.embedding_model {
            let embedder = ModelEmbedder::start(self.models.clone(), self.store.clone(), model);
            self.registry.embed_with(embedder);
        }
    }

    /// Opens the servers for a command: they start on the first call, with their last known tools
    /// listed. A server without known tools is started and waited for.
    pub fn open_sources<'a>(&'a self, user: &'a CurrentUser) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.load_files().await;
            self.sources.open(RunMode::Once(user.id.clone())).await;
            self.settle_sources(user).await;
        })
    }

    /// Waits a while for starting servers whose tools are not known yet.
    pub async fn settle_sources(&self, user: &CurrentUser) {
        self.sources.settle(&user.id, FIRST_START_TIMEOUT).await;
    }

    /// Loads the files of servers once, for a process that does not stay.
    pub async fn load_files(&self) {
        self.configured.apply(&self.sources).await;
        self.folder().apply(&self.sources).await;
    }

    /// Loads the files of servers, and watches them from now on.
    pub async fn watch_files(&self) -> WatchedFolder {
        self.configured.apply(&self.sources).await;
        let mut folder = self.folder();
        folder.create();
        folder.apply(&self.sources).await;
        if let Err(error) = self.sources.sweep_documents().await {
            tracing::warn!(%error, "documents that nobody needs are still kept");
        }
        folder
    }

    fn folder(&self) -> WatchedFolder {
        WatchedFolder::new(&self.watched, self.configured.names())
    }
}

/// The database alone, for commands that work on what is stored.
pub async fn open_store(data: &Path, config: &Config) -> Result<Store> {
    let mut folder = std::fs::DirBuilder::new();
    folder.recursive(true);
    // The folder is private to its owner.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder
        .create(data)
        .with_context(|| format!("the data folder {} cannot be made", data.display()))?;
    let store = match &config.database {
        Some(url) => Store::open(url).await,
        None => Store::open_file(&data.join("tenon.db")).await,
    };
    store.context("the database cannot be opened")
}

/// The way to the other servers on the same database.
async fn open_bus(store: &Store, config: &Config) -> Result<Bus> {
    let Some(address) = &config.bus else {
        return Ok(Bus::alone());
    };
    let address = BusAddress::parse(address)?;
    if !store.has_leases() {
        bail!(
            "a bus connects servers that share a PostgreSQL; set `database` to its address, or leave `bus` out"
        );
    }
    if config.secret_key.is_none() {
        bail!(
            "servers that share a database need one key for what is stored encrypted: set TENON_SECRET_KEY at all of \
             them to what `openssl rand -base64 32` prints"
        );
    }
    let cluster = store.cluster_id().await?;
    Ok(Bus::start(&address, &cluster, store.runner_name()))
}

/// The keys to what is stored sealed.
pub fn open_vault(data: &Path, config: &Config) -> Result<Vault> {
    Vault::open(data, config.secret_key.as_deref())
        .context("the key to the stored secrets cannot be used")
}

/// Tenon itself, behind walls.
fn document_reader(config: &Config) -> Result<(Sandbox, PathBuf)> {
    match &config.sandbox_helper {
        Some(helper) => Ok((Sandbox::with_helper(helper), helper.clone())),
        None => Ok((Sandbox::current_exe(), std::env::current_exe()?)),
    }
}

/// The OpenID Connect issuer, if one is configured.
fn issuer(data: &Path, config: &Config) -> Result<Issuer> {
    let Some(settings) = &config.oidc else {
        return Ok(None);
    };
    let oidc = Oidc::new(settings, open_vault(data, config)?)?;
    Ok(Some(Arc::new(oidc)))
}

/// What to say when a tool id is not known.
pub fn no_such_tool(id: &ToolId) -> String {
    format!("There is no tool `{id}`. `tenon tools list` shows all of them.")
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Debug for AppServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppServices")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn a_data_folder_that_tenon_makes_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("new/data");
        open_store(&data, &Config::default()).await.unwrap();
        let made = std::fs::metadata(&data).unwrap();
        assert_eq!(made.permissions().mode() & 0o777, 0o700);
    }
}
