//! About what a request takes of a model's context.

use tenon_domain::{OmittedTool, ToolId};

use crate::ModelRequest;
use crate::history::{tokens, weight};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestEstimate {
    pub system_tokens: usize,
    pub tool_tokens: usize,
    pub message_tokens: usize,
    /// The tools that the model is told of.
    pub tools: Vec<ToolId>,
    /// Tools that the model is not offered, and why.
    pub omitted: Vec<OmittedTool>,
    /// How many more it can find by searching.
    pub deferred: usize,
}

impl RequestEstimate {
    /// Of a request that is sent as it is.
    pub(crate) fn of(request: &ModelRequest) -> Self {
        let tools = request.tools.iter();
        Self {
            system_tokens: tokens(&request.system),
            tool_tokens: tools.clone().map(|tool| tool_tokens(tool)).sum(),
            message_tokens: request.messages.iter().map(weight).sum(),
            tools: tools.map(|tool| tool.id.clone()).collect(),
            omitted: Vec::new(),
            deferred: request.deferred.tools.len(),
        }
    }
}

/// About how many tokens it takes to tell a model of a tool.
pub fn tool_tokens(tool: &tenon_domain::ToolSpec) -> usize {
    let schema = tool.input_schema.value().to_string();
    // Braces and the names of fields around them.
    const FRAME_TOKENS: usize = 12;
    tokens(tool.id.as_str()) + tokens(&tool.description) + tokens(&schema) + FRAME_TOKENS
}
