//! Putting a backup in the place of what is there: all of it or nothing.
//!
//! The rows change in one transaction, so a server on the same data sees the
//! old state or the new one. The files are laid ready beside the old ones and
//! take their place just before the transaction ends; if that fails, they go
//! back. Only a process that is killed between the two leaves files of one
//! state and rows of the other; the old files are moved aside, never removed.

use std::fs;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use sea_orm::QueryFilter;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait};
use serde_json::Value;
use uuid::Uuid;

use super::files::Staging;
use super::read::{BackupReader, VerifiedBackup};
use super::tables::{self, TABLES};
use super::{BackupLine, broken};
use crate::connect::one_at_a_time;
use crate::entity::{preferences, turns};
use crate::{Result, Store};

/// Rows that go into the database with one statement: both engines bound its values.
const BATCH_ROWS: usize = 500;
/// And its length.
const BATCH_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreSummary {
    pub rows: u64,
    pub files: u64,
    /// Where the files are that were there before; None: there were none.
    pub moved_aside: Option<PathBuf>,
}

impl Store {
    /// Restores a backup that was found whole. `work` is the folder with the
    /// files of all chats; `name` is what is appended to the old one's.
    pub fn restore<'a>(
        &'a self,
        backup: &'a VerifiedBackup,
        work: &'a Path,
        name: &'a str,
        progress: &'a mut (dyn FnMut(u64, u64) + Send),
    ) -> BoxFuture<'a, Result<RestoreSummary>> {
        Box::pin(async move {
            let mut reader = BackupReader::open(&backup.path)?;
            let total = backup.header.total();
            let mut staging = Staging::new(beside(work, &format!("restoring-{}", Uuid::new_v4())))?;
            let transaction = self.begin().await?;
            lock_tables(&transaction).await?;
            tables::empty_all(&transaction).await?;

            let mut batch = RowBatch::default();
            let mut rows = 0;
            while let Some(line) = reader.next()? {
                match line {
                    BackupLine::Row(table, row) => {
                        batch.add(&transaction, table, row).await?;
                        rows += 1;
                        progress(rows, total);
                    }
                    BackupLine::File(chunk) => staging.add(chunk)?,
                    BackupLine::Skipped(path) => staging.skip(&path)?,
                    BackupLine::Keys(_) | BackupLine::Backup(_) | BackupLine::End(_) => {}
                }
            }
            batch.flush(&transaction).await?;
            forget_runners(&transaction).await?;
            reset_search_index(&transaction).await?;

            let swap = FolderSwap::new(&staging.folder, work, beside(work, name))?;
            transaction.commit().await?;
            Ok(RestoreSummary {
                rows,
                files: backup.files,
                moved_aside: swap.keep(),
            })
        })
    }
}

/// Rows of one table that wait to be written together.
#[derive(Default)]
struct RowBatch {
    table: String,
    rows: Vec<Value>,
    bytes: usize,
}

impl RowBatch {
    async fn add(&mut self, db: &DatabaseTransaction, table: String, row: Value) -> Result<()> {
        if self.table != table {
            self.flush(db).await?;
            self.table = table;
        }
        self.bytes += length(&row);
        self.rows.push(row);
        if self.rows.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush(db).await?;
        }
        Ok(())
    }

    async fn flush(&mut self, db: &DatabaseTransaction) -> Result<()> {
        self.bytes = 0;
        match std::mem::take(&mut self.rows) {
            rows if rows.is_empty() => Ok(()),
            rows => tables::insert(db, &self.table, rows).await,
        }
    }
}

/// The new folder is in the place of the old one; dropped, it is the other way round again.
struct FolderSwap<'a> {
    new: &'a Path,
    place: &'a Path,
    old: Option<PathBuf>,
    is_kept: bool,
}

impl<'a> FolderSwap<'a> {
    fn new(new: &'a Path, place: &'a Path, aside: PathBuf) -> Result<Self> {
        let moving = || format!("the folder {} cannot be replaced", place.display());
        let old = match place.symlink_metadata() {
            Ok(_) => {
                fs::rename(place, &aside).map_err(broken(moving()))?;
                Some(aside)
            }
            Err(_) => None,
        };
        let swap = Self {
            new,
            place,
            old,
            is_kept: false,
        };
        fs::rename(new, place).map_err(broken(moving()))?;
        Ok(swap)
    }

    fn keep(mut self) -> Option<PathBuf> {
        self.is_kept = true;
        self.old.take()
    }
}

impl Drop for FolderSwap<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // Where it came from, it is removed.
        let _ = fs::rename(self.place, self.new);
        if let Some(old) = &self.old {
            let _ = fs::rename(old, self.place);
        }
    }
}

/// Nobody writes meanwhile. SQLite has one writer anyway.
async fn lock_tables(transaction: &DatabaseTransaction) -> Result<()> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        let timeout = "SET LOCAL lock_timeout = '30s'";
        transaction.execute_unprepared(timeout).await?;
    }
    for table in TABLES {
        one_at_a_time(transaction, table).await?;
    }
    Ok(())
}

/// Turns that ran when the backup was made are run by nobody: they are found
/// abandoned, and end as interrupted.
async fn forget_runners(db: &DatabaseTransaction) -> Result<()> {
    let nobody = Uuid::new_v4().to_string();
    turns::Entity::update_many()
        .col_expr(turns::Column::Runner, Expr::value(nobody))
        .filter(turns::Column::Outcome.is_null())
        .exec(db)
        .await?;
    Ok(())
}

/// The search index is empty now, and this is how the next start knows that.
async fn reset_search_index(db: &DatabaseTransaction) -> Result<()> {
    preferences::Entity::delete_many()
        .filter(preferences::Column::Owner.eq(""))
        .filter(preferences::Column::Name.eq("search.version"))
        .exec(db)
        .await?;
    Ok(())
}

/// About how much text a row is.
fn length(row: &Value) -> usize {
    let fields = row.as_object().into_iter().flat_map(|row| row.values());
    fields.filter_map(Value::as_str).map(str::len).sum()
}

fn beside(folder: &Path, tail: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".");
    name.push(tail);
    PathBuf::from(name)
}
