//! Making a backup. The rows are those of one moment, however long it takes.
//!
//! Writing blocks the thread: this is for commands, which have nothing else to do.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use sea_orm::{
    AccessMode, DatabaseTransaction, DbBackend, IsolationLevel, TransactionOptions,
    TransactionTrait,
};
use sea_orm_migration::MigratorTrait;
use uuid::Uuid;

use super::writer::{BackupSummary, BackupWriter};
use super::{BackupHeader, BackupLine, FORMAT, broken, files, tables};
use crate::migration::Migrator;
use crate::{Error, Result, Store, now};

/// What goes into a backup beside the tables.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Clone, Copy)]
pub struct BackupInput<'a> {
    /// The folder with the files of all chats.
    pub work: &'a Path,
    /// What [`crate::Vault::reveal`] tells; None: the keys are kept apart.
    pub keys: Option<&'a str>,
}

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingFile {
    Keep,
    Replace,
}

impl Store {
    /// Writes a backup under this name: it is there whole, or not at all.
    pub async fn backup_to(
        &self,
        path: &Path,
        existing: ExistingFile,
        origin: BackupInput<'_>,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<BackupSummary> {
        if existing == ExistingFile::Keep && path.symlink_metadata().is_ok() {
            return Err(taken(path));
        }
        let temporary = TemporaryFile::beside(path)?;
        let made = self
            .backup(Box::new(&temporary.file), origin, progress)
            .await?;
        temporary.rename_to(path, existing)?;
        Ok(made)
    }

    /// Writes a backup. `progress` hears of rows, and of how many there are.
    pub fn backup<'a>(
        &'a self,
        out: Box<dyn Write + Send + 'a>,
        origin: BackupInput<'a>,
        progress: &'a mut (dyn FnMut(u64, u64) + Send),
    ) -> BoxFuture<'a, Result<BackupSummary>> {
        Box::pin(async move {
            let snapshot = self.snapshot().await?;
            let counts = tables::count(&snapshot).await?;
            let header = BackupHeader {
                format: FORMAT,
                schema: Migrator::migrations().len(),
                software: env!("CARGO_PKG_VERSION").into(),
                made_at: now(),
                rows: counts
                    .into_iter()
                    .map(|(table, count)| (table.to_owned(), count))
                    .collect(),
            };
            let total = header.total();
            let mut writer = BackupWriter::new(out);
            writer.line(&BackupLine::Backup(header))?;
            tables::each(&snapshot, &mut |table, row| {
                writer.line(&BackupLine::Row(table.to_owned(), row))?;
                writer.made.rows += 1;
                progress(writer.made.rows, total);
                Ok(())
            })
            .await?;
            drop(snapshot);
            if let Some(keys) = origin.keys {
                writer.line(&BackupLine::Keys(keys.to_owned()))?;
            }
            files::write(&mut writer, origin.work)?;
            writer.finish()
        })
    }

    /// A transaction that sees one moment and changes nothing.
    async fn snapshot(&self) -> Result<DatabaseTransaction> {
        let options = match self.read.get_database_backend() {
            DbBackend::Postgres => TransactionOptions {
                isolation_level: Some(IsolationLevel::RepeatableRead),
                access_mode: Some(AccessMode::ReadOnly),
                ..Default::default()
            },
            // What SQLite reads in one transaction is of one moment anyway.
            _ => TransactionOptions::default(),
        };
        Ok(self.read.begin_with_options(options).await?)
    }
}

/// A file under a name that nobody looks for, gone unless it is shown.
struct TemporaryFile {
    file: File,
    path: PathBuf,
}

impl TemporaryFile {
    fn beside(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| {
            Error::Backup(format!("{} is not the name of a file", path.display()))
        })?;
        let temporary = format!(".{}.{}", name.to_string_lossy(), Uuid::new_v4());
        let temporary = path.with_file_name(temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // All chats of everybody are in it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&temporary).map_err(broken(format_args!(
            "no backup can be written beside {}",
            path.display()
        )))?;
        Ok(Self {
            file,
            path: temporary,
        })
    }

    fn rename_to(self, path: &Path, existing: ExistingFile) -> Result<()> {
        let shown = self.file.sync_all().and_then(|()| match existing {
            ExistingFile::Replace => fs::rename(&self.path, path),
            // Fails if there is one by now.
            ExistingFile::Keep => fs::hard_link(&self.path, path),
        });
        match shown {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(taken(path)),
            other => other.map_err(broken(format_args!(
                "the backup cannot be called {}",
                path.display()
            ))),
        }
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn taken(path: &Path) -> Error {
    Error::Backup(format!(
        "{} is there already; choose another name, or replace it with --force",
        path.display()
    ))
}
