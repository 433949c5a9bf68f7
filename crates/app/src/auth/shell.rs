//! How a command in a shell finds the server that runs with its data folder, and is let in there.
//!
//! `tenon serve` writes its address and a token into a file that only its owner can read, and
//! locks it for as long as it lives. The system lets go of the lock however the process ends, so
//! a file that nobody holds was left by a server that was killed. The token is another one after
//! each start; the server keeps no more than its hash, and takes it for no other routes than
//! those of [`Reach::Shell`](super::gate::Reach::Shell).

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenon_net::oauth::random_token;

use super::setup::page_address;
use crate::config::Config;

const FILE: &str = "server.json";

/// An address, a token and a hash are a few hundred bytes.
const MAX_FILE_BYTES: u64 = 4096;

/// Reading is enough to be let in.
const OTHERS_MAY: u32 = 0o077;

/// The token that commands show, as far as the server knows it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct ShellToken {
    /// Absent in a process that does not serve.
    hash: Arc<OnceLock<[u8; 32]>>,
}

/// The file of a server that runs, removed when dropped.
#[derive(Debug)]
pub struct ServerFile {
    path: PathBuf,
    /// Holds the lock.
    file: File,
}

/// A server that runs, as its file tells.
pub struct RunningServer {
    /// Such as `http://127.0.0.1:8366`.
    pub address: String,
    pub token: String,
    /// Its process.
    pub pid: u32,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    address: String,
    token: String,
    pid: u32,
    /// Hash of the database address.
    database: String,
    /// Hash of the servers that it was started with.
    servers: String,
}

impl ShellToken {
    /// Writes the file by which commands find this server. It can be published once.
    pub fn publish(
        &self,
        data: &Path,
        listening: SocketAddr,
        config: &Config,
    ) -> io::Result<ServerFile> {
        let token = random();
        let contents = Contents {
            address: page_address(listening),
            database: mark(&token, database(config)),
            servers: mark(&token, &servers(config).unwrap_or_default()),
            pid: std::process::id(),
            token,
        };
        let text = serde_json::to_string(&contents)?;
        let file = ServerFile::write(&std::path::absolute(data)?, &text)?;
        if self.hash.set(hash(&contents.token)).is_err() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(file)
    }

    /// Whether this is what the file says.
    pub fn fits(&self, token: &str) -> bool {
        // `==` on hashes leaks nothing through timing: without the token nobody can choose the
        // hash.
        self.hash.get() == Some(&hash(token))
    }
}

impl ServerFile {
    /// Writes the file atomically, readable by its owner only, and locked before it has its final
    /// name.
    fn write(folder: &Path, text: &str) -> io::Result<Self> {
        let draft = folder.join(format!(".{FILE}.{}", random()));
        let path = folder.join(FILE);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&draft)?;
        let written = file
            .lock()
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&draft, &path));
        if let Err(error) = written {
            // There may be nothing to remove.
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
        Ok(Self { path, file })
    }

    /// Whether no other server has put its own in this one's place.
    fn is_ours(&self) -> io::Result<bool> {
        let (there, ours) = (fs::symlink_metadata(&self.path)?, self.file.metadata()?);
        Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino()))
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        if self.is_ours().unwrap_or(false)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, "the file {} cannot be removed", self.path.display());
        }
    }
}

impl RunningServer {
    /// The server that runs with this data folder and these settings, if there is one.
    pub fn find(data: &Path, config: &Config) -> Option<Self> {
        let path = data.join(FILE);
        // Nothing else is opened: a pipe would be waited for.
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let file = File::open(&path).ok()?;
        let (mine, folder) = (file.metadata().ok()?, fs::metadata(data).ok()?);
        if !is_private(&mine, &folder) {
            tracing::warn!(
                "other users of this machine may read or write {}: it is not believed; start `tenon serve` again",
                path.display()
            );
            return None;
        }
        // Getting the exclusive lock means that the server which held it is gone.
        match file.try_lock_shared() {
            // Where files cannot be locked, nothing tells who listens at its address now.
            Ok(()) | Err(TryLockError::Error(_)) => return None,
            Err(TryLockError::WouldBlock) => {}
        }
        let mut text = String::new();
        file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
        let contents: Contents = serde_json::from_str(&text).ok()?;
        let mark = |text: &str| mark(&contents.token, text);
        // A command that names servers needs a server started with exactly these; one that names
        // none takes any.
        let is_same = contents.database == mark(database(config))
            && servers(config).is_none_or(|servers| contents.servers == mark(&servers));
        is_same.then_some(Self {
            address: contents.address,
            token: contents.token,
            pid: contents.pid,
        })
    }
}

/// Whether only those can have written it, or have read the token, who decide what is in the
/// data folder anyway.
fn is_private(file: &Metadata, folder: &Metadata) -> bool {
    let us = rustix::process::geteuid().as_raw();
    file.mode() & OTHERS_MAY == 0 && [0, us, folder.uid()].contains(&file.uid())
}

fn database(config: &Config) -> &str {
    config.database.as_deref().unwrap_or_default()
}

/// The servers that stand in the settings. None: no settings mention any.
fn servers(config: &Config) -> Option<String> {
    let (connections, servers) = (&config.tool_server_connections, &config.tool_servers);
    let is_there = connections.is_some() || servers.is_some();
    is_there.then(|| format!("{connections:?} {servers:?}"))
}

/// A hash that tells whether settings are equal without revealing them, since they may contain a
/// password.
fn mark(token: &str, text: &str) -> String {
    URL_SAFE_NO_PAD.encode(hash(&format!("{token} {text}")))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn random() -> String {
    random_token().expect("the system has randomness: ids are made of it too")
}

/// The token stays inside.
impl std::fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningServer")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn published(data: &Path) -> (ShellToken, ServerFile) {
        let token = ShellToken::default();
        let listening = "0.0.0.0:8366".parse().unwrap();
        let file = token.publish(data, listening, &Config::default()).unwrap();
        (token, file)
    }

    #[test]
    fn a_server_is_found_as_long_as_it_lives() {
        let data = tempfile::tempdir().unwrap();
        let find = || RunningServer::find(data.path(), &Config::default());
        assert!(find().is_none());
        let (token, file) = published(data.path());
        let found = find().unwrap();
        assert_eq!(found.address, "http://127.0.0.1:8366");
        assert!(token.fits(&found.token));
        for wrong in ["", "x", &found.token[1..]] {
            assert!(!token.fits(wrong), "{wrong}");
        }
        assert!(!ShellToken::default().fits(&found.token));
        let made = fs::metadata(data.path().join(FILE)).unwrap();
        assert_eq!(made.permissions().mode() & 0o777, 0o600);
        drop(file);
        assert!(find().is_none());
        assert_eq!(data.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_nobody_holds_is_left_over() {
        let data = tempfile::tempdir().unwrap();
        let (_token, file) = published(data.path());
        let left = fs::read(data.path().join(FILE)).unwrap();
        drop(file);
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600);
        let mut made = made.open(data.path().join(FILE)).unwrap();
        made.write_all(&left).unwrap();
        assert!(RunningServer::find(data.path(), &Config::default()).is_none());
        // The same one with somebody who holds it.
        made.lock().unwrap();
        assert!(RunningServer::find(data.path(), &Config::default()).is_some());
    }

    #[test]
    fn a_file_that_others_may_read_is_not_believed() {
        let data = tempfile::tempdir().unwrap();
        let (_token, _file) = published(data.path());
        for (mode, is_found) in [(0o600, true), (0o640, false), (0o602, false), (0o400, true)] {
            let path = data.path().join(FILE);
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            let found = RunningServer::find(data.path(), &Config::default());
            assert_eq!(found.is_some(), is_found, "{mode:o}");
        }
    }

    #[test]
    fn a_server_with_another_database_or_other_servers_is_another_one() {
        let config = |database: Option<&str>, servers: Option<&str>| Config {
            database: database.map(str::to_owned),
            tool_server_connections: servers.map(str::to_owned),
            ..Config::default()
        };
        let none = config(None, None);
        let (postgres, servers) = (
            config(Some("postgres://db/tenon"), None),
            config(None, Some("[]")),
        );
        let check = |started: &Config, asked: &Config, is_found: bool| {
            let data = tempfile::tempdir().unwrap();
            let listening = "127.0.0.1:8366".parse().unwrap();
            let _file = ShellToken::default().publish(data.path(), listening, started);
            let found = RunningServer::find(data.path(), asked);
            assert_eq!(found.is_some(), is_found, "{started:?} {asked:?}");
        };
        check(&none, &none, true);
        check(&postgres, &postgres, true);
        check(&none, &postgres, false);
        check(&postgres, &none, false);
        check(&servers, &servers, true);
        check(&none, &servers, false);
        // What it has besides is what is there.
        check(&servers, &none, true);
    }

    #[test]
    fn a_server_leaves_the_file_of_the_next_one() {
        let data = tempfile::tempdir().unwrap();
        let (_first, old) = published(data.path());
        let (second, _new) = published(data.path());
        drop(old);
        let found = RunningServer::find(data.path(), &Config::default()).unwrap();
        assert!(second.fits(&found.token));
    }

    #[test]
    fn what_is_no_such_file_is_nothing() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join(FILE);
        fs::create_dir(&path).unwrap();
        assert!(RunningServer::find(data.path(), &Config::default()).is_none());
        fs::remove_dir(&path).unwrap();
        let file = ServerFile::write(data.path(), "{\"address\": 1}").unwrap();
        assert!(RunningServer::find(data.path(), &Config::default()).is_none());
        drop(file);
        let _file = ServerFile::write(data.path(), &"x".repeat(100_000)).unwrap();
        assert!(RunningServer::find(data.path(), &Config::default()).is_none());
    }
}
