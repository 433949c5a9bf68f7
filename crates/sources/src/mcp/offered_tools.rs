//! The tools a server offers, and which of them may be called twice, by its own word.

use std::collections::{HashMap, HashSet};

use tenon_domain::{InputSchema, ToolDefinition};

/// A list of tools, checked.
#[derive(Debug, Default)]
pub(crate) struct OfferedTools {
    pub(super) tools: Vec<ToolDefinition>,
    /// Native names of tools that the server marks as safe to repeat. Whether to trust that is the
    /// caller's decision.
    repeatable: HashSet<String>,
    /// By native name, of those that have one.
    output_schemas: HashMap<String, InputSchema>,
}

impl OfferedTools {
    pub(super) fn new(tools: Vec<ToolDefinition>) -> Self {
        let repeatable = tools
            .iter()
            .filter(|tool| tool.annotations.read_only || tool.annotations.idempotent)
            .map(|tool| tool.name.clone())
            .collect();
        Self {
            tools,
            repeatable,
            output_schemas: HashMap::new(),
        }
    }

    pub(super) fn with_output_schemas(self, output_schemas: HashMap<String, InputSchema>) -> Self {
        Self {
            output_schemas,
            ..self
        }
    }

    pub(super) fn output_schema(&self, tool: &str) -> Option<InputSchema> {
        self.output_schemas.get(tool).cloned()
    }

    /// Whether it offers just what another does.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.tools == other.tools && self.output_schemas == other.output_schemas
    }

    pub(super) fn is_repeatable(&self, tool: &str) -> bool {
        self.repeatable.contains(tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenon_domain::Annotations;

    fn tool(name: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: serde_json::json!({}).into(),
            annotations: Annotations::default(),
        }
    }

    #[test]
    fn what_only_reads_or_can_be_done_twice_may_be_repeated() {
        let mut tools = vec![tool("reads"), tool("sets"), tool("adds")];
        tools[0].annotations.read_only = true;
        tools[1].annotations.idempotent = true;
        let offer = OfferedTools::new(tools);
        let repeatable = ["reads", "sets", "adds", "unknown"].map(|name| offer.is_repeatable(name));
        assert_eq!(repeatable, [true, true, false, false]);
    }
}
