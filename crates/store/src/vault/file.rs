//! The file with the keys, one a line. It changes as a whole or not at all,
//! and nobody but its owner reads it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::key::{VaultKey, parse_all};
use crate::{Error, Result};

pub(super) const KEY_FILE: &str = "secret.key";

pub(super) struct KeyFile {
    folder: PathBuf,
    path: PathBuf,
}

impl KeyFile {
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            path: folder.join(KEY_FILE),
        }
    }

    pub fn read(&self) -> Result<Vec<VaultKey>> {
        self.parse(read(&self.path))
    }

    pub fn read_or_make(&self) -> Result<Vec<VaultKey>> {
        let found = match read(&self.path) {
            // Then read back: another process may have been quicker, and its key counts.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make().and_then(|()| read(&self.path))
            }
            other => other,
        };
        self.parse(found)
    }

    /// Puts these keys in the place of those that are there.
    pub fn replace(&self, keys: &[VaultKey]) -> Result<()> {
        let unseen = self.unseen();
        let replaced = write(&unseen, keys).and_then(|()| fs::rename(&unseen, &self.path));
        if replaced.is_err() {
            let _ = fs::remove_file(&unseen);
        }
        sync(&self.folder);
        replaced.map_err(|error| self.unusable(&error))
    }

    fn parse(&self, found: io::Result<Vec<u8>>) -> Result<Vec<VaultKey>> {
        let found = found.map_err(|error| self.unusable(&error))?;
        let keys = str::from_utf8(&found).ok().and_then(parse_all);
        // Never overwritten: it may be a valid key that an editor truncated.
        keys.ok_or_else(|| {
            Error::Secret(format!(
                "the key file {} does not hold a key; put back a copy of it, \
                 or remove it and enter all secrets again",
                self.path.display()
            ))
        })
    }

    /// The link fails if another process has made the file meanwhile.
    fn make(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let unseen = self.unseen();
        let made =
            write(&unseen, &[VaultKey::fresh()]).and_then(|()| fs::hard_link(&unseen, &self.path));
        let _ = fs::remove_file(&unseen);
        match made {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => {
                sync(&self.folder);
                Ok(())
            }
        }
    }

    /// A name nobody looks for.
    fn unseen(&self) -> PathBuf {
        self.folder.join(format!(".{KEY_FILE}.{}", Uuid::new_v4()))
    }

    fn unusable(&self, error: &io::Error) -> Error {
        Error::Secret(format!(
            "the key file {} cannot be used ({error}); let Tenon read and write it, \
             or set TENON_SECRET_KEY",
            self.path.display()
        ))
    }
}

pub(super) fn lines(keys: &[VaultKey]) -> String {
    keys.iter().map(|key| format!("{}\n", key.text)).collect()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    keep_private(&file)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(text)
}

fn write(path: &Path, keys: &[VaultKey]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(lines(keys).as_bytes())?;
    file.sync_all()
}

/// Puts the file's name on the disk as well, where a folder can be told to:
/// a power cut must not take the key and leave what was sealed with it.
fn sync(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Closes a key file to everybody but its owner.
#[cfg(unix)]
fn keep_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    match file.set_permissions(fs::Permissions::from_mode(0o600)) {
        // A file that somebody else put there, such as a mounted secret: its mode is their
        // decision.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

#[cfg(not(unix))]
fn keep_private(_: &File) -> io::Result<()> {
    Ok(())
}
