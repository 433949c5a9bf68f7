//! The tool that gives the instructions of a skill to a model: name and description are always
//! told, the body when it is called, further files when they are asked for.

use std::fmt::Write;

use serde_json::{Value, json};
use tenon_domain::{ErrorKind, ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_skills::SkillPackage;

use super::SkillCall;
use super::call_error::SkillCallError;
use super::runnable::runnable;
use crate::builtin::READS_ONLY;

/// What a model is told of how many files; the others it learns from the instructions.
const MAX_LISTED_FILES: usize = 100;

/// A longer file is not meant to be read by a model.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

pub(super) fn definition(name: String, package: &SkillPackage) -> ToolDefinition {
    let mut schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    if package.files.len() > 1 {
        let description = "A further file of the skill, where the instructions name one.";
        schema["properties"]["file"] = json!({ "type": "string", "description": description });
    }
    ToolDefinition {
        name,
        title: Some(format!("Use {}", package.title)),
        description: format!(
            "{}\n\nGives the instructions of this skill. Call it before doing such a task, and follow them.",
            package.description
        ),
        input_schema: schema.into(),
        annotations: READS_ONLY,
    }
}

pub(super) async fn read(call: &SkillCall<'_>, input: &Value) -> ToolResult {
    let package = &call.revision.package;
    match input.get("file").and_then(Value::as_str) {
        None => Ok(ToolOutput::text(whole(call))),
        Some(file) => {
            let path = file.trim().trim_start_matches("./");
            let Some(found) = package.files.iter().find(|one| one.path == path) else {
                return Err(no_file(package, file));
            };
            if found.size > MAX_FILE_BYTES {
                return Err(not_text(file));
            }
            let path = call.revision.files().join(&found.path);
            let bytes = tokio::fs::read(path).await;
            let bytes = bytes.map_err(|error| ToolError::failed(error.to_string()))?;
            match String::from_utf8(bytes) {
                Ok(text) => Ok(ToolOutput::text(text)),
                Err(_) => Err(not_text(file)),
            }
        }
    }
}

/// The instructions, and what else there is.
fn whole(call: &SkillCall<'_>) -> String {
    let package = &call.revision.package;
    let mut text = package.body.clone();
    let scripts = runnable(package);
    if let Some(runner) = call.revision.runner_tool() {
        let list = scripts.join(", ");
        let _ = write!(
            text,
            "\n\n[Scripts of this skill: {list}. Run them with the tool whose name begins with `{runner}`.]"
        );
    }
    if !package.allowed_tools.is_empty() {
        let list = package.allowed_tools.join(", ");
        let _ = write!(
            text,
            "\n\n[These instructions were written for the tools {list}. Use those that are here and do the same.]"
        );
    }
    let others = package.files.iter().map(|file| file.path.as_str());
    let others = others.filter(|path| !path.eq_ignore_ascii_case("SKILL.md"));
    let others: Vec<&str> = others.filter(|path| !scripts.contains(path)).collect();
    if !others.is_empty() {
        let list = listed(&others);
        let _ = write!(
            text,
            "\n\n[Further files, which this tool reads by `file`: {list}]"
        );
    }
    text
}

fn listed(files: &[&str]) -> String {
    let shown = files.iter().take(MAX_LISTED_FILES);
    let shown: Vec<&str> = shown.copied().collect();
    let more = files.len().saturating_sub(MAX_LISTED_FILES);
    match more {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

fn no_file(package: &SkillPackage, file: &str) -> ToolError {
    let files: Vec<&str> = package.files.iter().map(|one| one.path.as_str()).collect();
    let error = SkillCallError::NoFile {
        file: file.into(),
        files: listed(&files).into(),
    };
    ToolError::coded(ErrorKind::InvalidInput, error)
}

fn not_text(file: &str) -> ToolError {
    let file = file.into();
    ToolError::coded(ErrorKind::Failed, SkillCallError::NotText { file })
}
