//! The environment of a skill's programs: its files, installed packages and configured values.
//!
//! They work in a folder that other skills and tools write to as well, so no interpreter may find
//! code there: not in its home, which is the sandbox's own, and not in the current folder.

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

    /// Runs what writes there, for as long as it takes no more than a chat may.
    pub(super) async fn within_quota<T>(
        &self,
        call: &SkillCall<'_>,
        running: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let quota = &call.host().quota;
        let result = quota.within(&call.context.user, &self.path, running).await;
        result.map_err(ToolError::from)
    }
}

/// A program in its sandbox, without its arguments.
pub(super) fn program(program: &str, work: &Path) -> SandboxCommand {
    let mut command = SandboxCommand::new(program, work);
    let modules_of_user = "PYTHONNOUSERSITE".to_owned();
    command.env.insert(modules_of_user, "1".to_owned());
    command
}

/// A program of a skill in its sandbox, without its arguments.
pub(super) fn command(
    revision: &SkillRevision,
    (program, arguments): (&str, &[String]),
    work: &Path,
) -> SandboxCommand {
    let mut command = self::program(program, work);
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
    if imports_from_current_folder(program, arguments) {
        keep_current_folder_out(&mut command);
    }
    add_packages(&mut command, folder);
    command.args(arguments.iter().cloned())
}

/// Has Python import nothing from the current folder, nor from that of its script.
pub(super) fn keep_current_folder_out(command: &mut SandboxCommand) {
    let safe_path = "PYTHONSAFEPATH".to_owned();
    command.env.insert(safe_path, "1".to_owned());
}

/// Whether this is Python without a script, whose folder would be in the place of the current one:
/// `-m`, `-c`, or code from standard input.
fn imports_from_current_folder(program: &str, arguments: &[String]) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    if !name.to_string_lossy().starts_with("python") {
        return false;
    }
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix('-') {
            None => return false,
            Some("W" | "X" | "-check-hash-based-pycs") => {
                arguments.next();
            }
            Some(option) if option.starts_with(['W', 'X', '-']) => {}
            Some("") => return true,
            Some(options) if options.contains(['c', 'm']) => return true,
            Some(_) => {}
        }
    }
    true
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_without_a_script_would_import_from_the_current_folder() {
        let check = |line: &str, expected: bool| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let (program, arguments) = words.split_first().unwrap();
            let found = imports_from_current_folder(program, arguments);
            assert_eq!(found, expected, "{line}");
        };
        check("python3 /skill/main.py -m", false);
        check("python3 -u /skill/main.py", false);
        check("python3 -X dev -Wd -W error /skill/main.py -c", false);
        check(
            "python3 --check-hash-based-pycs never /skill/main.py",
            false,
        );
        check("node -c", false);
        check("python3", true);
        check("/skill/venv/bin/python -", true);
        check("python3 -m rich", true);
        check("python3.12 -Ic pass", true);
        check("python3 -X dev -um rich", true);
    }
}
