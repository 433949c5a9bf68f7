//! A folder or a Git checkout. Nothing outside of it is read: links are refused in a skill, and
//! not followed on the way to one.

use std::io::Read;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry};

use super::{MAX_SKILL_DEPTH, SkillSource, check_count, skill_folders};
use crate::error::{PackageFileProblem, SkillError};
use crate::file_tree::{FileTree, MAX_TOTAL_BYTES, normalized};

/// Bounds the search in a folder that is no skill at all.
const MAX_ENTRIES: usize = 50_000;

/// All skills of a checkout together, which are in memory at the same time.
const MAX_SOURCE_BYTES: u64 = 4 * MAX_TOTAL_BYTES;

const GIT: &str = ".git";

pub(super) fn read(path: &Path, name: Option<&str>) -> Result<SkillSource, SkillError> {
    let shown = name.unwrap_or(".");
    let root =
        Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| io(shown, &error))?;
    let mut manifests = Vec::new();
    let mut left = MAX_ENTRIES;
    search(&root, "", 0, &mut left, &mut manifests)?;
    let folders = skill_folders(manifests.iter().map(String::as_str));
    let mut found = SkillSource::default();
    let mut bytes = 0;
    for folder in check_count(shown, folders)? {
        let mut files = FileTree::default();
        let loaded = load(&root, &folder, "", &mut files);
        bytes += files.total_bytes();
        if bytes > MAX_SOURCE_BYTES {
            let max_bytes = MAX_SOURCE_BYTES;
            return Err(SkillError::file(
                shown,
                PackageFileProblem::TooLarge { max_bytes },
            ));
        }
        match loaded {
            Ok(()) => found.add(folder, files, name),
            Err(error) => found.refused.push(super::RefusedSkill { folder, error }),
        }
    }
    Ok(found)
}

/// The paths of all SKILL.md.
fn search(
    root: &Dir,
    folder: &str,
    depth: usize,
    left: &mut usize,
    manifests: &mut Vec<String>,
) -> Result<(), SkillError> {
    let mut folders = Vec::new();
    for (name, entry) in entries(root, folder)? {
        *left = left.checked_sub(1).ok_or_else(|| {
            SkillError::file(
                folder,
                PackageFileProblem::TooManyFiles { max: MAX_ENTRIES },
            )
        })?;
        let kind = entry.file_type().map_err(|error| io(&name, &error))?;
        let path = joined(folder, &name);
        if kind.is_file() && crate::package::is_manifest(&name) {
            manifests.push(path);
            return Ok(());
        }
        if kind.is_dir() && name != GIT && depth < MAX_SKILL_DEPTH {
            folders.push(path);
        }
    }
    for folder in folders {
        search(root, &folder, depth + 1, left, manifests)?;
    }
    Ok(())
}

/// The files of one skill, by their path in it.
fn load(root: &Dir, skill: &str, folder: &str, files: &mut FileTree) -> Result<(), SkillError> {
    for (name, entry) in entries(root, &joined(skill, folder))? {
        let path = joined(folder, &name);
        let kind = entry.file_type().map_err(|error| io(&path, &error))?;
        if kind.is_symlink() {
            return Err(SkillError::file(path, PackageFileProblem::Link));
        }
        if kind.is_dir() {
            // Also what only has folders in it is bounded.
            normalized(&path).map_err(|problem| SkillError::file(&path, problem))?;
            if name != GIT {
                load(root, skill, &path, files)?;
            }
        } else if kind.is_file() {
            let (bytes, is_executable) = content(&path, &entry, files)?;
            files.insert(&path, bytes, is_executable)?;
        } else {
            return Err(SkillError::file(path, PackageFileProblem::Special));
        }
    }
    Ok(())
}

fn content(path: &str, entry: &DirEntry, files: &FileTree) -> Result<(Vec<u8>, bool), SkillError> {
    let unreadable = |error: std::io::Error| io(path, &error);
    let file = entry.open().map_err(unreadable)?;
    let is_executable = is_executable(&file.metadata().map_err(unreadable)?);
    let mut bytes = Vec::new();
    // One byte more than may be there is what refuses it.
    let limit = files.bytes_left() + 1;
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok((bytes, is_executable))
}

#[cfg(unix)]
fn is_executable(metadata: &cap_std::fs::Metadata) -> bool {
    use cap_std::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &cap_std::fs::Metadata) -> bool {
    false
}

/// The entries of a folder in the order of their names, so that the first that is refused is always
/// the same.
fn entries(root: &Dir, folder: &str) -> Result<Vec<(String, DirEntry)>, SkillError> {
    let at = if folder.is_empty() { "." } else { folder };
    let mut named = Vec::new();
    for entry in root.read_dir(at).map_err(|error| io(at, &error))? {
        let entry = entry.map_err(|error| io(at, &error))?;
        let name = entry.file_name().into_string();
        let name = name
            .map_err(|name| SkillError::file(name.to_string_lossy(), PackageFileProblem::Path))?;
        if named.len() >= MAX_ENTRIES {
            let max = MAX_ENTRIES;
            return Err(SkillError::file(
                at,
                PackageFileProblem::TooManyFiles { max },
            ));
        }
        named.push((name, entry));
    }
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(named)
}

fn joined(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

fn io(path: &str, error: &std::io::Error) -> SkillError {
    SkillError::file(path, PackageFileProblem::Io(error.to_string()))
}
