//! A registry with all built-in tools, a workspace, and a caller.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tenon_domain::source::BuiltinConfig;
use tenon_domain::{CallId, Caller, ErrorKind, ToolAccess, ToolCall, ToolId, ToolResult, UserId};
use tenon_sources::builtin;
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, Connection, MemoryOutputStore,
    MemoryToolIdStore, NoClient, OutputStore, Quota, Registry, ToolSource, Toolset,
};
use tokio_util::sync::CancellationToken;

pub struct BuiltinHarness {
    pub toolset: Toolset,
    pub context: CallContext,
    pub outputs: Arc<MemoryOutputStore>,
    folder: tempfile::TempDir,
    registry: Arc<Registry>,
    connections: Vec<Connection>,
}

impl BuiltinHarness {
    pub async fn new() -> Self {
        Self::with(BuiltinConfig::default()).await
    }

    pub async fn with(config: BuiltinConfig) -> Self {
        // Whoever is first wins; the others find it installed.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let outputs = Arc::new(MemoryOutputStore::default());
        let registry = registry(outputs.clone());
        let mut connections = Vec::new();
        for source in builtin::sources(&config, outputs.clone(), Quota::unlimited()) {
            connections.push(registry.connect(source).await.unwrap());
        }
        let folder = tempfile::tempdir().unwrap();
        let context = CallContext {
            // What a model would be asked about is not what is tried here.
            // Not made yet: the first write makes it.
            workspace: Some(folder.path().join("workspace")),
            ..context()
        };
        let toolset = registry.toolset(ToolAccess::all(&context.user, Caller::Person));
        Self {
            toolset,
            context,
            outputs,
            folder,
            registry,
            connections,
        }
    }

    /// Takes in one more source.
    pub async fn connect(&mut self, source: impl ToolSource + 'static) {
        let connection = self.registry.connect(Arc::new(source)).await.unwrap();
        self.connections.push(connection);
        self.toolset = self
            .registry
            .toolset(ToolAccess::all(&self.context.user, Caller::Person));
    }

    pub async fn call(&self, tool: &str, input: Value) -> ToolResult {
        let id = ToolId::new(format!("builtin_{tool}"));
        let call = ToolCall {
            id: CallId::new("call"),
            tool_id: id,
            input,
        };
        self.toolset.call(&call, &self.context).await
    }

    /// The answer as text; the tool must not fail.
    #[track_caller]
    pub fn text(&self, tool: &str, input: Value) -> impl Future<Output = String> {
        let shown = format!("{tool} {input}");
        let answer = self.call(tool, input);
        async move {
            let output = answer
                .await
                .unwrap_or_else(|error| panic!("{shown}: {error:?}"));
            output.to_text()
        }
    }

    /// The error's kind and message; the tool must fail.
    pub async fn error(&self, tool: &str, input: Value) -> (ErrorKind, String) {
        let shown = format!("{tool} {input}");
        let error = self.call(tool, input).await.expect_err(&shown);
        (error.kind, error.message)
    }

    pub async fn keep(&self, bytes: impl Into<Vec<u8>>) -> String {
        let kept = self
            .outputs
            .put(&self.context, "text/plain", bytes.into())
            .await;
        kept.unwrap().to_string()
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Beside the workspace, where no tool may reach.
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }
}

/// With nothing in it yet.
pub fn registry(outputs: Arc<MemoryOutputStore>) -> Arc<Registry> {
    let ids = Arc::new(MemoryToolIdStore::default());
    Registry::new(ids, outputs, CallLimits::default())
}

/// A person's own call, with nobody else there.
pub fn context() -> CallContext {
    CallContext {
        call_id: CallId::new("call"),
        origin: CallOrigin::default(),
        user: UserId::new("ada"),
        workspace: None,
        cancel: CancellationToken::new(),
        client: Arc::new(NoClient),
        timer: CallTimer::default(),
    }
}

/// Calls by the name a server gave, along the one road.
pub async fn call_by_name(
    registry: &Registry,
    context: &CallContext,
    tool: &str,
    input: Value,
) -> ToolResult {
    let toolset = registry.toolset(ToolAccess::all(&context.user, Caller::Person));
    let tools = toolset.tools();
    let found = tools.iter().find(|found| found.spec.name == tool);
    let call = ToolCall {
        id: context.call_id.clone(),
        tool_id: found.map_or_else(|| ToolId::new(tool), |found| found.spec.id.clone()),
        input,
    };
    toolset.call(&call, context).await
}

/// What people read of them in English.
pub fn sentences(errors: &[tenon_domain::ErrorDetail]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}
