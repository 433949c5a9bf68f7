//! A tool as a model is told of it.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tenon_domain::{ToolId, WireFormat};

#[derive(Debug)]
pub(crate) struct CompiledTool {
    pub id: ToolId,
    /// What its source calls it.
    pub name: String,
    pub description: String,
    pub schema: Value,
    /// All of it, as a request of the provider has it: a [`tool_entry`].
    pub entry: Box<RawValue>,
}

/// One entry of `tools` in a request.
pub(crate) fn tool_entry(
    format: WireFormat,
    id: &ToolId,
    description: &str,
    schema: &Value,
) -> Value {
    match format {
        WireFormat::Openai => json!({"type": "function", "function": {
            "name": id,
            "description": description,
            "parameters": schema,
        }}),
        // Unsaid, it is strict there, which most schemas are not made for.
        WireFormat::Responses => json!({
            "type": "function",
            "name": id,
            "description": description,
            "parameters": schema,
            "strict": false,
        }),
        WireFormat::Anthropic => {
            json!({"name": id, "description": description, "input_schema": schema})
        }
    }
}
