//! Task runs: work that a model does by itself, without a person, from a task that stands in a
//! file.
//!
//! A [`Task`] is read from a prompt, a YAML file of ours or a folder in the layout of Toolathlon. A
//! [`TaskRunner`] gives it a work folder, starts its servers and runs it as a turn of a chat: the
//! loop and the path of each call are those of any other turn. A task may come from a stranger:
//! what it names is read within its own folder and within bounds, and its tools need approval as
//! any others.

pub mod report;
pub mod runner;
pub mod servers;
pub mod task_builtins;
pub mod tokens;

mod error;
mod folder;
mod load;
mod task_file;
mod task_name;
mod toolathlon;
mod trajectory;

use std::collections::BTreeMap;
use std::path::PathBuf;

use task_builtins::TaskBuiltin;

pub use error::TaskError;
pub use load::{FailedTask, TaskArgument, load};

/// Something to be done.
#[derive(Clone, PartialEq)]
pub struct Task {
    /// Letters, digits, `-`, `_` and `.`: the name of its folder in the output.
    pub name: String,
    pub prompt: String,
    /// With the placeholders of Toolathlon. None: Tenon's own.
    pub system: Option<String>,
    /// By id or name. None: the default.
    pub model: Option<String>,
    pub tools: TaskTools,
    /// The folder that the work folder begins as a copy of.
    pub workspace: Option<InitialWorkspace>,
    pub max_turns: Option<usize>,
    /// Its own values of `${token.NAME}`.
    pub tokens: BTreeMap<String, String>,
    /// What was left out while it was read.
    pub notes: Vec<String>,
}

/// The tools that a task may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskTools {
    /// All tools of its user, as in a chat.
    OfUser,
    /// Only the tools it names.
    Named {
        servers: Vec<String>,
        local: Vec<TaskBuiltin>,
    },
}

/// A folder inside the folder of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitialWorkspace {
    pub(crate) task_folder: PathBuf,
    pub(crate) path: String,
}

impl Task {
    /// A prompt and nothing else.
    pub fn from_prompt(prompt: String) -> Self {
        Self {
            name: "prompt".into(),
            prompt,
            system: None,
            model: None,
            tools: TaskTools::OfUser,
            workspace: None,
            max_turns: None,
            tokens: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// Whether it has to say that it is done.
    pub fn must_claim(&self) -> bool {
        match &self.tools {
            TaskTools::OfUser => false,
            TaskTools::Named { local, .. } => local.contains(&TaskBuiltin::ClaimDone),
        }
    }
}

/// Without its tokens.
impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Task").field(&self.name).finish()
    }
}
