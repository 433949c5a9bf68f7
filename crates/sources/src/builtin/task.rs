//! Tools that a task asks for by name, offered as `local-<tool>`.
//!
//! They are not in the registry: each run has its own. Those that a chat has too are the same ones.

mod navigation;
mod overlong;
mod python;
mod text_pattern;

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::source::{BuiltinConfig, WebSearchConfig};
use tenon_domain::{SourceId, SourceInfo, SourceKind, ToolDefinition};
use tenon_tools::OutputStore;

use super::{AnyTool, BuiltinSource, READS_ONLY, flow, web};

pub use navigation::{Navigation, NavigationAction, PageSessions};
pub use text_pattern::TextPattern;

/// Toolathlon's prefix for these tools. It has nothing to do with tools on a person's own machine.
const NAME: &str = "local";

impl BuiltinSource {
    /// Tools that need no approval.
    pub fn for_task(tools: Vec<Box<dyn AnyTool>>) -> Self {
        Self::of_task("task:local", SourceKind::Builtin, tools)
    }

    /// Tools that run what a model wrote: like the scripts of a skill, only with approval.
    pub fn for_task_scripts(tools: Vec<Box<dyn AnyTool>>) -> Self {
        Self::of_task("task:scripts", SourceKind::Skill, tools)
    }

    fn of_task(id: &str, kind: SourceKind, tools: Vec<Box<dyn AnyTool>>) -> Self {
        let info = SourceInfo {
            id: SourceId::new(id),
            kind,
            name: NAME.into(),
            title: "Local".into(),
            owner: None,
        };
        Self {
            is_asked_for: true,
            ..Self::with_info(info, tools)
        }
    }
}

pub fn claim_done() -> Box<dyn AnyTool> {
    Box::new(flow::ClaimDone)
}

pub fn sleep() -> Box<dyn AnyTool> {
    Box::new(flow::Sleep)
}

pub fn python_execute() -> Box<dyn AnyTool> {
    Box::new(python::PythonExecute)
}

pub fn web_search(config: WebSearchConfig) -> Box<dyn AnyTool> {
    web::web_search(config)
}

pub fn fetch_url(config: &BuiltinConfig) -> Box<dyn AnyTool> {
    web::fetch_url(config)
}

/// Tools that page through outputs that were too long to show, and search in them.
pub fn overlong_outputs(outputs: Arc<dyn OutputStore>) -> Vec<Box<dyn AnyTool>> {
    overlong::tools(outputs)
}

/// A tool that changes nothing, with these properties of its input and no others.
pub fn definition(
    name: &str,
    title: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        title: Some(title.into()),
        description: description.into(),
        input_schema: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
        .into(),
        annotations: READS_ONLY,
    }
}
