//! One MCP server in a registry, and a caller of its tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenon_domain::{
    Caller, McpConfig, McpTransport, SourceId, SourceInfo, SourceKind, SourceState, ToolAccess,
    ToolResult,
};
use tenon_sources::mcp::{McpServer, McpSettings, ServerTimeouts, StartMode};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{Network, SupervisedServer};
use tenon_tools::{CallContext, Connection, Registry};
use tokio::sync::Semaphore;

use crate::harness::{call_by_name, context, registry};

/// A Python server on a busy machine needs some seconds to say its first word.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);

pub struct McpHarness {
    pub server: Arc<McpServer>,
    pub registry: Arc<Registry>,
    pub connection: Connection,
    pub context: CallContext,
}

impl McpHarness {
    /// A program, up and listed.
    pub async fn program(command: impl AsRef<std::path::Path>, args: &[&str]) -> Self {
        Self::ready(settings(program(command, args))).await
    }

    /// Streamable HTTP, or what the address turns out to be.
    pub async fn http(url: &str) -> Self {
        Self::ready(settings(http(url))).await
    }

    /// Legacy SSE.
    pub async fn sse(url: &str) -> Self {
        Self::ready(settings(sse(url))).await
    }

    pub async fn ready(settings: McpSettings) -> Self {
        let mut harness = Self::starting(settings).await;
        harness.settle().await;
        let state = harness.server.status().state;
        let logs = harness.server.logs().lines();
        assert_eq!(state, SourceState::Ready, "{logs:#?}");
        harness
    }

    /// In the registry, whatever becomes of it.
    pub async fn starting(settings: McpSettings) -> Self {
        Self::starting_with(settings, ServerTimeouts::default()).await
    }

    pub async fn starting_with(settings: McpSettings, timeouts: ServerTimeouts) -> Self {
        // Whoever is first wins; the others find it installed.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let registry = registry(Arc::default());
        let server = McpServer::with_timeouts(settings, timeouts);
        let connection = registry.connect(server.clone()).await.unwrap();
        Self {
            server,
            registry,
            connection,
            context: context(),
        }
    }

    /// Waits until it is no longer on its way up, and lists what it has then.
    pub async fn settle(&mut self) {
        let mut changes = self.server.changes();
        let settled = async {
            // One that failed is tried some times more before that is said.
            let is_underway = |state: SourceState| {
                matches!(state, SourceState::Starting | SourceState::Degraded { .. })
            };
            while is_underway(self.server.status().state) {
                changes.changed().await.unwrap();
            }
        };
        let settled = tokio::time::timeout(TEST_TIMEOUT, settled).await;
        settled.expect("it should have come up or failed by now");
        self.registry.refresh(&self.connection).await.unwrap();
    }

    /// Calls by the name the server gave, along the one road.
    pub async fn call(&self, tool: &str, input: Value) -> ToolResult {
        self.call_as(&self.context, tool, input).await
    }

    pub async fn call_as(&self, context: &CallContext, tool: &str, input: Value) -> ToolResult {
        call_by_name(&self.registry, context, tool, input).await
    }

    /// The answer as text; the tool must not fail.
    pub async fn text(&self, tool: &str, input: Value) -> String {
        let shown = format!("{tool} {input}");
        let answer = self.call(tool, input).await;
        let output = answer.unwrap_or_else(|error| panic!("{shown}: {error:?}"));
        output.to_text()
    }

    /// The message of the failure; the tool must fail.
    pub async fn error(&self, tool: &str, input: Value) -> String {
        let shown = format!("{tool} {input}");
        let error = self.call(tool, input).await.expect_err(&shown);
        error.message
    }

    /// The names of its tools, as they stand in the registry.
    pub fn names(&self) -> Vec<String> {
        let toolset = self
            .registry
            .toolset(ToolAccess::all(&self.context.user, Caller::Person));
        let specs = toolset.specs();
        specs.iter().map(|spec| spec.name.clone()).collect()
    }
}

/// What a server is run with where nothing special is wanted.
pub fn settings(config: McpConfig) -> McpSettings {
    McpSettings {
        info: SourceInfo {
            id: SourceId::new("test"),
            kind: SourceKind::Mcp,
            name: "test".into(),
            title: "Test".into(),
            owner: None,
        },
        config,
        fill: Arc::new(LiteralConfig),
        tokens: None,
        network: Network::Anywhere,
        known: Vec::new(),
        start: StartMode::Now,
        starts: Arc::new(Semaphore::new(4)),
        viewers: tokio::sync::watch::channel(0).1,
    }
}

pub fn program(command: impl AsRef<std::path::Path>, args: &[&str]) -> McpConfig {
    config(McpTransport::Stdio {
        command: command.as_ref().to_str().unwrap().to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        env: BTreeMap::new(),
        cwd: None,
    })
}

/// One more variable for a program.
pub fn set_env(config: &mut McpConfig, name: &str, value: &str) {
    if let McpTransport::Stdio { env, .. } = &mut config.transport {
        env.insert(name.to_owned(), value.to_owned());
    }
}

/// The folder a program runs in.
pub fn set_cwd(config: &mut McpConfig, folder: &str) {
    if let McpTransport::Stdio { cwd, .. } = &mut config.transport {
        *cwd = Some(folder.to_owned());
    }
}

pub fn http(url: &str) -> McpConfig {
    config(McpTransport::Http {
        url: url.to_owned(),
        headers: BTreeMap::new(),
    })
}

pub fn sse(url: &str) -> McpConfig {
    config(McpTransport::Sse {
        url: url.to_owned(),
        headers: BTreeMap::new(),
    })
}

pub fn config(transport: McpTransport) -> McpConfig {
    McpConfig {
        transport,
        timeout_ms: None,
        tool_timeouts_ms: BTreeMap::new(),
        sleep_after_ms: None,
        start_timeout_ms: None,
        exclusive: false,
        client: None,
    }
}
