//! The tools that come with Tenon: real ones, that need no server, no key and no setup.
//!
//! A tool is one [`BuiltinTool`]: its definition and its work stand side by
//! side. Tools that belong together make one source, which is a table of them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tenon_domain::source::BuiltinConfig;
use tenon_domain::{
    Annotations, ErrorKind, SourceId, SourceInfo, SourceKind, ToolDefinition, ToolError, ToolResult,
};
use tenon_tools::{CallContext, OutputStore, Quota, Relevance, ToolSource};
use url::Url;

pub mod task;

mod files;
mod flow;
mod math;
mod results;
mod time;
mod web;

mod blocking;
mod matcher;

/// All built-in sources. Outputs that were too long to show are read back from `shelf`;
/// files are written as far as `quota` allows.
pub fn sources(
    config: &BuiltinConfig,
    outputs: Arc<dyn OutputStore>,
    quota: Arc<Quota>,
) -> Vec<Arc<dyn ToolSource>> {
    let all = [
        BuiltinSource::new("time", "Time", time::tools()),
        BuiltinSource::new("math", "Math", math::tools()),
        BuiltinSource::new("files", "Files", files::tools(quota)),
        BuiltinSource::new("web", "Web", web::tools(config)),
        BuiltinSource::new("flow", "Flow", flow::tools()),
        BuiltinSource::new("results", "Results", results::tools(outputs)),
    ];
    all.into_iter()
        .map(|source| Arc::new(source) as Arc<dyn ToolSource>)
        .collect()
}

/// A table of tools under one title.
pub struct BuiltinSource {
    info: SourceInfo,
    tools: Vec<(ToolDefinition, Box<dyn AnyTool>)>,
    /// Whether the user added this source on purpose: then a model is offered all of its tools, not
    /// only those that fit the conversation.
    is_asked_for: bool,
}

/// One tool. Its schema and its `Input` are two descriptions of one thing:
/// what fits the schema must deserialise.
#[async_trait]
pub trait BuiltinTool: Send + Sync {
    type Input: DeserializeOwned + Send;

    fn definition(&self) -> ToolDefinition;

    /// Further words to find it by; see [`ToolSource::keywords`].
    fn keywords(&self) -> &'static str {
        ""
    }

    fn relevance(&self) -> Relevance {
        Relevance::Always
    }

    /// How long a call may take, where it differs from the hub's default.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// Where a call would go because its input says so; see [`ToolSource::address`].
    fn address(&self, _input: &Value) -> Option<Url> {
        None
    }

    async fn run(&self, input: Self::Input, context: &CallContext) -> ToolResult;
}

/// A [`BuiltinTool`] that has forgotten its input type, so that a table can hold it.
#[async_trait]
pub trait AnyTool: Send + Sync {
    fn definition(&self) -> ToolDefinition;
    fn keywords(&self) -> &'static str;
    fn relevance(&self) -> Relevance;
    fn deadline(&self) -> Option<Duration>;
    fn address(&self, input: &Value) -> Option<Url>;
    async fn run(&self, input: Value, context: &CallContext) -> ToolResult;
}

/// For tools that look and leave no trace.
pub const READS_ONLY: Annotations = Annotations {
    read_only: true,
    destructive: false,
    idempotent: true,
    open_world: false,
    ends_turn: false,
    deprecated: false,
};

impl BuiltinSource {
    fn new(name: &str, title: &str, tools: Vec<Box<dyn AnyTool>>) -> Self {
        let info = SourceInfo {
            id: SourceId::new(format!("builtin:{name}")),
            kind: SourceKind::Builtin,
            name: name.to_owned(),
            title: title.to_owned(),
            owner: None,
        };
        Self::with_info(info, tools)
    }

    fn with_info(info: SourceInfo, tools: Vec<Box<dyn AnyTool>>) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.definition(), tool));
        Self {
            info,
            tools: tools.collect(),
            is_asked_for: false,
        }
    }

    fn get(&self, name: &str) -> Option<&dyn AnyTool> {
        let (_, tool) = self
            .tools
            .iter()
            .find(|(definition, _)| definition.name == name)?;
        Some(&**tool)
    }
}

#[async_trait]
impl ToolSource for BuiltinSource {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.tools
            .iter()
            .map(|(definition, _)| definition.clone())
            .collect()
    }

    fn keywords(&self, tool: &str) -> &str {
        self.get(tool).map_or("", AnyTool::keywords)
    }

    fn relevance(&self, tool: &str) -> Relevance {
        let tool = self.get(tool).filter(|_| !self.is_asked_for);
        tool.map_or(Relevance::Always, AnyTool::relevance)
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        self.get(tool)?.deadline()
    }

    fn address(&self, tool: &str, input: &Value) -> Option<Url> {
        self.get(tool)?.address(input)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        match self.get(tool) {
            Some(tool) => tool.run(input, context).await,
            None => Err(ToolError::new(
                ErrorKind::UnknownTool,
                format!("{} has no tool `{tool}`.", self.info.title),
            )),
        }
    }
}

#[async_trait]
impl<T: BuiltinTool> AnyTool for T {
    fn definition(&self) -> ToolDefinition {
        BuiltinTool::definition(self)
    }

    fn keywords(&self) -> &'static str {
        BuiltinTool::keywords(self)
    }

    fn relevance(&self) -> Relevance {
        BuiltinTool::relevance(self)
    }

    fn deadline(&self) -> Option<Duration> {
        BuiltinTool::deadline(self)
    }

    fn address(&self, input: &Value) -> Option<Url> {
        BuiltinTool::address(self, input)
    }

    async fn run(&self, input: Value, context: &CallContext) -> ToolResult {
        let input = serde_json::from_value(input).map_err(|error| {
            ToolError::invalid_input(format!("The input does not fit this tool: {error}."))
        })?;
        BuiltinTool::run(self, input, context).await
    }
}

impl std::fmt::Debug for BuiltinSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BuiltinSource").field(&self.info.id).finish()
    }
}
