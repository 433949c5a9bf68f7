//! One running server, and what follows from what it says.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{McpConfig, SourceConfig, SourceInfo, SourceState, ToolDefinition, ToolResult};
use tenon_sources::mcp::{McpServer, Settings, Start, Startup, Status};
use tenon_sources::openapi::{self, OpenapiServer};
use tenon_tools::{CallContext, Connection, ToolSource};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::config;
use super::documents::Drawer;
use super::fill::{self, Filler};
use super::plan::Wanted;
use super::running::{Known, Running, Server};
use super::view::{in_public, shown_startup};
use super::{Inner, Life, Place, lock, mask};
use crate::api::wire::SourceNews;

/// How often the changes of one server are seen to at most: one that floods us costs no more.
const BREATH: Duration = Duration::from_millis(100);

/// How often its list is written down at most: it may be long, and change all the time.
const KEEP: Duration = Duration::from_secs(60);

pub(super) struct Instance {
    pub(super) wanted: Wanted,
    pub(super) server: Server,
    /// When it was started, or given other words or secrets.
    pub(super) began: Instant,
    /// How it is, as far as that has been seen to: who reads that it is ready
    /// finds its tools in the registry.
    shown: Shown,
    held: Mutex<Option<Held>>,
}

type Shown = Arc<Mutex<Status>>;

/// What ends when an instance leaves.
struct Held {
    connection: Arc<Connection>,
    watching: JoinHandle<()>,
}

impl Instance {
    /// Starts a server and offers its tools; those it last offered, until it is up.
    /// It begins when the one before it has ended, if there was one.
    pub(super) async fn start(
        inner: &Arc<Inner>,
        wanted: Wanted,
        known: Known,
        before: Option<CancellationToken>,
    ) -> Result<Arc<Self>, tenon_tools::Error> {
        // Nobody could call what was never listed, and so nobody would ever wake it.
        let start = match inner.life.get() {
            Some(Life::Once(_)) if known.tools.is_some() => Start::OnCall,
            Some(Life::Once(_) | Life::Serving) | None => Start::Now,
        };
        let kept = known.tools.is_some().then_some(0);
        let place = place(inner, &wanted).await;
        let tokens = wanted.user.as_ref().zip(place.as_ref());
        let tokens = tokens.map(|(user, place)| inner.entrance.tokens(user, place));
        let fill = Arc::new(Filler {
            inner: Arc::downgrade(inner),
            user: wanted.user.clone(),
            trust: wanted.trust,
            place,
            before,
        });
        let info = wanted.info.clone();
        let server: Server = match &wanted.config {
            SourceConfig::Mcp(config) => McpServer::new(Settings {
                info,
                config: config.clone(),
                fill,
                tokens,
                network: wanted.network,
                known: known.tools.unwrap_or_default(),
                start,
                starts: inner.turns.of(wanted.user.as_ref()),
                viewers: inner.news.viewers(),
            }),
            SourceConfig::Openapi(config) => OpenapiServer::new(openapi::Settings {
                documents: Arc::new(Drawer::of(&inner.store, &wanted.info.id, config)),
                info,
                config: config.clone(),
                fill,
                caller: inner
                    .callers
                    .of(wanted.network)
                    .map_err(|why| tenon_tools::Error(why.into()))?,
                parses: inner
                    .parses
                    .of(wanted.info.owner.as_ref().or(wanted.user.as_ref())),
                known: known.openapi,
            }),
        };
        Self::seat(inner, wanted, server, kept).await
    }

    /// Offers the tools of a server that runs already under another title or with other limits.
    pub(super) async fn reseat(
        &self,
        inner: &Arc<Inner>,
        wanted: Wanted,
    ) -> Result<Arc<Self>, tenon_tools::Error> {
        Self::seat(inner, wanted, self.server.clone(), None).await
    }

    async fn seat(
        inner: &Arc<Inner>,
        wanted: Wanted,
        server: Server,
        kept: Option<u64>,
    ) -> Result<Arc<Self>, tenon_tools::Error> {
        let seat = Arc::new(Seat {
            info: wanted.info.clone(),
            config: wanted.config.clone(),
            server: server.clone(),
        });
        let status = server.status();
        let offered = status.revision;
        let shown = Arc::new(Mutex::new(status));
        let connection = Arc::new(inner.registry.connect(seat).await?);
        let watch = Watch {
            inner: Arc::downgrade(inner),
            wanted: wanted.clone(),
            connection: connection.clone(),
            shown: shown.clone(),
            offered,
            kept,
            kept_at: None,
            told: None,
            revision: inner.news.next_revision(),
        };
        let watching = tokio::spawn(watch.run(server.clone()));
        Ok(Arc::new(Self {
            wanted,
            server,
            began: Instant::now(),
            shown,
            held: Mutex::new(Some(Held {
                connection,
                watching,
            })),
        }))
    }

    pub(super) fn status(&self) -> Status {
        lock(&self.shown).clone()
    }

    /// Takes the tools away, and nothing it says is listened to any more.
    pub(super) async fn leave(&self) {
        let held = lock(&self.held).take();
        if let Some(Held {
            connection,
            watching,
        }) = held
        {
            watching.abort();
            let _ = watching.await;
            drop(connection);
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(held) = lock(&self.held).take() {
            held.watching.abort();
        }
    }
}

/// Where somebody is let in by what they were granted, if that is how.
async fn place(inner: &Inner, wanted: &Wanted) -> Option<Place> {
    let user = wanted.user.as_ref().filter(|_| wanted.login)?;
    let whose = (user, wanted.trust, wanted.network);
    fill::place(inner, &wanted.source, &wanted.config, whose).await
}

/// A server in the registry, under the name and with the limits it has now: those
/// change without it being started anew.
struct Seat {
    info: SourceInfo,
    config: SourceConfig,
    server: Server,
}

#[async_trait]
impl ToolSource for Seat {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.server.tools()
    }

    /// Whoever has its tools hears this.
    fn state(&self) -> SourceState {
        match self.info.owner {
            Some(_) => self.server.state(),
            None => in_public(self.server.state()),
        }
    }

    fn can_be_called(&self) -> bool {
        self.server.can_be_called()
    }

    fn unavailable(&self) -> Option<String> {
        self.server.unavailable()
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        config::deadline(&self.config, tool)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        self.server.call(tool, input, context).await
    }
}

/// Hears what a server says of itself.
struct Watch {
    inner: Weak<Inner>,
    wanted: Wanted,
    connection: Arc<Connection>,
    shown: Shown,
    /// Which list of its tools the registry has.
    offered: u64,
    /// Which the store has, if that is known.
    kept: Option<u64>,
    /// When that was written, if by this one.
    kept_at: Option<Instant>,
    /// What the pages have.
    told: Option<(SourceState, Option<Startup>, usize, u64)>,
    revision: u64,
}

impl Watch {
    async fn run(mut self, server: Server) {
        let mut changes = server.changes();
        // It may have said something before anybody listened.
        changes.mark_changed();
        loop {
            let due = self.kept_at.map(|at| at + KEEP);
            tokio::select! {
                changed = changes.changed() => if changed.is_err() {
                    return;
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            }
            let Some(inner) = self.inner.upgrade() else {
                return;
            };
            self.see_to(&inner, &*server).await;
            drop(inner);
            tokio::time::sleep(BREATH).await;
        }
    }

    async fn see_to(&mut self, inner: &Arc<Inner>, server: &dyn Running) {
        let id = &self.wanted.info.id;
        let status = server.status();
        if status.revision != self.offered {
            match inner.registry.refresh(&self.connection).await {
                Ok(()) => {
                    self.offered = status.revision;
                    self.revision = inner.news.next_revision();
                }
                Err(error) => tracing::warn!(source = %id, %error, "its tools cannot be listed"),
            }
        }
        // Once that has passed, what came meanwhile is written.
        let is_early = self.kept_at.is_some_and(|at| at.elapsed() < KEEP);
        if !is_early {
            self.kept_at = None;
        }
        let is_new = !status.stale && self.kept != Some(status.revision);
        if is_new && !is_early && config::remembers_tools(&self.wanted.config) {
            self.kept_at = Some(Instant::now());
            match inner.store.put_source_tools(id, &server.tools()).await {
                Ok(()) => self.kept = Some(status.revision),
                Err(error) => tracing::warn!(source = %id, %error, "its tools cannot be kept"),
            }
        }
        *lock(&self.shown) = status.clone();
        if let Some(challenge) = &status.asks_login
            && !self.wanted.login
        {
            self.wants_login(inner, challenge).await;
        }
        self.tell(inner, &status);
    }

    /// From now on everybody logs in there for themself.
    async fn wants_login(&self, inner: &Arc<Inner>, challenge: &Option<String>) {
        if !means_login(&self.wanted.config, challenge.as_deref()) {
            return;
        }
        let source = &self.wanted.source;
        lock(&inner.challenges).insert(source.clone(), challenge.clone());
        if let Err(error) = inner.store.set_wants_login(source, true).await {
            tracing::warn!(%source, %error, "that people log in there cannot be kept");
        }
        inner.ring();
    }

    fn tell(&mut self, inner: &Inner, status: &Status) {
        let (state, startup) = (status.state.clone(), status.startup.clone());
        let now = (state, startup, status.tools, self.revision);
        if self.told.as_ref() == Some(&now) {
            return;
        }
        let news = SourceNews {
            source_id: self.wanted.source.clone(),
            gone: false,
            state: status.state.clone(),
            startup: status.startup.clone().map(shown_startup),
            tools: status.tools,
            revision: self.revision,
        };
        inner.news.tell(self.wanted.user.clone(), news);
        self.told = Some(now);
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
    // What is sent there would take the place of what people get when they log in.
    if names.any(|name| name.eq_ignore_ascii_case("authorization")) || mask::names_user(url) {
        return false;
    }
    let may_have_key = !headers.is_empty() || mask::asks(url);
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
