//! Why a command was not run.

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    #[error("there is no sandbox on this operating system")]
    Unsupported,
    #[error("the helper of the sandbox could not be started")]
    Helper(#[source] io::Error),
    /// It ended before it had built the walls, or did not answer in time.
    #[error("the helper of the sandbox did not answer")]
    NoAnswer,
    #[error("{0} is not to be found in the sandbox")]
    ProgramNotFound(String),
    #[error("{0} is not a program that can be executed in the sandbox")]
    NotExecutable(String),
    #[error("the sandbox could not be set up ({step:?})")]
    Setup {
        step: SetupStep,
        #[source]
        source: io::Error,
    },
}

/// What the helper was doing when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetupStep {
    Request,
    Process,
    Folders,
    Limits,
    User,
    Files,
    SystemCalls,
    Execute,
}
