//! Tools that are a built-in one with arguments that are fixed.

use serde_json::{Map, Value};
use tenon_domain::{ErrorKind, ToolError};

use super::SkillCall;
use super::call_error::SkillCallError;
use super::reply::SkillReply;

pub(super) async fn call(
    call: &SkillCall<'_>,
    tool: &str,
    arguments: &Map<String, Value>,
    input: Value,
) -> Result<SkillReply, ToolError> {
    let Some((source, _)) = call.host().builtin(tool) else {
        let tool = tool.into();
        return Err(ToolError::coded(
            ErrorKind::Failed,
            SkillCallError::NoBuiltin { tool },
        ));
    };
    let input = merged(arguments, input);
    Ok(source.call(tool, input, call.context).await?.into())
}

/// Merges the fixed arguments into the input; the fixed ones win.
pub(super) fn merged(arguments: &Map<String, Value>, mut input: Value) -> Value {
    if let Value::Object(input) = &mut input {
        let fixed = arguments.iter();
        input.extend(fixed.map(|(name, value)| (name.clone(), value.clone())));
    }
    input
}
