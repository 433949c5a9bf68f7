//! The servers behind the bridge: started, replaced and stopped as the configuration says.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use futures::future::join_all;
use tenon_domain::{
    BlobId, Caller, McpTransport, SourceId, SourceInfo, SourceKind, SourceState, ToolAccess, UserId,
};
use tenon_sources::mcp::{McpServer, McpServerInfo, McpSettings, StartMode};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{Network, ServerStatus, SupervisedServer};
use tenon_tools::{
    CallContext, CallLimits, Connection, MemoryToolIdStore, OutputStore, Registry, Tool, ToolSource,
};
use tokio::sync::{Semaphore, watch};
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::config::BridgeServerConfig;
use super::labels::BridgeLabels;
use super::oauth::BridgeLogin;
use super::routes::{RouteTable, Routes};
use super::server_routes::ServerRoutes;

/// All of a small configuration start side by side; a large one does not take the machine down.
const MAX_STARTS: usize = 32;

/// Between two log-ins at a server.
const LOGIN_INTERVAL: Duration = Duration::from_secs(30);

/// Whoever asks the bridge. There are no accounts.
pub(super) fn bridge_user() -> UserId {
    UserId::new("bridge")
}

pub(super) struct BridgeServers {
    publisher: Arc<RoutePublisher>,
    running: Vec<WatchedServer>,
    starts: Arc<Semaphore>,
    /// No page is open here, so servers are polled at the slow rate.
    viewers: watch::Sender<usize>,
}

struct WatchedServer {
    server: Arc<BridgeServer>,
    _watching: AbortOnDropHandle<()>,
    _logging_in: Option<AbortOnDropHandle<()>>,
}

struct BridgeServer {
    config: BridgeServerConfig,
    source: Arc<McpServer>,
    connection: Connection,
}

/// Makes routes of what servers offer.
struct RoutePublisher {
    labels: Arc<BridgeLabels>,
    registry: Arc<Registry>,
    routes: Arc<Routes>,
    servers: Mutex<Vec<Arc<ServerRoutes>>>,
}

impl BridgeServers {
    pub(super) fn new(labels: BridgeLabels) -> Self {
        let labels = Arc::new(labels);
        let limits = CallLimits {
            // The callers are programs, so they get all of an output.
            shown_bytes: usize::MAX,
            image_bytes: usize::MAX,
            ..CallLimits::default()
        };
        let ids = Arc::new(MemoryToolIdStore::default());
        let registry = Registry::new(ids, Arc::new(NoOutputStore), limits);
        let table = RouteTable::new(labels.clone(), registry.toolset(access()), Vec::new());
        let publisher = RoutePublisher {
            labels,
            registry,
            routes: Arc::new(Routes::new(table)),
            servers: Mutex::default(),
        };
        Self {
            publisher: Arc::new(publisher),
            running: Vec::new(),
            starts: Arc::new(Semaphore::new(MAX_STARTS)),
            viewers: watch::Sender::new(0),
        }
    }

    pub(super) fn routes(&self) -> Arc<Routes> {
        self.publisher.routes.clone()
    }

    /// Runs exactly these servers. Unchanged ones keep running. A configuration with an error
    /// changes nothing.
    pub(super) async fn apply(&mut self, configs: Vec<BridgeServerConfig>) -> Result<()> {
        let logins: Result<Vec<_>> = configs.iter().map(login).collect();
        let logins = logins?;
        // First, so that what a server offers finds its place.
        self.publisher.keep(&configs);
        let mut before = std::mem::take(&mut self.running);
        for (config, login) in configs.into_iter().zip(logins) {
            let same = before.iter().position(|old| old.server.config == config);
            match same {
                Some(same) => self.running.push(before.swap_remove(same)),
                None => {
                    let server = self.start(config, login).await?;
                    self.running.push(server);
                }
            }
        }
        stop_all(before).await;
        Ok(())
    }

    pub(super) async fn stop(&mut self) {
        stop_all(std::mem::take(&mut self.running)).await;
    }

    async fn start(
        &self,
        config: BridgeServerConfig,
        login: Option<BridgeLogin>,
    ) -> Result<WatchedServer> {
        let source = McpServer::new(McpSettings {
            info: SourceInfo {
                id: SourceId::new(&config.name),
                kind: SourceKind::Mcp,
                name: config.name.clone(),
                title: config.name.clone(),
                owner: None,
            },
            config: config.config.clone(),
            fill: Arc::new(LiteralConfig),
            tokens: login.as_ref().map(BridgeLogin::tokens),
            network: Network::Anywhere,
            known: Vec::new(),
            start: StartMode::Now,
            starts: self.starts.clone(),
            viewers: self.viewers.subscribe(),
        });
        let connection = self.publisher.registry.connect(source.clone()).await?;
        let server = Arc::new(BridgeServer {
            config,
            source,
            connection,
        });
        let watching = watch_server(server.clone(), self.publisher.clone());
        let logging_in = login.map(|login| {
            let logging_in = log_in_when_asked(server.clone(), login);
            AbortOnDropHandle::new(tokio::spawn(logging_in))
        });
        Ok(WatchedServer {
            server,
            _watching: AbortOnDropHandle::new(tokio::spawn(watching)),
            _logging_in: logging_in,
        })
    }
}

/// None: nobody logs in there.
fn login(config: &BridgeServerConfig) -> Result<Option<BridgeLogin>> {
    let (Some(oauth), McpTransport::Http { url, .. } | McpTransport::Sse { url, .. }) =
        (&config.oauth, &config.config.transport)
    else {
        return Ok(None);
    };
    let name = &config.name;
    let url = Url::parse(url).with_context(|| format!("the address of `{name}` is none"))?;
    Ok(Some(BridgeLogin::new(url, oauth)?))
}

/// Has somebody log in whenever the server asks for it.
async fn log_in_when_asked(server: Arc<BridgeServer>, login: BridgeLogin) {
    let name = &server.config.name;
    let mut changes = server.source.changes();
    // It may have changed before this subscribed.
    changes.mark_changed();
    while changes.changed().await.is_ok() {
        while let Some(challenge) = server.source.status().asks_login {
            match login.run(name, challenge.as_deref()).await {
                Ok(()) => {
                    tracing::info!(server = name, "logged in");
                    server.source.restart();
                    // The request for a log-in that is now answered must not trigger another one.
                    changes.mark_unchanged();
                    break;
                }
                Err(error) => {
                    tracing::warn!(server = name, "the log-in failed: {error}");
                    tokio::time::sleep(LOGIN_INTERVAL).await;
                }
            }
        }
    }
}

async fn stop_all(servers: Vec<WatchedServer>) {
    let stopping = servers.iter().map(|running| running.server.source.stop());
    join_all(stopping).await;
}

/// Publishes the routes of a server whenever they change.
async fn watch_server(server: Arc<BridgeServer>, publisher: Arc<RoutePublisher>) {
    let mut changes = server.source.changes();
    // It may have changed before this subscribed.
    changes.mark_changed();
    let mut published = None;
    let mut listed = None;
    while changes.changed().await.is_ok() {
        let status = server.source.status();
        if listed != Some(status.revision) {
            if let Err(error) = publisher.registry.refresh(&server.connection).await {
                tracing::error!(server = server.config.name, %error, "tools could not be listed");
            }
            listed = Some(status.revision);
        }
        let summary = PublishedStatus::of(&status);
        if published.as_ref() != Some(&summary) {
            log_state(&server.config.name, &status);
            publisher.publish(&server, &summary);
            published = Some(summary);
        }
    }
}

/// What routes are made of, besides the tools.
#[derive(Clone, PartialEq)]
struct PublishedStatus {
    about: Option<McpServerInfo>,
    revision: u64,
    is_settled: bool,
    is_ready: bool,
}

impl PublishedStatus {
    fn of(status: &ServerStatus) -> Self {
        Self {
            about: status.about.clone(),
            revision: status.revision,
            is_settled: status.state != SourceState::Starting,
            is_ready: status.state == SourceState::Ready,
        }
    }
}

fn log_state(server: &str, status: &ServerStatus) {
    match &status.state {
        SourceState::Ready => tracing::info!(server, tools = status.tools, "ready"),
        SourceState::Failed { why } | SourceState::Degraded { why } => {
            tracing::warn!(server, "{}", why.message);
        }
        SourceState::Starting | SourceState::Sleeping | SourceState::Off | SourceState::Offline => {
        }
    }
}

impl RoutePublisher {
    /// Keeps the routes of these servers, in this order, and drops all others.
    fn keep(&self, wanted: &[BridgeServerConfig]) {
        let mut servers = self.servers();
        let known = std::mem::take(&mut *servers);
        *servers = wanted
            .iter()
            .map(|config| {
                let name = &config.name;
                let known = known.iter().find(|routes| routes.name == *name);
                known.cloned().unwrap_or_else(|| {
                    let forwarding = config.forwarding.clone();
                    Arc::new(ServerRoutes::new(name.clone(), None, forwarding, []))
                })
            })
            .collect();
        self.swap(&servers);
    }

    fn publish(&self, server: &BridgeServer, status: &PublishedStatus) {
        let mut servers = self.servers();
        let name = &server.config.name;
        // Ignore updates of a server that was replaced or removed.
        let Some(known) = servers.iter_mut().find(|routes| routes.name == *name) else {
            return;
        };
        // A server that was up once keeps its routes while it restarts, so that calls wait for it.
        let was_listed = known.is_listed;
        let toolset = self.registry.toolset(access());
        let id = &server.source.info().id;
        let offered = toolset.sources().find(|(info, _)| info.id == *id);
        let is_enabled =
            |tool: &&Arc<Tool>| !server.config.disabled_tools.contains(&tool.spec.name);
        let tools = offered.into_iter().flat_map(|(_, tools)| tools);
        let routes = ServerRoutes::new(
            name.clone(),
            status.about.clone(),
            server.config.forwarding.clone(),
            tools.filter(is_enabled).cloned(),
        );
        *known = Arc::new(routes.with_state(
            status.is_settled || was_listed,
            status.is_ready || was_listed,
        ));
        self.swap(&servers);
    }

    fn swap(&self, servers: &[Arc<ServerRoutes>]) {
        let toolset = self.registry.toolset(access());
        let table = RouteTable::new(self.labels.clone(), toolset, servers.to_vec());
        self.routes.publish(table);
    }

    fn servers(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ServerRoutes>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Full access: the operator who configures a bridge has approved its servers.
fn access() -> ToolAccess {
    ToolAccess::all(&bridge_user(), Caller::Person)
}

/// Outputs are passed on unmodified, so nothing is stored.
struct NoOutputStore;

#[async_trait]
impl OutputStore for NoOutputStore {
    async fn put(
        &self,
        _call: &CallContext,
        _media_type: &str,
        _bytes: Vec<u8>,
    ) -> Result<BlobId, tenon_tools::Error> {
        Ok(BlobId::new("none"))
    }

    async fn get(
        &self,
        _owner: &UserId,
        _blob: &BlobId,
    ) -> Result<Option<Vec<u8>>, tenon_tools::Error> {
        Ok(None)
    }
}
