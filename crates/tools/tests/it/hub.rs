//! A hub with a source whose tools misbehave on purpose.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_domain::{
    Annotations, CallId, Caller, ErrorDetail, FormRequest, SourceId, SourceInfo, SourceKind,
    SourceState, ToolAccess, ToolCall, ToolDefinition, ToolError, ToolId, ToolOutput, ToolResult,
    UserId,
};
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, MemoryOutputStore, MemoryToolIdStore, NoClient,
    ProgressUpdate, Registry, Relevance, ToolSource,
};
use tokio_util::sync::CancellationToken;

pub struct Hub {
    pub registry: Arc<Registry>,
    pub outputs: Arc<MemoryOutputStore>,
}

impl Hub {
    pub fn new() -> Self {
        Self::showing(100)
    }

    /// One that cuts outputs after so many bytes.
    pub fn showing(shown_bytes: usize) -> Self {
        let outputs = Arc::new(MemoryOutputStore::default());
        let limits = CallLimits {
            idle_timeout: Duration::from_millis(50),
            shown_bytes,
            image_bytes: 100,
            total_timeout: Duration::from_secs(1),
        };
        let registry = Registry::new(
            Arc::new(MemoryToolIdStore::default()),
            outputs.clone(),
            limits,
        );
        Self { registry, outputs }
    }

    /// What Ada gets when a model calls a tool for her.
    pub async fn call(&self, tool: &str, input: Value) -> ToolResult {
        self.registry
            .toolset(by_model())
            .call(&call(tool, input), &context())
            .await
    }
}

pub fn ada() -> UserId {
    UserId::new("ada")
}

/// Ada's tools, called by a model of hers that can ask.
pub fn by_model() -> ToolAccess {
    ToolAccess::all(&ada(), Caller::chat_model())
}

pub fn call(tool: &str, input: Value) -> ToolCall {
    ToolCall {
        id: CallId::new("c"),
        tool_id: ToolId::new(tool),
        input,
    }
}

pub fn context() -> CallContext {
    CallContext {
        call_id: CallId::new("c"),
        origin: CallOrigin::default(),
        user: ada(),
        workspace: None,
        cancel: CancellationToken::new(),
        client: Arc::new(NoClient),
        timer: CallTimer::default(),
    }
}

/// A source whose tools are named after what they do.
pub struct Odd {
    pub info: SourceInfo,
    pub names: Vec<&'static str>,
    pub has_trusted_hints: bool,
    /// What all of its tools wrap.
    pub wraps: Option<&'static str>,
    pub state: Mutex<SourceState>,
    pub unavailable: Mutex<Option<ErrorDetail>>,
}

impl Odd {
    pub fn new(name: &str, names: &[&'static str]) -> Self {
        let info = SourceInfo {
            id: SourceId::new(name),
            kind: SourceKind::Mcp,
            name: name.into(),
            title: format!("The {name}"),
            owner: None,
        };
        Self {
            info,
            names: names.to_vec(),
            has_trusted_hints: true,
            wraps: None,
            state: Mutex::new(SourceState::Ready),
            unavailable: Mutex::default(),
        }
    }

    pub fn of(mut self, owner: &UserId) -> Self {
        self.info.owner = Some(owner.clone());
        self
    }
}

#[async_trait]
impl ToolSource for Odd {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |name: &&str| ToolDefinition {
            name: (*name).into(),
            title: None,
            description: String::new(),
            input_schema: json!({
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
            })
            .into(),
            annotations: Annotations {
                // What only reads may be used without asking.
                read_only: true,
                ..Annotations::default()
            },
        };
        self.names.iter().map(tool).collect()
    }

    fn state(&self) -> SourceState {
        self.state.lock().unwrap().clone()
    }

    fn has_trusted_hints(&self) -> bool {
        self.has_trusted_hints
    }

    fn wraps(&self, _tool: &str) -> Option<String> {
        self.wraps.map(str::to_owned)
    }

    fn relevance(&self, tool: &str) -> Relevance {
        if tool.starts_with("skill_") {
            Relevance::TellsOfSource
        } else {
            Relevance::Always
        }
    }

    fn unavailable(&self) -> Option<ErrorDetail> {
        self.unavailable.lock().unwrap().clone()
    }

    /// Long enough that a busy machine is not taken for a silent tool.
    fn deadline(&self, tool: &str) -> Option<Duration> {
        (tool == "work").then_some(Duration::from_millis(250))
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let text = input["text"].as_str().unwrap_or_default();
        match tool {
            "echo" => Ok(ToolOutput::text(text)),
            "hang" => std::future::pending().await,
            "work" => {
                for progress in 0..text.parse().unwrap() {
                    context.progress(ProgressUpdate {
                        progress: f64::from(progress),
                        total: None,
                        message: None,
                    });
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Ok(ToolOutput::text("done"))
            }
            "inquire" => {
                let wants = FormRequest::Fields { schema: json!({}) };
                let answer = context.ask(text.into(), wants).await;
                Ok(ToolOutput::text(format!("{:?}", answer.outcome())))
            }
            "panic" => panic!("on purpose"),
            "flood" => Ok(ToolOutput::text("好\n".repeat(50 * 1024 * 1024 / 4))),
            "garbage" => Ok(ToolOutput::text_from_bytes(b"good \xff\xfe bad")),
            "fail" => Err(ToolError::failed("x".repeat(10_000))),
            other => Err(ToolError::failed(format!(
                "{} has no {other}",
                self.info.name
            ))),
        }
    }
}
