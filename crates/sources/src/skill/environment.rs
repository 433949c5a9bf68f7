//! What programs of a skill see: its files, what was installed for it, its values.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenon_sandbox::{NetworkAccess, SandboxCommand};

use super::SkillCall;
use super::call_error::SkillCallError;
use super::revision::SkillRevision;
use tenon_domain::{ErrorKind, ToolError};

/// Of a program that runs once. The deadline of the call is the hub's.
const MAX_RUN_TIME: Duration = Duration::from_secs(3600);

const VENV: &str = "venv";

/// The folder that a call may write to.
pub(super) struct WorkFolder {
    path: PathBuf,
    /// Where the call brought none along: it goes with the call.
    _own: Option<tempfile::TempDir>,
}

impl WorkFolder {
    pub(super) async fn of(call: &SkillCall<'_>) -> Result<Self, ToolError> {
        let unusable = |error: std::io::Error| {
            let why = error.to_string().into();
            ToolError::coded(ErrorKind::Failed, SkillCallError::Sandbox { why })
        };
        match &call.context.workspace {
            Some(path) => {
                tokio::fs::create_dir_all(path).await.map_err(unusable)?;
                Ok(Self {
                    path: path.clone(),
                    _own: None,
                })
            }
            None => {
                let folder = tempfile::tempdir().map_err(unusable)?;
                Ok(Self {
                    path: folder.path().to_owned(),
                    _own: Some(folder),
                })
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A program of a skill in its sandbox, without its arguments.
pub(super) fn command(revision: &SkillRevision, program: &str, work: &Path) -> SandboxCommand {
    let mut command = SandboxCommand::new(program, work);
    let folder = &revision.folder;
    if revision.network {
        command.network = NetworkAccess::Full;
    }
    command.limits.wall_clock = MAX_RUN_TIME;
    let env = &mut command.env;
    let mut set = |name: &str, value: String| env.insert(name.to_owned(), value);
    for (name, value) in &revision.values.variables {
        set(name, value.clone());
    }
    set("SKILL_DIR", revision.files().display().to_string());
    // Nothing can be written there.
    set("PYTHONDONTWRITEBYTECODE", "1".to_owned());
    add_packages(&mut command, folder);
    command
}

/// Lets a program use the packages that were installed in a folder.
pub(super) fn add_packages(command: &mut SandboxCommand, folder: &Path) {
    command.read_dirs.push(folder.to_owned());
    let env = &mut command.env;
    let venv = folder.join(VENV);
    if venv.is_dir() {
        let path = env.get("PATH").cloned().unwrap_or_default();
        let path = format!("{}:{path}", venv.join("bin").display());
        env.insert("PATH".to_owned(), path);
        env.insert("VIRTUAL_ENV".to_owned(), venv.display().to_string());
    }
    let modules = folder.join("node_modules");
    if modules.is_dir() {
        env.insert("NODE_PATH".to_owned(), modules.display().to_string());
    }
}

/// A word of a command that names a file of the skill, as programs elsewhere find it.
pub(super) fn resolved(revision: &SkillRevision, word: &str) -> String {
    let path = word.strip_prefix("./").unwrap_or(word);
    let is_file = revision.package.files.iter().any(|file| file.path == path);
    if is_file {
        revision.files().join(path).display().to_string()
    } else {
        word.to_owned()
    }
}
