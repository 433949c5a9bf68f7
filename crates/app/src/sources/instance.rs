//! One running server: its place in the registry, and a watcher that publishes its changes.

use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{
    ErrorDetail, InputSchema, McpConfig, SourceConfig, SourceInfo, SourceState, ToolDefinition,
    ToolResult,
};
use tenon_sources::mcp::{McpServer, McpSettings, StartMode};
use tenon_sources::openapi::{InheritedState, OpenapiServer, OpenapiSettings};
use tenon_sources::{RemoteServer, ServerStatus, Startup, SupervisedServer};
use tenon_store::LeaseHolder;
use tenon_tools::{CallContext, Connection, ContextSource, ToolSource};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::config;
use super::documents::SourceDocuments;
use super::fill::{self, VariableFiller};
use super::plan::DesiredServer;
use super::status_view::{StartupView, public_state};
use super::{Inner, LoginTarget, RunMode, STOP_TIMEOUT, lock, mask};
use crate::sources::read_model::SourceUpdate;

/// How often the changes of one server are seen to at most: one that floods us costs no more.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// How often its list is written down at most: it may be long, and change all the time.
const TOOLS_WRITE_INTERVAL: Duration = Duration::from_secs(60);

pub(super) struct Instance {
    pub(super) wanted: DesiredServer,
    pub(super) server: Arc<dyn SupervisedServer>,
    /// The same, if it is an OpenAPI server.
    pub(super) openapi: Option<Arc<OpenapiServer>>,
    /// When it was started, or given other words or secrets.
    pub(super) began: Instant,
    /// How it is, as far as that has been seen to: who reads that it is ready
    /// finds its tools in the registry.
    shared_status: SharedStatus,
    tasks: Mutex<Option<InstanceTasks>>,
    ending: Ending,
}

/// The end of a server, which may be registered again under another title meanwhile.
#[derive(Clone)]
struct Ending {
    /// Cancelled when the replaced instance has stopped.
    before: Option<CancellationToken>,
    /// Done when it has ended itself, from when on it is being ended.
    ended: Arc<OnceLock<CancellationToken>>,
}

impl Ending {
    fn after(before: Option<CancellationToken>) -> Self {
        Self {
            before,
            ended: Arc::default(),
        }
    }
}

type SharedStatus = Arc<Mutex<ServerStatus>>;

/// What is known of what a server offers, before it is up.
#[derive(Default)]
pub(super) struct KnownTools {
    pub(super) tools: Option<Vec<ToolDefinition>>,
    /// Its tools are made of its documents, for which no list of them would do.
    pub(super) openapi: Option<InheritedState>,
}

/// Tasks that are aborted when the instance is dropped.
struct InstanceTasks {
    connection: Arc<Connection>,
    watching: JoinHandle<()>,
}

impl Instance {
    /// Starts a server and offers its tools; those it last offered, until it is up.
    /// It begins when the one before it has ended, if there was one.
    pub(super) async fn start(
        inner: &Arc<Inner>,
        wanted: DesiredServer,
        known: KnownTools,
        before: Option<CancellationToken>,
    ) -> Result<Arc<Self>, tenon_tools::Error> {
        // A server without known tools must be started now: tools that are not listed cannot be
        // called, and only calls start it later.
        let start = match inner.run_mode.get() {
            Some(RunMode::Once(_)) if known.tools.is_some() => StartMode::OnCall,
            Some(RunMode::Once(_) | RunMode::Serving) | None => StartMode::Now,
        };
        let stored = known.tools.is_some().then_some(0);
        let target = login_target(inner, &wanted).await;
        let tokens = wanted.user.as_ref().zip(target.as_ref());
        let tokens = tokens.map(|(user, target)| inner.oauth.tokens(user, target));
        let fill = Arc::new(VariableFiller {
            inner: Arc::downgrade(inner),
            user: wanted.user.clone(),
            trust: wanted.trust,
            target,
            before: before.clone(),
        });
        let info = wanted.info.clone();
        if wanted.runs_at != LeaseHolder::This {
            let holder = match &wanted.runs_at {
                LeaseHolder::Other(name) => Some(name.clone()),
                LeaseHolder::This | LeaseHolder::Unknown => None,
            };
            let (routes, known) = (inner.routes.clone(), known.tools.unwrap_or_default());
            let server = Arc::new(RemoteServer::start(info, holder, routes, known));
            let ending = Ending::after(before);
            return Self::register(inner, wanted, (server, None), stored, ending).await;
        }
        match &wanted.config {
            SourceConfig::Mcp(config) => {
                let server = McpServer::new(McpSettings {
                    info,
                    config: config.clone(),
                    fill,
                    tokens,
                    network: wanted.network,
                    known: known.tools.unwrap_or_default(),
                    start,
                    starts: inner.start_permits.of(wanted.user.as_ref()),
                    viewers: inner.updates.subscribers(),
                });
                let ending = Ending::after(before);
                Self::register(inner, wanted, (server, None), stored, ending).await
            }
            SourceConfig::Openapi(config) => {
                let server = OpenapiServer::new(OpenapiSettings {
                    documents: Arc::new(SourceDocuments::of(&inner.store, &wanted.info.id, config)),
                    info,
                    config: config.clone(),
                    fill,
                    http: inner
                        .callers
                        .of(wanted.network)
                        .map_err(|error| tenon_tools::Error(error.into()))?,
                    parses: inner.parse_permits.of(wanted
                        .info
                        .owner
                        .as_ref()
                        .or(wanted.user.as_ref())),
                    inherited: known.openapi,
                });
                let ending = Ending::after(before);
                Self::register(
                    inner,
                    wanted,
                    (server.clone(), Some(server)),
                    stored,
                    ending,
                )
                .await
            }
        }
    }

    /// Offers the tools of a server that runs already under another title or with other limits.
    pub(super) async fn reregister(
        &self,
        inner: &Arc<Inner>,
        wanted: DesiredServer,
    ) -> Result<Arc<Self>, tenon_tools::Error> {
        self.server.set_timeouts(config::timeouts(&wanted.config));
        let server = (self.server.clone(), self.openapi.clone());
        Self::register(inner, wanted, server, None, self.ending.clone()).await
    }

    async fn register(
        inner: &Arc<Inner>,
        wanted: DesiredServer,
        (server, openapi): (Arc<dyn SupervisedServer>, Option<Arc<OpenapiServer>>),
        stored: Option<u64>,
        ending: Ending,
    ) -> Result<Arc<Self>, tenon_tools::Error> {
        let registered = Arc::new(RegistryEntry {
            info: wanted.info.clone(),
            config: wanted.config.clone(),
            server: server.clone(),
        });
        server.set_trusted_hints(wanted.trust_hints);
        let status = server.status();
        let offered = status.revision;
        let shared_status = Arc::new(Mutex::new(status));
        let connection = Arc::new(inner.registry.connect(registered).await?);
        let watch = InstanceWatcher {
            inner: Arc::downgrade(inner),
            wanted: wanted.clone(),
            connection: connection.clone(),
            shared_status: shared_status.clone(),
            offered,
            stored,
            stored_at: None,
            published: None,
            revision: inner.updates.next_revision(),
        };
        let watching = tokio::spawn(watch.run(server.clone()));
        Ok(Arc::new(Self {
            wanted,
            server,
            openapi,
            began: Instant::now(),
            shared_status,
            tasks: Mutex::new(Some(InstanceTasks {
                connection,
                watching,
            })),
            ending,
        }))
    }

    /// Ends its server on the side. Tells when it and those before it have ended.
    pub(super) fn end(&self, inner: &Inner) -> CancellationToken {
        let ended = self.ending.ended.get_or_init(|| {
            let ended = CancellationToken::new();
            let (server, before) = (self.server.clone(), self.ending.before.clone());
            let guard = ended.clone().drop_guard();
            inner.stopping.spawn(async move {
                let _guard = guard;
                let _ = timeout(STOP_TIMEOUT, server.stop()).await;
                if let Some(before) = before {
                    before.cancelled().await;
                }
            });
            ended
        });
        ended.clone()
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ending.ended.get().is_some()
    }

    /// The known tools, for the instance that replaces this one.
    pub(super) fn known_tools(&self) -> KnownTools {
        let openapi = self.openapi.as_ref();
        KnownTools {
            tools: Some(self.server.tools()),
            openapi: openapi.and_then(|server| server.inherited_state()),
        }
    }

    pub(super) fn status(&self) -> ServerStatus {
        lock(&self.shared_status).clone()
    }

    /// Takes the tools away, and nothing it says is listened to any more.
    pub(super) async fn disconnect(&self) {
        let tasks = lock(&self.tasks).take();
        if let Some(InstanceTasks {
            connection,
            watching,
        }) = tasks
        {
            watching.abort();
            let _ = watching.await;
            drop(connection);
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(tasks) = lock(&self.tasks).take() {
            tasks.watching.abort();
        }
    }
}

/// Where this user logs in with OAuth, if the server asks for that.
async fn login_target(inner: &Inner, wanted: &DesiredServer) -> Option<LoginTarget> {
    let user = wanted.user.as_ref().filter(|_| wanted.login)?;
    let whose = (user, wanted.trust, wanted.network);
    fill::login_target(inner, &wanted.source, &wanted.config, whose).await
}

/// A server in the registry. Its name, limits and trust can change without a restart.
struct RegistryEntry {
    info: SourceInfo,
    config: SourceConfig,
    server: Arc<dyn SupervisedServer>,
}

#[async_trait]
impl ToolSource for RegistryEntry {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.server.tools()
    }

    fn output_schema(&self, tool: &str) -> Option<InputSchema> {
        self.server.output_schema(tool)
    }

    /// Everybody who has its tools sees this.
    fn state(&self) -> SourceState {
        match self.info.owner {
            Some(_) => self.server.state(),
            None => public_state(self.server.state()),
        }
    }

    fn can_be_called(&self) -> bool {
        self.server.can_be_called()
    }

    fn unavailable(&self) -> Option<ErrorDetail> {
        self.server.unavailable()
    }

    fn has_trusted_hints(&self) -> bool {
        self.server.has_trusted_hints()
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        config::timeouts(&self.config).of(tool)
    }

    fn context(&self) -> Option<&dyn ContextSource> {
        self.server.context()
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        self.server.call(tool, input, context).await
    }
}

/// Follows the changes of a server: registers its tools, stores them, publishes its status.
struct InstanceWatcher {
    inner: Weak<Inner>,
    wanted: DesiredServer,
    connection: Arc<Connection>,
    shared_status: SharedStatus,
    /// Revision of the tool list that the registry has.
    offered: u64,
    /// Revision of the tool list in the store, if known.
    stored: Option<u64>,
    /// When that was written, if by this one.
    stored_at: Option<Instant>,
    /// State last published to the pages.
    published: Option<(SourceState, Option<Startup>, usize, u64)>,
    revision: u64,
}

impl InstanceWatcher {
    async fn run(mut self, server: Arc<dyn SupervisedServer>) {
        let mut changes = server.changes();
        // It may have changed before this subscribed.
        changes.mark_changed();
        loop {
            let due = self.stored_at.map(|at| at + TOOLS_WRITE_INTERVAL);
            tokio::select! {
                changed = changes.changed() => if changed.is_err() {
                    return;
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            }
            let Some(inner) = self.inner.upgrade() else {
                return;
            };
            self.on_change(&inner, &*server).await;
            drop(inner);
            tokio::time::sleep(UPDATE_INTERVAL).await;
        }
    }

    async fn on_change(&mut self, inner: &Arc<Inner>, server: &dyn SupervisedServer) {
        let id = &self.wanted.info.id;
        let status = server.status();
        if status.revision != self.offered {
            match inner.registry.refresh(&self.connection).await {
                Ok(()) => {
                    self.offered = status.revision;
                    self.revision = inner.updates.next_revision();
                }
                Err(error) => tracing::warn!(source = %id, %error, "its tools cannot be listed"),
            }
        }
        // Changes are written after the interval, all at once.
        let is_early = self
            .stored_at
            .is_some_and(|at| at.elapsed() < TOOLS_WRITE_INTERVAL);
        if !is_early {
            self.stored_at = None;
        }
        let is_new = !status.stale && self.stored != Some(status.revision);
        if is_new && !is_early && config::remembers_tools(&self.wanted.config) {
            self.stored_at = Some(Instant::now());
            match inner.store.put_source_tools(id, &server.tools()).await {
                Ok(()) => self.stored = Some(status.revision),
                Err(error) => tracing::warn!(source = %id, %error, "its tools cannot be kept"),
            }
        }
        *lock(&self.shared_status) = status.clone();
        if let Some(challenge) = &status.asks_login
            && !self.wanted.login
        {
            self.require_login(inner, challenge).await;
        }
        self.publish(inner, &status);
    }

    /// From now on everybody logs in there for themself.
    async fn require_login(&self, inner: &Arc<Inner>, challenge: &Option<String>) {
        if !means_login(&self.wanted.config, challenge.as_deref()) {
            return;
        }
        let source = &self.wanted.source;
        lock(&inner.challenges).insert(source.clone(), challenge.clone());
        if let Err(error) = inner.store.set_wants_login(source, true).await {
            tracing::warn!(%source, %error, "that people log in there cannot be kept");
        }
        inner.request_sync();
    }

    fn publish(&mut self, inner: &Inner, status: &ServerStatus) {
        let (state, startup) = (status.state.clone(), status.startup.clone());
        let now = (state, startup, status.tools, self.revision);
        if self.published.as_ref() == Some(&now) {
            return;
        }
        let update = SourceUpdate {
            source_id: self.wanted.source.clone(),
            gone: false,
            state: status.state.clone(),
            startup: status.startup.clone().map(StartupView::from),
            tools: status.tools,
            revision: self.revision,
        };
        inner.updates.publish(self.wanted.user.clone(), update);
        self.published = Some(now);
    }
}

/// Whether a server that asks who comes wants people to log in. One that was given
/// a key may have a wrong one.
fn means_login(config: &SourceConfig, challenge: Option<&str>) -> bool {
    use tenon_domain::McpTransport::{Http, Sse};
    let SourceConfig::Mcp(McpConfig {
        transport: Http { url, headers } | Sse { url, headers },
        ..
    }) = config
    else {
        return false;
    };
    let mut names = headers.keys();
    // A configured `Authorization` header would replace the token from a log-in.
    if names.any(|name| name.eq_ignore_ascii_case("authorization")) || mask::names_user(url) {
        return false;
    }
    let may_have_key = !headers.is_empty() || mask::has_query_values(url);
    let says_where = challenge.is_some_and(|challenge| challenge.contains("resource_metadata"));
    !may_have_key || says_where
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_that_is_refused_is_no_question_for_a_log_in() {
        let check = |transport: &str, url: &str, header: &str, plainly: bool, with_where: bool| {
            let headers = match header {
                "" => json!({}),
                name => json!({ name: "${K}" }),
            };
            let config = json!({"transport": transport, "url": url, "headers": headers});
            let config = SourceConfig::Mcp(serde_json::from_value(config).unwrap());
            let place = "Bearer resource_metadata=\"https://a.example/meta\"";
            let found = [None, Some("Bearer"), Some(place)].map(|said| means_login(&config, said));
            assert_eq!(found, [plainly, plainly, with_where], "{url} {header}");
        };
        check("http", "https://a.example/mcp", "", true, true);
        check("sse", "https://a.example/mcp?flat", "", true, true);
        check("http", "https://a.example/mcp", "X-Key", false, true);
        check("http", "https://a.example/mcp?key=${K}", "", false, true);
        check("http", "https://${K}@a.example/mcp", "", false, false);
        check(
            "http",
            "https://a.example/mcp",
            "authorization",
            false,
            false,
        );
        let program = json!({"transport": "stdio", "command": "run", "args": [], "env": {}});
        let program = SourceConfig::Mcp(serde_json::from_value(program).unwrap());
        assert!(!means_login(&program, None));
    }
}
