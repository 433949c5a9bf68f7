//! Why a task cannot be read or run.

use std::path::PathBuf;

use tenon_domain::ErrorDetail;
use tenon_sources::import::ConfigReadError;

/// Each is a sentence for whoever started the run.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("There is no file or folder {}.", .0.display())]
    NotFound(PathBuf),
    #[error("There is no task in {}: a task is a YAML file, or a folder with a task_config.json.", .0.display())]
    NoTasks(PathBuf),
    #[error("More than {max} tasks are in {}. Name the ones to run.", .folder.display())]
    TooMany { folder: PathBuf, max: usize },
    #[error("`{file}` of the task is missing.")]
    Missing { file: String },
    #[error("`{file}` of the task is longer than {max} bytes.")]
    TooLong { file: String, max: u64 },
    #[error("`{file}` of the task is not a file inside its folder.")]
    NotAFile { file: String },
    #[error("`{file}` of the task is not UTF-8.")]
    NotText { file: String },
    #[error("`{file}` is not valid: {why}")]
    Syntax { file: String, why: String },
    #[error("The task is empty: `prompt` says nothing.")]
    Empty,
    #[error("`{name}` is no local tool. There are: {known}.")]
    UnknownTaskBuiltin { name: String, known: String },
    #[error(
        "The task needs the server `{name}`, which is neither in the folder of --servers nor among your tool servers."
    )]
    UnknownServer { name: String },
    #[error("The server `{name}` is no MCP server; add it with `tenon import` instead.")]
    NotMcp { name: String },
    #[error("The server `{name}` of the task cannot be used: {why}")]
    Server { name: String, why: Box<ErrorDetail> },
    #[error(
        "The server `{name}` of the task cannot be used: {why} For tasks, --tokens and --set give values, too."
    )]
    Unset { name: String, why: Box<ErrorDetail> },
    #[error("The server `{name}` of the task did not start within {seconds} s.")]
    ServerTimeout { name: String, seconds: u64 },
    #[error("The work folder of the task has more than {what}.")]
    WorkspaceTooLarge { what: &'static str },
    #[error("{} is there already and not empty. Choose another --out folder, or remove it.", .0.display())]
    OutputExists(PathBuf),
    #[error("{what}: {source}")]
    Io {
        what: String,
        source: std::io::Error,
    },
    #[error(transparent)]
    Model(#[from] crate::models::ModelLookupError),
    #[error(transparent)]
    Agent(#[from] tenon_agent::Error),
    #[error(transparent)]
    Store(#[from] tenon_store::Error),
}

impl TaskError {
    pub(crate) fn syntax(file: &str, error: &ConfigReadError) -> Self {
        Self::Syntax {
            file: file.to_owned(),
            why: error.to_string(),
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        |source| Self::Io { what, source }
    }
}
