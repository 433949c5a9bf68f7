//! A task in the layout of Toolathlon: a folder with `task_config.json`, `docs` and
//! `initial_workspace`.
//!
//! `preprocess` and `evaluation` are programs: they are not run.

use std::path::Path;

use serde::Deserialize;

use super::folder::TaskFolder;
use super::task_builtins::TaskBuiltin;
use super::task_name::task_name;
use super::tokens::TokenFile;
use super::{InitialWorkspace, Task, TaskError, TaskTools};

pub(super) const CONFIG: &str = "task_config.json";

const PROMPT: &str = "docs/task.md";
const SYSTEM_PROMPT: &str = "docs/agent_system_prompt.md";
const WORKSPACE: &str = "initial_workspace";

/// What of the file concerns a run.
#[derive(Debug, Deserialize)]
struct ToolathlonConfig {
    #[serde(default)]
    needed_mcp_servers: Vec<String>,
    #[serde(default)]
    needed_local_tools: Vec<String>,
    #[serde(default)]
    max_turns: Option<usize>,
    /// Our turns are their steps.
    #[serde(default)]
    max_steps_under_single_turn_mode: Option<usize>,
}

pub(super) fn read(path: &Path) -> Result<Task, TaskError> {
    let folder = TaskFolder::open(path)?;
    let config = folder.text(CONFIG)?;
    let config: ToolathlonConfig =
        serde_json::from_str(&config).map_err(|error| TaskError::Syntax {
            file: CONFIG.into(),
            why: error.to_string(),
        })?;
    let prompt = folder.text(PROMPT)?;
    if prompt.trim().is_empty() {
        return Err(TaskError::Empty);
    }
    let tokens = TokenFile::of_task(&folder)?;
    let unread = tokens.unread.iter().map(|name| {
        format!("The token `{name}` is no plain value and was left out; set it with --tokens.")
    });
    let has_workspace = folder.has_folder(WORKSPACE);
    Ok(Task {
        name: task_name(path),
        prompt,
        system: folder.find_text(SYSTEM_PROMPT)?,
        model: None,
        tools: TaskTools::Named {
            servers: config.needed_mcp_servers,
            local: TaskBuiltin::read_all(&config.needed_local_tools)?,
        },
        workspace: has_workspace.then(|| InitialWorkspace {
            task_folder: path.to_owned(),
            path: WORKSPACE.into(),
        }),
        max_turns: config.max_steps_under_single_turn_mode.or(config.max_turns),
        notes: unread.collect(),
        tokens: tokens.values,
    })
}
