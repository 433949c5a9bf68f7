//! The files of a package in memory: bounded, with paths that stay inside.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use tenon_text::hex;

use crate::error::{PackageFileProblem, SkillError};

/// Skills with fonts and templates have some hundred.
pub const MAX_FILES: usize = 4000;

/// One font or template; a model or a video does not belong into a skill.
pub const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

pub const MAX_TOTAL_BYTES: u64 = 64 * 1024 * 1024;

const MAX_PATH_BYTES: usize = 512;

const MAX_PATH_DEPTH: usize = 16;

/// Files by their path, with `/` between folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTree {
    files: BTreeMap<String, PackageFile>,
    bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}

impl FileTree {
    pub fn get(&self, path: &str) -> Option<&PackageFile> {
        self.files.get(path)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &PackageFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn total_bytes(&self) -> u64 {
        self.bytes
    }

    /// `path` as it was written: a leading `./` is left out, what leads outside is refused.
    pub fn insert(
        &mut self,
        path: &str,
        bytes: Vec<u8>,
        is_executable: bool,
    ) -> Result<(), SkillError> {
        let refuse = |problem| Err(SkillError::file(path, problem));
        let path = match normalized(path) {
            Ok(path) => path,
            Err(problem) => return refuse(problem),
        };
        let length = bytes.len() as u64;
        if length > MAX_FILE_BYTES {
            return refuse(PackageFileProblem::FileTooLarge {
                max_bytes: MAX_FILE_BYTES,
            });
        }
        if self.bytes + length > MAX_TOTAL_BYTES {
            return refuse(PackageFileProblem::TooLarge {
                max_bytes: MAX_TOTAL_BYTES,
            });
        }
        if self.files.len() >= MAX_FILES {
            return refuse(PackageFileProblem::TooManyFiles { max: MAX_FILES });
        }
        if self.is_taken(&path) {
            return refuse(PackageFileProblem::Duplicate);
        }
        self.bytes += length;
        self.files.insert(
            path,
            PackageFile {
                bytes,
                is_executable,
            },
        );
        Ok(())
    }

    /// How many bytes the next file may have.
    pub(crate) fn bytes_left(&self) -> u64 {
        (MAX_TOTAL_BYTES - self.bytes).min(MAX_FILE_BYTES)
    }

    /// A file of this name, or a folder where a file should be or the other way round.
    fn is_taken(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let mut after = self.files.range(below.clone()..);
        let is_folder = after
            .next()
            .is_some_and(|(next, _)| next.starts_with(&below));
        let mut folders = path.match_indices('/');
        is_folder
            || self.files.contains_key(path)
            || folders.any(|(at, _)| self.files.contains_key(&path[..at]))
    }

    /// The files below a folder, by their path in it; all of them for "".
    pub fn subtree(&self, folder: &str) -> Self {
        if folder.is_empty() {
            return self.clone();
        }
        let prefix = format!("{folder}/");
        let below = self.files.range(prefix.clone()..);
        let below = below.map_while(|(path, file)| {
            let path = path.strip_prefix(&prefix)?;
            Some((path.to_owned(), file.clone()))
        });
        let files: BTreeMap<String, PackageFile> = below.collect();
        let bytes = files.values().map(|file| file.bytes.len() as u64).sum();
        Self { files, bytes }
    }

    /// SHA-256 over paths, executable bits and contents, in hexadecimal.
    pub fn hash(&self) -> String {
        let mut digest = Sha256::new();
        for (path, file) in &self.files {
            digest.update((path.len() as u64).to_le_bytes());
            digest.update(path.as_bytes());
            digest.update([u8::from(file.is_executable)]);
            digest.update((file.bytes.len() as u64).to_le_bytes());
            digest.update(&file.bytes);
        }
        hex(&digest.finalize())
    }

    /// Writes everything into a folder that does not exist yet or is empty. Nothing is overwritten
    /// and no link is followed.
    pub fn write_to(&self, folder: &Path) -> Result<(), SkillError> {
        for (path, file) in &self.files {
            write(&folder.join(path), file).map_err(|error| {
                SkillError::file(path, PackageFileProblem::Io(error.to_string()))
            })?;
        }
        Ok(())
    }
}

impl PackageFile {
    /// SHA-256 of the content, in hexadecimal.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(&self.bytes))
    }
}

fn write(path: &Path, file: &PackageFile) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut opened = options.open(path)?;
    opened.write_all(&file.bytes)?;
    set_mode(&opened, if file.is_executable { 0o755 } else { 0o644 })
}

#[cfg(unix)]
fn set_mode(file: &fs::File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &fs::File, _: u32) -> io::Result<()> {
    Ok(())
}

/// A relative path without `.` and `..`, of names that every system takes.
pub(crate) fn normalized(path: &str) -> Result<String, PackageFileProblem> {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.len() > MAX_PATH_BYTES || path.split('/').count() > MAX_PATH_DEPTH {
        return Err(PackageFileProblem::PathLength);
    }
    let is_name = |name: &str| {
        let is_step = matches!(name, "" | "." | "..");
        let is_unusable = |c: char| c.is_control() || c == '\\';
        !is_step && name.len() <= 255 && !name.contains(is_unusable)
    };
    if path.split('/').all(is_name) {
        Ok(path.to_owned())
    } else {
        Err(PackageFileProblem::Path)
    }
}
