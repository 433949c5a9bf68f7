//! A revision of a skill: a version of its package with its configured values.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use tenon_domain::{ErrorDetail, ErrorKind, SourceState, ToolError};
use tenon_skills::http::Variables;
use tenon_skills::{SkillPackage, SkillTool};
use tokio::sync::watch;

use super::call_error::SkillCallError;
use super::runnable::runnable;

/// A revision of a skill: a version of its package with its configured values.
pub struct SkillRevision {
    pub package: Arc<SkillPackage>,
    /// The folder of this version: `files`, and beside them what was installed for it.
    pub folder: PathBuf,
    pub values: SkillValues,
    /// Whether its scripts may use the network: the skill asks for it, and an admin agreed.
    pub network: bool,
    /// Whether an admin installed it, so that its requests may go to private networks.
    pub is_trusted: bool,
    /// How far its packages are installed. Shared by the revisions of one version.
    pub setup: Arc<watch::Sender<SetupStatus>>,
}

/// What was set for a skill, for everybody.
#[derive(Clone, Default, PartialEq)]
pub struct SkillValues {
    /// Variables and secrets, by name; defaults included.
    pub variables: Variables,
    /// `Valves`.
    pub settings: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SetupStatus {
    Running {
        /// The last line that was printed.
        progress: String,
    },
    Ready,
    Failed(ErrorDetail),
}

/// What a native name stands for.
#[derive(Debug)]
pub(super) enum OfferedTool<'a> {
    Declared(&'a SkillTool),
    Instructions,
    Runner,
}

impl SkillRevision {
    pub fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    pub fn state(&self) -> SourceState {
        match &*self.setup.borrow() {
            SetupStatus::Running { .. } => SourceState::Starting,
            SetupStatus::Ready => SourceState::Ready,
            SetupStatus::Failed(why) => SourceState::Failed { why: why.clone() },
        }
    }

    /// The native name of the tool that gives its instructions, where it has any.
    pub fn instructions_tool(&self) -> Option<String> {
        let name = format!("use_{}", self.package.name);
        let has_any = !self.package.body.is_empty();
        (has_any && !self.has_declared(&name)).then_some(name)
    }

    /// The native name of the tool that runs its scripts.
    pub fn runner_tool(&self) -> Option<String> {
        let name = format!("run_{}", self.package.name);
        let has_any = !runnable(&self.package).is_empty();
        (has_any && !self.has_declared(&name)).then_some(name)
    }

    fn has_declared(&self, name: &str) -> bool {
        self.package.tools.iter().any(|tool| tool.name == name)
    }

    pub(super) fn declared(&self, name: &str) -> Option<&SkillTool> {
        self.package.tools.iter().find(|tool| tool.name == name)
    }

    pub(super) fn tool(&self, name: &str) -> Option<OfferedTool<'_>> {
        if let Some(declared) = self.declared(name) {
            return Some(OfferedTool::Declared(declared));
        }
        if self.instructions_tool().as_deref() == Some(name) {
            return Some(OfferedTool::Instructions);
        }
        (self.runner_tool().as_deref() == Some(name)).then_some(OfferedTool::Runner)
    }

    /// Returns when its packages are installed. Whoever calls has a deadline.
    pub(super) async fn set_up(&self, title: &str) -> Result<(), ToolError> {
        let mut status = self.setup.subscribe();
        let settled = status
            .wait_for(|status| !matches!(status, SetupStatus::Running { .. }))
            .await;
        let name = title.into();
        match settled.as_deref() {
            Ok(SetupStatus::Ready) => Ok(()),
            Ok(SetupStatus::Failed(why)) => {
                let why = why.message.as_str().into();
                let error = SkillCallError::NotSetUp { name, why };
                Err(ToolError::coded(ErrorKind::Unavailable, error))
            }
            Ok(SetupStatus::Running { .. }) | Err(_) => {
                let error = SkillCallError::SettingUp { name };
                Err(ToolError::coded(ErrorKind::Unavailable, error))
            }
        }
    }
}

impl std::fmt::Debug for SkillRevision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillRevision")
            .field("name", &self.package.name)
            .field("hash", &self.package.hash)
            .finish_non_exhaustive()
    }
}

/// Values may be secret.
impl std::fmt::Debug for SkillValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.variables.keys().collect();
        f.debug_tuple("SkillValues").field(&names).finish()
    }
}
