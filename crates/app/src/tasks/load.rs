//! Which tasks an argument of the command line means.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::task_name::task_name;
use super::{Task, TaskError, task_file, toolathlon};

/// Deep enough for `tasks/finalpool/<task>`.
const MAX_DEPTH: usize = 3;

const MAX_TASKS: usize = 10_000;

/// A task as somebody names it on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskArgument {
    Prompt(String),
    /// A YAML file, the folder of a task, or a folder of tasks.
    Path(PathBuf),
}

impl TaskArgument {
    /// A YAML file or a folder that is there, or looks as if it should be. All else is a prompt.
    pub fn new(word: &str) -> Self {
        let path = Path::new(word);
        let is_yaml = is_yaml(path);
        let looks_like_path =
            !word.contains(char::is_whitespace) && !word.contains("://") && word.contains('/');
        if path.is_dir() || is_yaml && !word.contains('\n') || looks_like_path {
            Self::Path(path.to_owned())
        } else {
            Self::Prompt(word.to_owned())
        }
    }
}

/// The tasks of all arguments, each under a name of its own. What is wrong with one task of a
/// folder does not keep the others from being run.
pub fn load(arguments: Vec<TaskArgument>) -> Result<Vec<Result<Task, FailedTask>>, TaskError> {
    let mut tasks = Vec::new();
    for argument in arguments {
        match argument {
            TaskArgument::Prompt(prompt) if prompt.trim().is_empty() => {
                return Err(TaskError::Empty);
            }
            TaskArgument::Prompt(prompt) => tasks.push(Ok(Task::from_prompt(prompt))),
            TaskArgument::Path(path) if is_task(&path) => tasks.push(Ok(read(&path)?)),
            TaskArgument::Path(path) => tasks.extend(read_folder(&path)?),
        }
    }
    let mut names = HashSet::new();
    for task in &mut tasks {
        let name = match task {
            Ok(task) => &mut task.name,
            Err(failed) => &mut failed.name,
        };
        let first = name.clone();
        let mut number = 1;
        while !names.insert(name.clone()) {
            number += 1;
            *name = format!("{first}-{number}");
        }
    }
    Ok(tasks)
}

/// A task of a folder that cannot be read.
#[derive(Debug)]
pub struct FailedTask {
    pub name: String,
    pub error: TaskError,
}

fn read_folder(path: &Path) -> Result<Vec<Result<Task, FailedTask>>, TaskError> {
    let mut paths = Vec::new();
    find(path, 0, &mut paths)?;
    if paths.is_empty() {
        return Err(TaskError::NoTasks(path.to_owned()));
    }
    let tasks = paths.iter().map(|path| {
        read(path).map_err(|error| FailedTask {
            name: task_name(path),
            error,
        })
    });
    Ok(tasks.collect())
}

/// The tasks of a folder, by name. Links are not followed: they could lead around for ever.
fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), TaskError> {
    let unreadable = || TaskError::io(format!("The folder {} cannot be read", folder.display()));
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(TaskError::NotFound(folder.to_owned()));
        }
        entries => entries.map_err(unreadable())?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unreadable())?;
        let kind = entry.file_type().map_err(unreadable())?;
        if kind.is_dir() || kind.is_file() {
            paths.push(entry.path());
        }
        if paths.len() > MAX_TASKS {
            return Err(too_many(folder));
        }
    }
    paths.sort();
    for path in paths {
        if is_task(&path) {
            found.push(path);
            if found.len() > MAX_TASKS {
                return Err(too_many(folder));
            }
        } else if depth < MAX_DEPTH && path.is_dir() {
            find(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Task, TaskError> {
    if path.is_dir() {
        toolathlon::read(path)
    } else {
        task_file::read(path)
    }
}

fn is_task(path: &Path) -> bool {
    if path.is_dir() {
        path.join(toolathlon::CONFIG).is_file()
    } else {
        is_yaml(path) && path.is_file()
    }
}

fn is_yaml(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yaml" | "yml"))
}

fn too_many(folder: &Path) -> TaskError {
    TaskError::TooMany {
        folder: folder.to_owned(),
        max: MAX_TASKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_a_path_or_a_prompt() {
        let check = |word: &str, is_path: bool| {
            let argument = TaskArgument::new(word);
            assert_eq!(matches!(argument, TaskArgument::Path(_)), is_path, "{word}");
        };
        check("what time is it in Tokyo?", false);
        check("tasks/finalpool/none", true);
        check("none.yaml", true);
        check("what is in https://example.org/a?", false);
        check("https://example.org/a", false);
        check("1/2 of 12", false);
        check("src", true);
        check("hello", false);
    }
}
