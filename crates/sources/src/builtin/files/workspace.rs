//! The folder a call may work in.
//!
//! Two independent checks: `cap-std` never resolves a path to outside the
//! folder, and every name on the way is looked at first and refused if it is
//! a link. Special files are never opened: opening a pipe would wait for ever.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileType, OpenOptions};
use tenon_domain::ToolError;
use tenon_domain::text::shorten;
use tenon_tools::quota::Reservation;
use tenon_tools::{CallContext, Quota};

use super::path::FilePath;
use crate::builtin::blocking::StopSignal;

/// More names than this are counted, not shown.
const MAX_LISTED: usize = 1000;

/// A folder larger than this is not even counted to its end.
const MAX_COUNTED: usize = 100_000;

/// What a folder takes on a disk.
const FOLDER_BYTES: usize = 4096;

pub(super) struct Workspace {
    root: PathBuf,
}

/// What a name in a folder stands for.
pub(super) enum DirectoryEntry {
    Folder(Dir),
    File(File),
}

impl Workspace {
    pub(super) fn of(context: &CallContext) -> Result<Self, ToolError> {
        match &context.workspace {
            Some(root) => Ok(Self::at(root)),
            None => Err(ToolError::denied(
                "This call has no workspace, so there are no files to work with. Answer without files.",
            )),
        }
    }

    pub(super) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Room for a file, and for the folders that may have to be made for it.
    pub(super) async fn reserve(
        &self,
        quota: &Arc<Quota>,
        context: &CallContext,
        path: &FilePath,
        bytes: usize,
    ) -> Result<Reservation, ToolError> {
        let bytes = bytes + path.names().len() * FOLDER_BYTES;
        let reserved = quota.reserve_file(&context.user, &self.root, bytes as u64);
        reserved.await.map_err(ToolError::from)
    }

    pub(super) fn open(&self, path: &FilePath) -> Result<File, ToolError> {
        match self.entry(path)? {
            Some(DirectoryEntry::File(file)) => Ok(file),
            Some(DirectoryEntry::Folder(_)) => Err(ToolError::failed(format!(
                "{path} is a folder: list it instead."
            ))),
            None => Err(missing(path)),
        }
    }

    /// What is at a path. None: nothing, or no workspace yet, which is the same.
    pub(super) fn entry(&self, path: &FilePath) -> Result<Option<DirectoryEntry>, ToolError> {
        let Some(mut folder) = self.root()? else {
            return Ok(None);
        };
        let Some((folders, last)) = path.split_last() else {
            return Ok(Some(DirectoryEntry::Folder(folder)));
        };
        for name in folders {
            folder = match kind_of(&folder, name, path)? {
                None => return Ok(None),
                Some(PathKind::Folder) => folder
                    .open_dir(name)
                    .map_err(|error| io_error(path, &error))?,
                Some(PathKind::File) => {
                    return Err(ToolError::failed(format!(
                        "`{name}` in {path} is a file, not a folder."
                    )));
                }
            };
        }
        entry_in(&folder, last, path)
    }

    pub(super) fn list(&self, path: &FilePath, stop: &StopSignal) -> Result<String, ToolError> {
        let folder = match self.entry(path)? {
            Some(DirectoryEntry::Folder(folder)) => folder,
            Some(DirectoryEntry::File(_)) => {
                return Err(ToolError::failed(format!(
                    "{path} is a file: read it instead."
                )));
            }
            // The workspace is made when something is first written in it.
            None if path.names().is_empty() => return Ok("The workspace is empty.".into()),
            None => return Err(missing(path)),
        };
        let (names, counted_all) = names_in(&folder, path, stop)?;
        if names.is_empty() {
            return Ok(match path.names() {
                [] => "The workspace is empty.".into(),
                _ => format!("{path} is empty."),
            });
        }
        let mut lines = Vec::new();
        for name in names.iter().take(MAX_LISTED) {
            stop.check()?;
            lines.extend(line_for(&folder, name));
        }
        let rest = names.len().saturating_sub(MAX_LISTED);
        if rest > 0 {
            let at_least = if counted_all { "" } else { "at least " };
            lines.push(format!("[and {at_least}{rest} more]"));
        }
        Ok(lines.join("\n"))
    }

    /// Replaces a file, or makes it. Nobody ever sees half of it: the content
    /// is written beside it and then takes its place.
    pub(super) fn write(&self, path: &FilePath, content: &[u8]) -> Result<(), ToolError> {
        let (folder, name) = self.place_for(path)?;
        let mode = folder
            .symlink_metadata(name)
            .ok()
            .map(|metadata| metadata.permissions());
        let draft = draft_name();
        let written = (|| {
            let mut file =
                folder.open_with(&draft, OpenOptions::new().write(true).create_new(true))?;
            file.write_all(content)?;
            if let Some(mode) = mode {
                file.set_permissions(mode)?;
            }
            file.sync_all()?;
            folder.rename(&draft, &folder, name)
        })();
        written.map_err(|error| {
            // The draft may not be there; then there is nothing to tidy.
            folder.remove_file(&draft).ok();
            io_error(path, &error)
        })
    }

    pub(super) fn append(&self, path: &FilePath, content: &[u8]) -> Result<(), ToolError> {
        let (folder, name) = self.place_for(path)?;
        let added = folder
            .open_with(name, OpenOptions::new().append(true).create(true))
            .and_then(|mut file| file.write_all(content));
        added.map_err(|error| io_error(path, &error))
    }

    fn root(&self) -> Result<Option<Dir>, ToolError> {
        match Dir::open_ambient_dir(&self.root, ambient_authority()) {
            Ok(root) => Ok(Some(root)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// The folder a file goes into, made if need be, and the file's name there.
    fn place_for<'a>(&self, path: &'a FilePath) -> Result<(Dir, &'a str), ToolError> {
        let Some((folders, last)) = path.split_last() else {
            return Err(ToolError::invalid_input(
                "`path` is empty: name the file to write.",
            ));
        };
        let mut folder = Dir::create_ambient_dir_all(&self.root, ambient_authority())
            .and_then(|()| Dir::open_ambient_dir(&self.root, ambient_authority()))
            .map_err(|error| self.unusable(&error))?;
        for name in folders {
            match kind_of(&folder, name, path)? {
                Some(PathKind::Folder) => {}
                Some(PathKind::File) => {
                    return Err(ToolError::failed(format!(
                        "`{name}` in {path} is a file, not a folder."
                    )));
                }
                None => folder
                    .create_dir(name)
                    .map_err(|error| io_error(path, &error))?,
            }
            folder = folder
                .open_dir(name)
                .map_err(|error| io_error(path, &error))?;
        }
        match kind_of(&folder, last, path)? {
            None | Some(PathKind::File) => Ok((folder, last)),
            Some(PathKind::Folder) => Err(ToolError::failed(format!(
                "{path} is a folder. Name a file in it."
            ))),
        }
    }

    fn unusable(&self, error: &io::Error) -> ToolError {
        // The folder's place on this machine is the operator's business, not the model's.
        tracing::error!(%error, root = %self.root.display(), "a workspace cannot be used");
        ToolError::failed("The workspace cannot be used now; the operator's log says why.")
    }
}

/// All names in a folder, sorted, and whether these are really all.
pub(super) fn names_in(
    folder: &Dir,
    path: &FilePath,
    stop: &StopSignal,
) -> Result<(Vec<String>, bool), ToolError> {
    let mut names = Vec::new();
    for entry in folder.entries().map_err(|error| io_error(path, &error))? {
        stop.check()?;
        let entry = entry.map_err(|error| io_error(path, &error))?;
        if names.len() == MAX_COUNTED {
            names.sort_unstable();
            return Ok((names, false));
        }
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok((names, true))
}

/// Opens a name in a folder, if it is something that may be opened.
pub(super) fn entry_in(
    folder: &Dir,
    name: &str,
    path: &FilePath,
) -> Result<Option<DirectoryEntry>, ToolError> {
    let opened = match kind_of(folder, name, path)? {
        None => return Ok(None),
        Some(PathKind::Folder) => folder.open_dir(name).map(DirectoryEntry::Folder),
        Some(PathKind::File) => folder.open(name).map(DirectoryEntry::File),
    };
    opened.map(Some).map_err(|error| io_error(path, &error))
}

enum PathKind {
    Folder,
    File,
}

/// What a name stands for, without following or opening it. None: nothing is there.
fn kind_of(folder: &Dir, name: &str, path: &FilePath) -> Result<Option<PathKind>, ToolError> {
    let kind = match folder.symlink_metadata(name) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(path, &error)),
    };
    if kind.is_symlink() {
        let shown = shorten(name, 80);
        return Err(ToolError::denied(format!(
            "`{shown}` in {path} is a link, and links are not followed. Name the file itself."
        )));
    }
    if kind.is_dir() {
        return Ok(Some(PathKind::Folder));
    }
    if kind.is_file() {
        return Ok(Some(PathKind::File));
    }
    Err(ToolError::denied(format!(
        "{path} is a pipe, a socket or a device, which are not opened."
    )))
}

/// None for what went away while the folder was being listed.
fn line_for(folder: &Dir, name: &str) -> Option<String> {
    let metadata = folder.symlink_metadata(name).ok()?;
    // A name with a line break in it must not look like two entries.
    let shown: String = name
        .chars()
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect();
    Some(if metadata.is_dir() {
        format!("{shown}/")
    } else if metadata.is_file() {
        format!("{shown} ({} bytes)", metadata.len())
    } else {
        format!("{shown} ({})", special(metadata.file_type()))
    })
}

fn special(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        "a link, not followed"
    } else {
        "not a file"
    }
}

/// Two writes at once must not share a draft.
fn draft_name() -> String {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    format!(".tenon-draft-{}-{number}", std::process::id())
}

pub(super) fn missing(path: &FilePath) -> ToolError {
    ToolError::failed(format!(
        "There is no {path}. List the files to see what there is."
    ))
}

pub(super) fn io_error(path: &FilePath, error: &io::Error) -> ToolError {
    ToolError::failed(format!("{path} cannot be used: {error}."))
}
