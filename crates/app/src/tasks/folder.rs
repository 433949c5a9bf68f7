//! The folder of a task. Nothing outside is read: paths and symbolic links that leave the folder
//! are refused, and so is everything but plain files.

use std::io::{ErrorKind, Read};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File};

use super::TaskError;

/// A task and its prompts are text that a model reads.
pub(super) const MAX_TEXT_BYTES: u64 = 1024 * 1024;

/// Of a work folder: more is not a task but a disk.
const MAX_FILES: usize = 20_000;
const MAX_TOTAL_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const MAX_DEPTH: usize = 64;

pub(super) struct TaskFolder(Dir);

impl TaskFolder {
    pub(super) fn open(path: &Path) -> Result<Self, TaskError> {
        let opened = Dir::open_ambient_dir(path, ambient_authority());
        let what = format!("The folder {} cannot be read", path.display());
        opened.map(Self).map_err(TaskError::io(what))
    }

    /// A text that has to be there.
    pub(super) fn text(&self, file: &str) -> Result<String, TaskError> {
        self.find_text(file)?.ok_or_else(|| TaskError::Missing {
            file: file.to_owned(),
        })
    }

    /// None: there is no such file.
    pub(super) fn find_text(&self, file: &str) -> Result<Option<String>, TaskError> {
        let not_a_file = || TaskError::NotAFile {
            file: file.to_owned(),
        };
        // Opening a pipe would wait for a writer.
        let about = match self.0.metadata(file) {
            Ok(about) => about,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_leads_outside) => return Err(not_a_file()),
        };
        if !about.is_file() {
            return Err(not_a_file());
        }
        let opened = self.0.open(file).map_err(|_| not_a_file())?;
        let mut bytes = Vec::new();
        let read = opened.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(TaskError::io(format!("`{file}` cannot be read")))?;
        if bytes.len() as u64 > MAX_TEXT_BYTES {
            return Err(TaskError::TooLong {
                file: file.to_owned(),
                max: MAX_TEXT_BYTES,
            });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.trim_start_matches('\u{feff}').to_owned())),
            Err(_) => Err(TaskError::NotText {
                file: file.to_owned(),
            }),
        }
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        let about = self.0.metadata(path);
        about.is_ok_and(|about| about.is_dir())
    }

    /// Copies a folder of the task. What is neither a plain file nor a folder, such as a symbolic
    /// link, is left out; how many were is returned.
    pub(super) fn copy(&self, from: &str, to: &Path) -> Result<usize, TaskError> {
        let folder = self.0.open_dir(from).map_err(|_| TaskError::NotAFile {
            file: from.to_owned(),
        })?;
        let mut copy = FolderCopy::default();
        copy.folder(&folder, to, 0)?;
        Ok(copy.skipped)
    }
}

#[derive(Default)]
struct FolderCopy {
    files: usize,
    bytes: u64,
    skipped: usize,
}

impl FolderCopy {
    fn folder(&mut self, from: &Dir, to: &Path, depth: usize) -> Result<(), TaskError> {
        if depth > MAX_DEPTH {
            return Err(too_large("64 folders inside each other"));
        }
        let failed = || format!("{} cannot be written", to.display());
        std::fs::create_dir_all(to).map_err(TaskError::io(failed()))?;
        let unreadable = "The work folder of the task cannot be read";
        for entry in from.entries().map_err(TaskError::io(unreadable))? {
            let entry = entry.map_err(TaskError::io(unreadable))?;
            self.files += 1;
            if self.files > MAX_FILES {
                return Err(too_large("20,000 files"));
            }
            // Of the entry itself: a link is not followed.
            let kind = entry.file_type().map_err(TaskError::io(unreadable))?;
            let target = to.join(entry.file_name());
            if kind.is_dir() {
                let inner = entry.open_dir().map_err(TaskError::io(unreadable))?;
                self.folder(&inner, &target, depth + 1)?;
            } else if kind.is_file() {
                let file = entry.open().map_err(TaskError::io(unreadable))?;
                self.file(file, &target)?;
            } else {
                self.skipped += 1;
            }
        }
        Ok(())
    }

    fn file(&mut self, from: File, to: &Path) -> Result<(), TaskError> {
        let failed = || format!("{} cannot be written", to.display());
        let permissions = from.metadata().map(|about| about.permissions());
        let left = MAX_TOTAL_BYTES - self.bytes;
        let mut target = std::fs::File::create_new(to).map_err(TaskError::io(failed()))?;
        let copied = std::io::copy(&mut from.take(left + 1), &mut target);
        let copied = copied.map_err(TaskError::io(failed()))?;
        if copied > left {
            return Err(too_large("2 GB"));
        }
        self.bytes += copied;
        if let Ok(permissions) = permissions {
            let permissions = permissions.into_std(&target);
            if let Ok(permissions) = permissions {
                // A script that cannot be marked as one is still a file.
                let _ = target.set_permissions(permissions);
            }
        }
        Ok(())
    }
}

fn too_large(what: &'static str) -> TaskError {
    TaskError::WorkspaceTooLarge { what }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_task_reads_nothing_outside_its_folder() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "hidden").unwrap();
        let inside = tempfile::tempdir().unwrap();
        let path = |name: &str| inside.path().join(name);
        symlink(outside.path().join("secret"), path("task.md")).unwrap();
        std::fs::write(path("good.md"), "\u{feff}words").unwrap();
        symlink("good.md", path("link.md")).unwrap();
        std::fs::write(path("binary"), [0xff]).unwrap();
        std::fs::write(path("long"), vec![b'a'; MAX_TEXT_BYTES as usize + 1]).unwrap();
        std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status()
            .unwrap();
        let folder = TaskFolder::open(inside.path()).unwrap();
        let check = |file: &str, expected: &str| {
            let found = match folder.find_text(file) {
                Ok(text) => format!("{text:?}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{file}");
        };
        check("good.md", "Some(\"words\")");
        check("link.md", "Some(\"words\")");
        check("none.md", "None");
        let refused = |file| format!("`{file}` of the task is not a file inside its folder.");
        for file in ["task.md", "../x", "/etc/passwd", "pipe", "."] {
            check(file, &refused(file));
        }
        check("binary", "`binary` of the task is not UTF-8.");
        check("long", "`long` of the task is longer than 1048576 bytes.");
    }

    #[test]
    fn links_are_not_copied() {
        let task = tempfile::tempdir().unwrap();
        let files = task.path().join("files");
        std::fs::create_dir_all(files.join("deep")).unwrap();
        std::fs::write(files.join("deep/a.txt"), "a").unwrap();
        symlink("/etc", files.join("system")).unwrap();
        symlink("/etc/passwd", files.join("deep/passwd")).unwrap();
        let target = tempfile::tempdir().unwrap();
        let to = target.path().join("work");
        let folder = TaskFolder::open(task.path()).unwrap();
        assert_eq!(folder.copy("files", &to).unwrap(), 2);
        assert_eq!(std::fs::read_to_string(to.join("deep/a.txt")).unwrap(), "a");
        assert!(!to.join("system").exists() && !to.join("deep/passwd").exists());
        assert!(folder.copy("../", &to).is_err());
    }
}
