//! The tool with which a model runs the scripts that a skill brings along.

use serde_json::{Value, json};
use tenon_domain::{Annotations, ErrorKind, ToolDefinition, ToolError};
use tenon_skills::SkillPackage;

use super::SkillCall;
use super::call_error::SkillCallError;
use super::program::{self, ProgramInput};
use super::reply::SkillReply;
use super::runnable::{interpreter, is_executable, runnable};

pub(super) fn definition(
    name: String,
    package: &SkillPackage,
    annotations: Annotations,
) -> ToolDefinition {
    let scripts = runnable(package);
    ToolDefinition {
        name,
        title: Some(format!("Run a script of {}", package.title)),
        description: format!(
            "Runs a script of the skill \"{}\" in the folder of this chat, as its instructions say. Read them first.",
            package.title
        ),
        input_schema: json!({
            "type": "object",
            "properties": {
                "script": { "type": "string", "enum": scripts },
                "arguments": {
                    "type": "array", "items": { "type": "string" },
                    "description": "Arguments of the command line.",
                },
                "input": { "type": "string", "description": "What the script reads from standard input." },
            },
            "required": ["script"],
            "additionalProperties": false,
        })
        .into(),
        annotations,
    }
}

pub(super) async fn run(call: &SkillCall<'_>, input: &Value) -> Result<SkillReply, ToolError> {
    let package = &call.revision.package;
    let script = input
        .get("script")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let known = runnable(package);
    if !known.contains(&script) {
        let error = SkillCallError::NoScript {
            file: script.into(),
            files: known.join(", ").into(),
        };
        return Err(ToolError::coded(ErrorKind::InvalidInput, error));
    }
    let arguments = input.get("arguments").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
    let file = call.revision.files().join(script).display().to_string();
    // An executable file with `#!` names its interpreter itself.
    let interpreter = interpreter(script).filter(|_| !is_executable(package, script));
    let words = interpreter.into_iter().map(str::to_owned).chain([file]);
    let words: Vec<String> = words.chain(arguments.map(str::to_owned)).collect();
    let standard_input = input
        .get("input")
        .and_then(Value::as_str)
        .unwrap_or_default();
    program::run_words(call, &words, ProgramInput::Text(standard_input)).await
}
