//! `tool_choice`: which of the tools the model may call, and whether it has to.

use std::sync::Arc;

use serde_json::Value;
use tenon_domain::{ToolId, ToolSpec};
use tenon_llm::ToolChoice;

use super::error::invalid_option;
use crate::error::ApiError;

const NAME: &str = "tool_choice";

/// Reads a choice. `theirs` are the client's tools, of which a function has to be one: which of
/// Tenon's tools there are is known only when the model is asked.
pub(super) fn read(
    choice: &Value,
    theirs: Option<&[Arc<ToolSpec>]>,
) -> Result<ToolChoice, ApiError> {
    match choice.as_str() {
        Some("auto") => return Ok(ToolChoice::Auto),
        Some("none") => return Ok(ToolChoice::None),
        Some("required") => return Ok(ToolChoice::Required),
        _ => {}
    }
    let function = choice["function"]["name"].as_str();
    let Some(name) = function.filter(|_| choice["type"] == "function") else {
        return Err(invalid_option(
            NAME,
            "`none`, `auto`, `required`, or one function by its name",
        ));
    };
    let Some(theirs) = theirs else {
        return Err(invalid_option(
            NAME,
            "a function of `tools`. For one of Tenon's own, send its id alone in `tool_ids` and `required` here",
        ));
    };
    if !theirs.iter().any(|tool| tool.name == name) {
        return Err(invalid_option(NAME, "a function that is one of `tools`"));
    }
    Ok(ToolChoice::Tool(ToolId::new(name)))
}
