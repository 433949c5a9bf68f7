//! One OpenAPI server in a registry, and a caller of its tools.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{
    Caller, ErrorDetail, OpenapiConfig, OpenapiOrigin, SourceId, SourceInfo, SourceKind,
    SourceState, ToolAccess, ToolError, ToolResult,
};
use tenon_sources::openapi::{
    DocumentRecord, DocumentStore, DocumentStoreError, OpenapiHttpClient, OpenapiServer,
    OpenapiSettings, RefreshSchedule,
};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{Network, ServerStatus, SupervisedServer};
use tenon_tools::{CallContext, Connection, Registry};
use tokio::sync::Semaphore;

use crate::harness::{call_by_name, context, registry};
use crate::mcp::harness::TEST_TIMEOUT;

/// So quick that a test need not wait, and not so quick that it asks for nothing else.
pub const QUICK: RefreshSchedule = RefreshSchedule {
    interval: Duration::from_secs(600),
    backoff: Duration::from_millis(50),
    max_backoff: Duration::from_millis(200),
    fetch_timeout: Duration::from_secs(5),
    store_timeout: Duration::from_secs(5),
};

pub struct OpenapiHarness {
    pub server: Arc<OpenapiServer>,
    pub registry: Arc<Registry>,
    pub connection: Connection,
    pub context: CallContext,
}

impl OpenapiHarness {
    /// Up and read.
    pub async fn ready(settings: OpenapiSettings) -> Self {
        let mut harness = Self::starting(settings, QUICK).await;
        harness
            .until(|status| status.state == SourceState::Ready)
            .await;
        harness
    }

    /// In the registry, whatever becomes of it.
    pub async fn starting(settings: OpenapiSettings, pace: RefreshSchedule) -> Self {
        let registry = registry(Arc::default());
        let server = OpenapiServer::with_schedule(settings, pace);
        let connection = registry.connect(server.clone()).await.unwrap();
        Self {
            server,
            registry,
            connection,
            context: context(),
        }
    }

    /// Waits until its status is as wanted, and lists what it has then.
    pub async fn until(&mut self, wanted: impl Fn(&ServerStatus) -> bool) -> ServerStatus {
        let mut changes = self.server.changes();
        let waiting = async {
            while !wanted(&self.server.status()) {
                changes.changed().await.unwrap();
            }
        };
        if tokio::time::timeout(TEST_TIMEOUT, waiting).await.is_err() {
            let (status, logs) = (self.server.status(), self.server.logs().lines());
            panic!("{status:#?}\n{logs:#?}");
        }
        self.registry.refresh(&self.connection).await.unwrap();
        self.server.status()
    }

    /// Why it cannot be used.
    pub async fn failure(&mut self) -> String {
        let status = self.until(|status| matches!(status.state, SourceState::Failed { .. }));
        match status.await.state {
            SourceState::Failed { why } => why.message,
            other => panic!("{other:?}"),
        }
    }

    /// Calls by the name the server gave, along the one road.
    pub async fn call(&self, tool: &str, input: Value) -> ToolResult {
        call_by_name(&self.registry, &self.context, tool, input).await
    }

    /// The answer as text; the tool must not fail.
    pub async fn text(&self, tool: &str, input: Value) -> String {
        let shown = format!("{tool} {input}");
        let answer = self.call(tool, input).await;
        let output = answer.unwrap_or_else(|error| panic!("{shown}: {error:?}"));
        output.to_text()
    }

    /// The failure; the tool must fail.
    pub async fn error(&self, tool: &str, input: Value) -> ToolError {
        let shown = format!("{tool} {input}");
        self.call(tool, input).await.expect_err(&shown)
    }

    /// The names of its tools, as they stand in the registry.
    pub fn names(&self) -> Vec<String> {
        let toolset = self
            .registry
            .toolset(ToolAccess::all(&self.context.user, Caller::Person));
        let tools = toolset.listed();
        tools.iter().map(|tool| tool.spec.name.clone()).collect()
    }

    pub fn log(&self) -> String {
        let lines = self.server.logs().lines();
        let texts: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        texts.join("\n")
    }
}

/// What a server is run with where nothing special is wanted.
pub fn settings(config: OpenapiConfig) -> OpenapiSettings {
    settings_in(config, Network::Anywhere, Arc::default())
}

pub fn settings_in(
    config: OpenapiConfig,
    network: Network,
    documents: Arc<MemoryDocuments>,
) -> OpenapiSettings {
    OpenapiSettings {
        info: SourceInfo {
            id: SourceId::new("test"),
            kind: SourceKind::Openapi,
            name: "test".into(),
            title: "Test".into(),
            owner: None,
        },
        config,
        fill: Arc::new(LiteralConfig),
        documents,
        http: caller(network),
        parses: parses(),
        inherited: None,
    }
}

/// How many documents are parsed at once.
pub fn parses() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(1))
}

pub fn caller(network: Network) -> OpenapiHttpClient {
    // Whoever is first wins; the others find it installed.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    OpenapiHttpClient::new(network).unwrap()
}

pub fn at(url: &str) -> OpenapiConfig {
    OpenapiConfig::new(OpenapiOrigin::Url {
        url: url.to_owned(),
    })
}

pub fn given() -> OpenapiConfig {
    OpenapiConfig::new(OpenapiOrigin::Uploaded {
        document_hash: "hash".into(),
    })
}

/// What is kept, as long as the test runs.
#[derive(Debug, Default)]
pub struct MemoryDocuments {
    pub kept: Mutex<Vec<DocumentRecord>>,
    /// How often something was.
    pub times: Mutex<usize>,
    /// How often it cannot be done first.
    pub failures: Mutex<usize>,
}

impl MemoryDocuments {
    pub fn with(body: impl ToString) -> Arc<Self> {
        let documents = Self::default();
        documents.kept.lock().unwrap().push(DocumentRecord {
            name: String::new(),
            url: String::new(),
            body: body.to_string().into_bytes(),
            etag: None,
            last_modified: None,
            fetched_at: std::time::SystemTime::UNIX_EPOCH,
        });
        Arc::new(documents)
    }

    pub fn names(&self) -> Vec<String> {
        let kept = self.kept.lock().unwrap();
        kept.iter().map(|kept| kept.name.clone()).collect()
    }
}

#[async_trait]
impl DocumentStore for MemoryDocuments {
    async fn load(&self) -> Result<Vec<DocumentRecord>, DocumentStoreError> {
        Ok(self.kept.lock().unwrap().clone())
    }

    async fn store(
        &self,
        documents: Vec<DocumentRecord>,
        names: Vec<String>,
    ) -> Result<(), DocumentStoreError> {
        let mut failures = self.failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return Err(DocumentStoreError(ErrorDetail::other("No room.")));
        }
        let mut kept = self.kept.lock().unwrap();
        kept.retain(|old| {
            names.contains(&old.name) && !documents.iter().any(|new| new.name == old.name)
        });
        kept.extend(documents);
        *self.times.lock().unwrap() += 1;
        Ok(())
    }
}
