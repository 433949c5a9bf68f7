//! Where skills come from: a folder, an archive, or a single SKILL.md; one skill or several.

mod archive;
mod folder;

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::error::{PackageFileProblem, SkillError};
use crate::file_tree::FileTree;
use crate::package::{MANIFEST_FILE, SkillPackage, is_manifest};

/// Packed; what it unpacks to has bounds of its own.
pub const MAX_ARCHIVE_BYTES: u64 = 64 * 1024 * 1024;

/// As deep as plugins keep theirs: `plugins/NAME/skills/NAME/SKILL.md`.
const MAX_SKILL_DEPTH: usize = 4;

/// A repository of skills has some dozen.
const MAX_SKILLS: usize = 500;

/// The files of one skill in a few bytes, for [`unpack`].
pub fn pack(files: &FileTree) -> Result<Vec<u8>, SkillError> {
    archive::pack_tar_gz(files).map_err(|error| {
        let problem = PackageFileProblem::BrokenArchive(error.to_string());
        SkillError::file("archive", problem)
    })
}

pub fn unpack(packed: &[u8]) -> Result<FileTree, SkillError> {
    archive::unpack_tar_gz("archive", packed)
}

/// All skills of a source: one that is refused does not keep the others out.
#[derive(Debug, Clone, Default)]
pub struct SkillSource {
    pub skills: Vec<SkillBundle>,
    pub refused: Vec<RefusedSkill>,
}

/// A valid skill with its files.
#[derive(Debug, Clone)]
pub struct SkillBundle {
    /// Its folder in the source; empty for the source itself.
    pub folder: String,
    pub package: SkillPackage,
    pub files: FileTree,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSkill {
    pub folder: String,
    pub error: SkillError,
}

impl SkillSource {
    /// Reads what is at a path. Takes its time: not for a thread that others wait for.
    pub fn open(path: &Path) -> Result<Self, SkillError> {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(".");
        let unreadable = |error: std::io::Error| {
            SkillError::file(name, PackageFileProblem::Io(error.to_string()))
        };
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            // "." has no name; the folder that it is has one.
            let absolute = fs::canonicalize(path).map_err(unreadable)?;
            let name = absolute.file_name().and_then(|name| name.to_str());
            return folder::read(path, name);
        }
        if !metadata.is_file() {
            return Err(SkillError::file(name, PackageFileProblem::NotASource));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(MAX_ARCHIVE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Self::from_bytes(name, &bytes)
    }

    /// An archive or a SKILL.md, as it was uploaded under a name.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, SkillError> {
        if bytes.len() as u64 > MAX_ARCHIVE_BYTES {
            let max_bytes = MAX_ARCHIVE_BYTES;
            return Err(SkillError::file(
                name,
                PackageFileProblem::FileTooLarge { max_bytes },
            ));
        }
        let stem = name.split('.').next().filter(|stem| !stem.is_empty());
        if bytes.starts_with(b"PK") {
            return Self::from_files(name, archive::unpack_zip(name, bytes)?, stem);
        }
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return Self::from_files(name, archive::unpack_tar_gz(name, bytes)?, stem);
        }
        if !name.to_ascii_lowercase().ends_with(".md") {
            return Err(SkillError::file(name, PackageFileProblem::NotASource));
        }
        let mut files = FileTree::default();
        files.insert(MANIFEST_FILE, bytes.to_vec(), false)?;
        let own_name = stem.filter(|_| !is_manifest(name));
        Self::from_files(name, files, own_name)
    }

    /// The skills among files; `root` names the one that is at the top.
    pub fn from_files(
        source: &str,
        files: FileTree,
        root: Option<&str>,
    ) -> Result<Self, SkillError> {
        let wrapper = wrapper(&files);
        let files = match &wrapper {
            Some(folder) => files.subtree(folder),
            None => files,
        };
        let root = wrapper.as_deref().or(root);
        let folders = skill_folders(files.iter().map(|(path, _)| path));
        let mut found = Self::default();
        for folder in check_count(source, folders)? {
            let own = files.subtree(&folder);
            found.add(folder, own, root);
        }
        Ok(found)
    }

    /// One more folder that has a SKILL.md.
    fn add(&mut self, folder: String, files: FileTree, root: Option<&str>) {
        let name = folder
            .rsplit('/')
            .next()
            .filter(|name| !name.is_empty())
            .or(root);
        match SkillPackage::read(&files, name).and_then(|package| self.unlike_others(package)) {
            Ok(package) => self.skills.push(SkillBundle {
                folder,
                package,
                files,
            }),
            Err(error) => self.refused.push(RefusedSkill { folder, error }),
        }
    }

    /// Refuses a second one of a name, which would be installed in the place of the first.
    fn unlike_others(&self, package: SkillPackage) -> Result<SkillPackage, SkillError> {
        let first = self
            .skills
            .iter()
            .find(|other| other.package.name == package.name);
        let Some(first) = first else {
            return Ok(package);
        };
        let (name, folder) = (package.name, first.folder.clone());
        let problem = PackageFileProblem::DuplicateSkill { name, folder };
        Err(SkillError::file(MANIFEST_FILE, problem))
    }
}

/// The only folder at the top, as archives of repositories have it.
fn wrapper(files: &FileTree) -> Option<String> {
    let mut tops = files
        .iter()
        .map(|(path, _)| path.split_once('/').map(|(top, _)| top));
    let first = tops.next()??;
    tops.all(|top| top == Some(first)).then(|| first.to_owned())
}

/// Folders with a SKILL.md; what is below one belongs to it.
fn skill_folders<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    let folders = paths.filter_map(|path| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let depth = folder.split('/').filter(|step| !step.is_empty()).count();
        (is_manifest(name) && depth <= MAX_SKILL_DEPTH).then(|| folder.to_owned())
    });
    let mut folders: Vec<String> = folders.collect();
    // A folder comes before those in it.
    folders.sort();
    folders.dedup();
    let mut outermost: Vec<String> = Vec::new();
    for folder in folders {
        let is_inside =
            |outer: &String| outer.is_empty() || folder.starts_with(&format!("{outer}/"));
        if !outermost.iter().any(is_inside) {
            outermost.push(folder);
        }
    }
    outermost
}

fn check_count(source: &str, folders: Vec<String>) -> Result<Vec<String>, SkillError> {
    if folders.is_empty() {
        let max_depth = MAX_SKILL_DEPTH;
        return Err(SkillError::file(
            source,
            PackageFileProblem::NoSkill { max_depth },
        ));
    }
    if folders.len() > MAX_SKILLS {
        return Err(SkillError::file(
            source,
            PackageFileProblem::TooManySkills { max: MAX_SKILLS },
        ));
    }
    Ok(folders)
}
