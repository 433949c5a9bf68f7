//! The local tools that a task can ask for, under the keys and names of Toolathlon.

mod context;
mod history;
mod summary;

use std::sync::Arc;

use tenon_agent::ContextWindow;
use tenon_domain::source::{BuiltinConfig, WebSearchConfig};
use tenon_llm::Provider;
use tenon_sources::builtin::{AnyTool, BuiltinSource, task};
use tenon_tools::{OutputStore, ToolSource};

use super::TaskError;

/// The id of the tool that says a task is done.
pub const CLAIM_DONE: &str = "local-claim_done";

/// A key of `needed_local_tools`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskBuiltin {
    ClaimDone,
    Sleep,
    PythonExecute,
    WebSearch,
    AiWebpageSummary,
    ManageContext,
    History,
    OverlongOutputs,
}

/// What the tools of one run work with.
pub(super) struct TaskBuiltinContext {
    pub(super) outputs: Arc<dyn OutputStore>,
    pub(super) builtin: BuiltinConfig,
    /// None: no key is set.
    pub(super) web_search: Option<WebSearchConfig>,
    pub(super) context: Arc<ContextWindow>,
    pub(super) model: Arc<dyn Provider>,
}

impl TaskBuiltin {
    const ALL: [Self; 8] = [
        Self::ClaimDone,
        Self::Sleep,
        Self::PythonExecute,
        Self::WebSearch,
        Self::AiWebpageSummary,
        Self::ManageContext,
        Self::History,
        Self::OverlongOutputs,
    ];

    pub fn key(self) -> &'static str {
        match self {
            Self::ClaimDone => "claim_done",
            Self::Sleep => "sleep",
            Self::PythonExecute => "python_execute",
            Self::WebSearch => "web_search",
            Self::AiWebpageSummary => "ai_webpage_summary",
            Self::ManageContext => "manage_context",
            Self::History => "history",
            Self::OverlongOutputs => "handle_overlong_tool_outputs",
        }
    }

    pub(super) fn read_all(keys: &[String]) -> Result<Vec<Self>, TaskError> {
        let mut tools = Vec::new();
        for key in keys {
            let tool = Self::ALL.into_iter().find(|tool| tool.key() == key);
            let tool = tool.ok_or_else(|| TaskError::UnknownTaskBuiltin {
                name: key.clone(),
                known: Self::ALL.map(Self::key).join(", "),
            })?;
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        Ok(tools)
    }

    fn tools(self, builtin_context: &TaskBuiltinContext) -> Vec<Box<dyn AnyTool>> {
        match self {
            Self::ClaimDone => vec![task::claim_done()],
            Self::Sleep => vec![task::sleep()],
            Self::PythonExecute => vec![task::python_execute()],
            Self::WebSearch => {
                let search = builtin_context.web_search.clone().map(task::web_search);
                search.into_iter().collect()
            }
            Self::AiWebpageSummary => {
                let fetch = task::fetch_url(&builtin_context.builtin);
                vec![summary::tool(fetch, builtin_context.model.clone())]
            }
            Self::ManageContext => context::tools(&builtin_context.context, &builtin_context.model),
            Self::History => history::tools(&builtin_context.context),
            Self::OverlongOutputs => task::overlong_outputs(builtin_context.outputs.clone()),
        }
    }
}

/// The sources that offer these tools.
pub(super) fn sources(
    wanted: &[TaskBuiltin],
    builtin_context: &TaskBuiltinContext,
) -> Vec<Arc<dyn ToolSource>> {
    let (scripts, others): (Vec<TaskBuiltin>, Vec<TaskBuiltin>) = wanted
        .iter()
        .copied()
        .partition(|tool| *tool == TaskBuiltin::PythonExecute);
    let tools = |wanted: Vec<TaskBuiltin>| -> Vec<Box<dyn AnyTool>> {
        wanted
            .into_iter()
            .flat_map(|tool| tool.tools(builtin_context))
            .collect()
    };
    vec![
        Arc::new(BuiltinSource::for_task(tools(others))),
        Arc::new(BuiltinSource::for_task_scripts(tools(scripts))),
    ]
}
