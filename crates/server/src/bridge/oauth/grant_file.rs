//! Where the grant of a server is stored: a file that only its owner reads, or this process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use tenon_domain::text::hex;
use tenon_mcp::oauth::{Grant, GrantStorage, GrantStorageError};
use tokio::fs;
use tokio::io::AsyncWriteExt;
use url::Url;

/// Below the home folder.
const FOLDER: &str = ".tenon-bridge";

pub(super) struct GrantFile(PathBuf);

impl GrantFile {
    /// Named by the address: a server that is moved elsewhere gets no token of the old one. None:
    /// there is no home folder.
    pub(super) fn of_server(server: &Url) -> Option<Self> {
        let hash = Sha256::digest(server.as_str());
        let name = hex(&hash[..8]);
        let folder = std::env::home_dir()?.join(FOLDER);
        Some(Self(folder.join(format!("{name}.json"))))
    }

    async fn write(&self, grant: &Grant) -> io::Result<()> {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        create_private_folder(folder).await?;
        let written = self.0.with_extension("new");
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        options.mode(0o600);
        let mut file = options.open(&written).await?;
        file.write_all(&serde_json::to_vec(grant)?).await?;
        file.sync_all().await?;
        fs::rename(written, &self.0).await
    }
}

async fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    builder.create(folder).await
}

#[async_trait]
impl GrantStorage for GrantFile {
    async fn load(&self) -> Result<Option<Grant>, GrantStorageError> {
        let read = match fs::read(&self.0).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| storage_error(&self.0, &error))?,
        };
        let grant = serde_json::from_slice(&read);
        grant.map_err(|error| storage_error(&self.0, &error.into()))
    }

    async fn save(&self, grant: &Grant) -> Result<(), GrantStorageError> {
        let written = self.write(grant).await;
        written.map_err(|error| storage_error(&self.0, &error))
    }

    async fn remove(&self) -> Result<(), GrantStorageError> {
        match fs::remove_file(&self.0).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(storage_error(&self.0, &error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn storage_error(path: &Path, error: &io::Error) -> GrantStorageError {
    GrantStorageError(format!("{} cannot be used: {error}", path.display()))
}

/// For as long as the process runs.
#[derive(Default)]
pub(super) struct MemoryGrant(Mutex<Option<Grant>>);

impl MemoryGrant {
    fn set(&self, grant: Option<Grant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = grant;
    }
}

#[async_trait]
impl GrantStorage for MemoryGrant {
    async fn load(&self) -> Result<Option<Grant>, GrantStorageError> {
        let grant = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(grant.clone())
    }

    async fn save(&self, grant: &Grant) -> Result<(), GrantStorageError> {
        self.set(Some(grant.clone()));
        Ok(())
    }

    async fn remove(&self) -> Result<(), GrantStorageError> {
        self.set(None);
        Ok(())
    }
}
