//! The files of the chats in a backup. Links are not followed: what they lead
//! to is not the chat's.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use super::writer::BackupWriter;
use super::{BackupLine, FileChunk, broken};
use crate::{Error, Result};

/// How much of a file is in memory at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// Writes every file below a folder.
pub(super) fn write<W: Write>(writer: &mut BackupWriter<W>, folder: &Path) -> Result<()> {
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, above)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            // The file was deleted in the meantime or never existed.
            continue;
        };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else {
                let path = format!("{above}{}", entry.file_name().to_string_lossy());
                skip(writer, path, "its name is not text");
                continue;
            };
            let path = format!("{above}{name}");
            match entry.path().symlink_metadata() {
                Ok(found) if found.is_dir() => folders.push((entry.path(), format!("{path}/"))),
                Ok(found) if found.is_file() => write_file(writer, &entry.path(), path, &found)?,
                Ok(found) if found.is_symlink() => skip(writer, path, "it is a link"),
                Ok(_) => skip(writer, path, "it is no file"),
                Err(error) => skip(writer, path, &error.to_string()),
            }
        }
    }
    Ok(())
}

/// Writes a file; one that changes while it is read is removed from the backup again.
fn write_file<W: Write>(
    writer: &mut BackupWriter<W>,
    file: &Path,
    path: String,
    found: &Metadata,
) -> Result<()> {
    let mut opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) => {
            skip(writer, path, &error.to_string());
            return Ok(());
        }
    };
    loop {
        let mut data = Vec::new();
        let read = (&mut opened)
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut data);
        let is_last = data.len() < CHUNK_BYTES;
        let is_the_same = || opened.metadata().is_ok_and(|now| is_same(found, &now));
        let trouble = match read {
            Err(error) => Some(error.to_string()),
            Ok(_) if is_last && !is_the_same() => Some("it changed meanwhile".to_owned()),
            Ok(_) => None,
        };
        if let Some(trouble) = trouble {
            writer.line(&BackupLine::Skipped(path.clone()))?;
            skip(writer, path, &trouble);
            return Ok(());
        }
        let path = path.clone();
        writer.line(&BackupLine::File(FileChunk {
            path,
            data,
            is_last,
        }))?;
        if is_last {
            writer.made.files += 1;
            return Ok(());
        }
    }
}

fn skip<W: Write>(writer: &mut BackupWriter<W>, path: String, why: &str) {
    writer.made.skipped.push((path, why.to_owned()));
}

/// Whether nobody changed the file, or put another one in its place before it was opened.
fn is_same(before: &Metadata, after: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (before.dev(), before.ino()) != (after.dev(), after.ino()) {
            return false;
        }
    }
    before.len() == after.len() && before.modified().ok() == after.modified().ok()
}

/// A folder that fills with the files of a backup. Gone unless it is kept.
pub(super) struct Staging {
    pub folder: PathBuf,
    open: Option<(String, File)>,
}

impl Staging {
    pub fn new(folder: PathBuf) -> Result<Self> {
        let made = fs::create_dir_all(&folder);
        made.map_err(broken(format_args!(
            "the folder {} cannot be made",
            folder.display()
        )))?;
        Ok(Self { folder, open: None })
    }

    pub fn add(&mut self, chunk: FileChunk) -> Result<()> {
        let mut file = match self.open.take() {
            Some((path, file)) if path == chunk.path => file,
            _ => self.create(&chunk.path)?,
        };
        let written = file.write_all(&chunk.data);
        written.map_err(broken(format_args!(
            "the file {:?} cannot be written",
            chunk.path
        )))?;
        if !chunk.is_last {
            self.open = Some((chunk.path, file));
        }
        Ok(())
    }

    /// Takes back what came of a file.
    pub fn skip(&mut self, path: &str) -> Result<()> {
        self.open = None;
        let _ = fs::remove_file(self.folder.join(safe(path)?));
        Ok(())
    }

    fn create(&self, path: &str) -> Result<File> {
        let file = self.folder.join(safe(path)?);
        let folder = file.parent().unwrap_or(&self.folder);
        let made = fs::create_dir_all(folder).and_then(|()| {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).open(&file)
        });
        made.map_err(broken(format_args!("the file {path:?} cannot be made")))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A path that stays below the folder it is put into.
pub(super) fn safe(path: &str) -> Result<&Path> {
    let is_name = |part| matches!(part, Component::Normal(_));
    let relative = Path::new(path);
    let stays = !path.is_empty() && !path.contains('\0') && relative.components().all(is_name);
    stays.then_some(relative).ok_or_else(|| {
        Error::Backup(format!(
            "the backup names a file that would lie outside its folder: {path:?}"
        ))
    })
}
