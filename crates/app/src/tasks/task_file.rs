//! A task in a YAML file of ours.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use tenon_sources::import;

use super::folder::TaskFolder;
use super::task_builtins::TaskBuiltin;
use super::task_name::task_name;
use super::{InitialWorkspace, Task, TaskError, TaskTools};

/// What it says. An unknown name is an error: a typo must not be a silent default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskFile {
    name: Option<String>,
    /// What to do, or the file beside this one that says so.
    prompt: Option<String>,
    prompt_file: Option<String>,
    system: Option<String>,
    model: Option<String>,
    #[serde(alias = "needed_mcp_servers")]
    servers: Option<Vec<String>>,
    #[serde(alias = "needed_local_tools")]
    local_tools: Option<Vec<String>>,
    /// A folder beside this file.
    workspace: Option<String>,
    max_turns: Option<usize>,
    #[serde(default)]
    tokens: BTreeMap<String, String>,
}

pub(super) fn read(path: &Path) -> Result<Task, TaskError> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let folder = TaskFolder::open(parent)?;
    let text = folder.text(&file)?;
    let value = import::parse_value(&text).map_err(|error| TaskError::syntax(&file, &error))?;
    let task: TaskFile = serde_json::from_value(value).map_err(|error| TaskError::Syntax {
        file: file.to_string(),
        why: error.to_string(),
    })?;
    let prompt = match (task.prompt, task.prompt_file) {
        (Some(prompt), None) => prompt,
        (None, Some(file)) => folder.text(&file)?,
        (Some(_), Some(_)) | (None, None) => {
            return Err(TaskError::Syntax {
                file: file.to_string(),
                why: "either `prompt` or `prompt_file` must say what to do.".into(),
            });
        }
    };
    if prompt.trim().is_empty() {
        return Err(TaskError::Empty);
    }
    let tools = match (task.servers, task.local_tools) {
        (None, None) => TaskTools::OfUser,
        (servers, local) => TaskTools::Named {
            servers: servers.unwrap_or_default(),
            local: TaskBuiltin::read_all(&local.unwrap_or_default())?,
        },
    };
    if let Some(workspace) = task.workspace.as_deref()
        && !folder.has_folder(workspace)
    {
        return Err(TaskError::Missing {
            file: workspace.to_owned(),
        });
    }
    Ok(Task {
        name: match &task.name {
            Some(name) => task_name(Path::new(name)),
            None => task_name(&path.with_extension("")),
        },
        prompt,
        system: task.system,
        model: task.model,
        tools,
        workspace: task.workspace.map(|path| InitialWorkspace {
            task_folder: parent.to_owned(),
            path,
        }),
        max_turns: task.max_turns,
        tokens: task.tokens,
        notes: Vec::new(),
    })
}
