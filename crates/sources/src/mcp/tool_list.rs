//! The tools of a server, as the registry has them.

use std::collections::HashMap;

use serde_json::Value;
use tenon_domain::{Annotations, ErrorDetail, InputSchema, ToolDefinition};
use tenon_mcp::{McpTool, ToolList};

use crate::tool_note::ToolNote;

/// Tools that can be called, and what is wrong with others.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    pub(crate) tools: Vec<ToolDefinition>,
    /// Of the tools that have one, by name.
    pub(crate) output_schemas: HashMap<String, InputSchema>,
    pub(crate) problems: Vec<ErrorDetail>,
}

/// A list that a page fetched.
pub(crate) fn parse(tools: &[Value]) -> ListedTools {
    tenon_mcp::parse_tools(tools).into()
}

impl From<ToolList> for ListedTools {
    fn from(list: ToolList) -> Self {
        let problems = list.problems.iter();
        let problems = problems.map(|problem| ToolNote::of_list(problem).into());
        let mut output_schemas = HashMap::new();
        let tools = list.tools.into_iter().map(|mut tool| {
            if let Some(schema) = tool.output_schema.take() {
                output_schemas.insert(tool.name.clone(), schema.into());
            }
            definition(tool)
        });
        Self {
            tools: tools.collect(),
            output_schemas,
            problems: problems.collect(),
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
