//! The watched folder: servers that are configured in files.
//!
//! Every `*.json`, `*.yaml` and `*.yml` in it is read when it appears or changes. The folder is
//! polled: that needs no help from the system, works on every file system, and costs a few stats.
//! A file that cannot be parsed keeps its last good configuration and shows the error; one that is
//! half written is read again at the next poll. What a file configures is run, so a file that
//! others on this machine may write to is not.

mod fault;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tenon_domain::{CodedError, ErrorDetail};
use tenon_sources::import::{
    self, ImportNote, ImportedServer, MAX_WITH_DOCUMENTS_BYTES, ServerEntryError, clean,
    is_unprintable,
};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

pub use fault::FileFault;

use super::Sources;
use crate::permissions::{Risk, risk, risk_of_replacing};

/// Short enough for somebody who has just saved a file.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// More files than this are not meant for Tenon.
const MAX_FILES: usize = 1000;

/// A change since the last poll.
#[derive(Debug, PartialEq, Eq)]
enum FolderChange {
    /// The servers of this file from now on.
    Put(String, Vec<ImportedServer>),
    Removed(String),
}

/// The folder as of the last poll.
#[derive(Debug)]
pub struct WatchedFolder {
    path: PathBuf,
    files: BTreeMap<String, WatchedFile>,
    applied: BTreeMap<String, Vec<ImportedServer>>,
    /// Names that servers elsewhere have, and where those stand.
    taken: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct WatchedFile {
    stamp: Option<FileStamp>,
    /// The last good configuration.
    servers: Vec<ImportedServer>,
    problem: Option<FileProblem>,
}

/// File metadata that changes with every write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    modified: Option<SystemTime>,
    size: u64,
    file_risk: Option<FileRisk>,
}

/// Why a file is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileRisk {
    File(Risk),
    /// The watched folder.
    Folder(Risk),
    /// The folder that a link leads into.
    Target(Risk),
}

#[derive(Debug)]
enum FileProblem {
    /// It is not run, for this reason.
    FileRisk(FileFault),
    /// Seen once. Perhaps somebody is still writing.
    Suspected,
    Confirmed(ErrorDetail),
}

impl WatchedFolder {
    /// `taken` are the names that servers elsewhere have, in small letters, and where those stand.
    pub fn new(path: &Path, taken: BTreeMap<String, String>) -> Self {
        Self {
            path: path.to_owned(),
            files: BTreeMap::new(),
            applied: BTreeMap::new(),
            taken,
        }
    }

    /// Makes the folder, so that people find it.
    pub fn create(&self) {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(0o700);
        if let Err(error) = folder.create(&self.path) {
            tracing::warn!(folder = %self.path.display(), %error, "the folder for servers cannot be made");
        }
    }

    /// Polls once, and reads the files that changed. Blocks.
    fn poll(&mut self) -> Vec<FolderChange> {
        match list(&self.path) {
            Ok(stamps) => {
                self.files.retain(|name, _| stamps.contains_key(name));
                for (name, stamp) in stamps {
                    let file = self.files.entry(name.clone()).or_default();
                    file.poll(&self.path.join(&name), stamp);
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => self.files.clear(),
            // A disk that is away for a moment takes nothing away.
            Err(error) => {
                tracing::warn!(folder = %self.path.display(), %error, "the folder for servers cannot be looked at");
            }
        }
        self.changes()
    }

    /// Polls once, and applies what changed.
    pub async fn apply(&mut self, sources: &Sources) {
        let mut folder = Self::new(&self.path, self.taken.clone());
        std::mem::swap(self, &mut folder);
        let looking = tokio::task::spawn_blocking(move || {
            let changes = folder.poll();
            (folder, changes)
        });
        // It is left as new after a panic, and everything is read again.
        let Ok((looked, changes)) = looking.await else {
            tracing::error!("the folder for servers could not be looked at");
            return;
        };
        *self = looked;
        for change in changes {
            match change {
                FolderChange::Put(file, servers) => sources.put_file(&file, servers).await,
                FolderChange::Removed(file) => sources.remove_file(&file).await,
            }
        }
    }

    /// Polls and applies for ever.
    pub async fn watch(mut self, sources: Sources) {
        // The first look was at the start; a file that was half written then gets time to be
        // completed.
        let mut time = interval_at(Instant::now() + POLL_INTERVAL, POLL_INTERVAL);
        time.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            time.tick().await;
            self.apply(&sources).await;
        }
    }

    fn changes(&mut self) -> Vec<FolderChange> {
        let now = self.servers();
        let mut changes = Vec::new();
        for name in self.applied.keys() {
            if !now.contains_key(name) {
                changes.push(FolderChange::Removed(name.clone()));
            }
        }
        for (name, servers) in &now {
            if self.applied.get(name) != Some(servers) {
                changes.push(FolderChange::Put(name.clone(), servers.clone()));
            }
        }
        self.applied = now;
        changes
    }

    /// The servers of each file, in the order of the file names; a duplicate name is renamed.
    fn servers(&self) -> BTreeMap<String, Vec<ImportedServer>> {
        let mut given = self.taken.clone();
        let mut all: BTreeMap<String, Vec<ImportedServer>> = BTreeMap::new();
        for (name, file) in &self.files {
            let name = shown(name);
            let mut servers = file.servers_of(&name);
            for server in &mut servers {
                let key = server.name.to_ascii_lowercase();
                let Some(other) = given.get(&key) else {
                    given.insert(key, name.clone());
                    continue;
                };
                let is_free = |free: &str| !given.contains_key(&free.to_ascii_lowercase());
                let free = import::numbered(&server.name, is_free);
                server.notes.push(numbered(&server.name, other, &free));
                given.insert(free.to_ascii_lowercase(), name.clone());
                server.name = free;
            }
            all.entry(name).or_default().extend(servers);
        }
        all
    }
}

impl WatchedFile {
    fn poll(&mut self, path: &Path, stamp: FileStamp) {
        let same = self.stamp == Some(stamp);
        if same && !matches!(self.problem, Some(FileProblem::Suspected)) {
            return;
        }
        self.stamp = Some(stamp);
        if let Some(file_risk) = stamp.file_risk {
            let why = file_risk.fault(path);
            tracing::warn!(file = ?path, %why, "a file of servers is not run");
            self.servers.clear();
            self.problem = Some(FileProblem::FileRisk(why));
            return;
        }
        match read(path) {
            Ok(servers) => {
                self.servers = servers;
                self.problem = None;
            }
            Err(why) if same => {
                tracing::warn!(file = ?path, %why, "a file of servers cannot be read");
                self.problem = Some(FileProblem::Confirmed(why));
            }
            // A file that was broken before stays broken until it can be read.
            Err(_) if matches!(self.problem, Some(FileProblem::Confirmed(_))) => {
                self.stamp = None;
            }
            Err(_) => self.problem = Some(FileProblem::Suspected),
        }
    }

    fn servers_of(&self, name: &str) -> Vec<ImportedServer> {
        let why = match &self.problem {
            None | Some(FileProblem::Suspected) => return self.servers.clone(),
            Some(FileProblem::FileRisk(fault)) => return vec![unusable(name, fault.detail())],
            Some(FileProblem::Confirmed(why)) => why,
        };
        if self.servers.is_empty() {
            return vec![unusable(name, unread(name, why.clone()))];
        }
        let mut servers = self.servers.clone();
        for server in &mut servers {
            let broken = ImportNote::FileBroken {
                file: name.into(),
                why: why.clone().into(),
            };
            server.notes.push(broken.into());
        }
        servers
    }
}

fn list(path: &Path) -> std::io::Result<BTreeMap<String, FileStamp>> {
    // The first by name: which those are does not depend on the order a disk has them in.
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name().into_string();
        names.extend(name.ok().filter(|name| is_source_file(name)));
        if names.len() > MAX_FILES {
            names.pop_last();
        }
    }
    let of_folder = risk(&fs::symlink_metadata(path)?).or(risk(&fs::metadata(path)?));
    let mut stamps = BTreeMap::new();
    for name in names {
        let file = path.join(&name);
        // Through links: people keep their configuration elsewhere and link to it.
        if let (Ok(entry), Ok(metadata)) = (fs::symlink_metadata(&file), fs::metadata(&file))
            && metadata.is_file()
        {
            let file_risk = of_folder
                .map(FileRisk::Folder)
                .or_else(|| file_risk(&file, &entry, &metadata));
            let stamp = FileStamp {
                modified: metadata.modified().ok(),
                size: metadata.len(),
                file_risk,
            };
            stamps.insert(name, stamp);
        }
    }
    Ok(stamps)
}

/// The name of a file as people may see it.
fn shown(name: &str) -> String {
    name.replace(is_unprintable, "\u{FFFD}")
}

/// Whether a file is one of servers by its name. What begins with a dot is what editors write on
/// the side.
pub fn is_source_file(name: &str) -> bool {
    let ending = Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str());
    let known = |ending: &str| {
        let known = ["json", "yaml", "yml"];
        known.iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    !name.starts_with('.') && ending.is_some_and(known)
}

/// Of a file, and of the link to it where there is one.
fn file_risk(path: &Path, entry: &Metadata, file: &Metadata) -> Option<FileRisk> {
    let of_file = risk(entry).or(risk(file)).map(FileRisk::File);
    if of_file.is_some() || !entry.is_symlink() {
        return of_file;
    }
    let target = fs::canonicalize(path).ok()?;
    let folder = fs::metadata(target.parent()?).ok()?;
    risk_of_replacing(&folder).map(FileRisk::Target)
}

impl FileRisk {
    fn fault(self, path: &Path) -> FileFault {
        let folder = path.parent().and_then(Path::file_name);
        let folder = shown(&folder.unwrap_or_default().to_string_lossy());
        let file = shown(&path.file_name().unwrap_or_default().to_string_lossy());
        let (file, folder) = (file.into(), folder.into());
        match self {
            Self::File(Risk::Writable) => FileFault::Writable { file, folder },
            Self::Folder(Risk::Writable) => FileFault::FolderWritable { file, folder },
            Self::Target(Risk::Writable) => FileFault::TargetWritable { file, folder },
            Self::File(Risk::Foreign) => FileFault::Foreign { file, folder },
            Self::Folder(Risk::Foreign) | Self::Target(Risk::Foreign) => {
                FileFault::FolderForeign { file }
            }
        }
    }
}

fn read(path: &Path) -> Result<Vec<ImportedServer>, ErrorDetail> {
    let text = read_text(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => FileFault::NotUtf8,
        _ => {
            let said = error.to_string().into();
            FileFault::System { said }
        }
    })?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    Ok(import::read(&text, stem)?.servers)
}

/// Not more than may be read, whatever the file has become since it was listed.
fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = fs::File::open(path)?;
    file.take(MAX_WITH_DOCUMENTS_BYTES as u64 + 1)
        .read_to_string(&mut text)?;
    Ok(text)
}

/// A placeholder entry for a file without a readable server, so that the error can be listed.
pub(super) fn unusable(file: &str, why: ErrorDetail) -> ImportedServer {
    ImportedServer {
        name: called(file),
        title: file.to_owned(),
        config: Err(ServerEntryError::Other(why)),
        document: None,
        enabled: true,
        notes: Vec::new(),
    }
}

/// Why nothing of a file can be used.
pub(super) fn unread(file: &str, why: ErrorDetail) -> ErrorDetail {
    FileFault::Unread {
        file: file.into(),
        why: why.into(),
    }
    .into()
}

/// A server at another place has the same name.
pub(super) fn numbered(name: &str, place: &str, free: &str) -> ErrorDetail {
    ImportNote::NumberedElsewhere {
        name: name.into(),
        place: place.into(),
        free: free.into(),
    }
    .into()
}

/// A name for a file that contains no server names.
fn called(file: &str) -> String {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    match clean(stem.unwrap_or_default()) {
        name if name.is_empty() => "file".into(),
        name => name,
    }
}

#[cfg(test)]
mod tests;
