//! The tools of a server, as the registry has them.

use serde_json::Value;
use tenon_domain::{Annotations, ToolDefinition};
use tenon_mcp::{McpTool, ToolList};

/// Tools that can be called, and sentences about what is wrong with others.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    pub(crate) tools: Vec<ToolDefinition>,
    pub(crate) problems: Vec<String>,
}

/// A list that a page fetched.
pub(crate) fn parse(tools: &[Value]) -> ListedTools {
    tenon_mcp::parse_tools(tools).into()
}

impl From<ToolList> for ListedTools {
    fn from(list: ToolList) -> Self {
        Self {
            tools: list.tools.into_iter().map(definition).collect(),
            problems: list.problems.iter().map(ToString::to_string).collect(),
        }
    }
}

fn definition(tool: McpTool) -> ToolDefinition {
    ToolDefinition {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        input_schema: tool.input_schema.into(),
        annotations: Annotations {
            read_only: tool.annotations.read_only,
            destructive: tool.annotations.destructive,
            idempotent: tool.annotations.idempotent,
            open_world: tool.annotations.open_world,
            ends_turn: false,
            deprecated: false,
        },
    }
}
