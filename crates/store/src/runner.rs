//! Which process runs a turn, and whether that process is alive.
//!
//! Several processes may share a database: a server, and commands in a shell.
//! A turn carries the name of the one that runs it, and each process holds a
//! lock under its own name for as long as it lives. The system lets go of the
//! lock when the process ends, however it ends, so a lock that can be had
//! means that its owner is gone.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, Statement,
    TransactionTrait,
};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::Result;

/// How often a lock that lives in a connection is looked after.
const LOCK_CHECK_INTERVAL: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) name: String,
    locks: Locks,
}

/// Where the locks are.
#[derive(Debug)]
enum Locks {
    /// A file for each process, in a folder beside the database.
    Folder { folder: PathBuf, _own: File },
    /// Advisory locks of PostgreSQL; ours lives as long as its connection, which
    /// this task looks after.
    Postgres { keeper: JoinHandle<()> },
    /// A database in memory is nobody else's.
    Memory,
}

/// Holds a dead process's lock, so that only one of the living tidies up after it.
#[derive(Debug)]
pub(crate) enum Claim {
    File {
        path: PathBuf,
        _lock: File,
    },
    Transaction {
        _held: DatabaseTransaction,
    },
    /// In memory there is nobody to be kept out.
    Memory,
}

impl Runner {
    pub(crate) fn in_memory() -> Self {
        Self {
            name: Uuid::new_v4().to_string(),
            locks: Locks::Memory,
        }
    }

    pub(crate) fn beside(database: &Path) -> Result<Self> {
        let name = Uuid::new_v4().to_string();
        let folder = beside(database, "-runners");
        std::fs::create_dir_all(&folder)?;
        // Nobody must find the file before it is locked: it is made under a
        // name that nobody looks for.
        let unseen = folder.join(format!(".{name}"));
        let own = File::create_new(&unseen)?;
        own.lock()?;
        std::fs::rename(&unseen, folder.join(&name))?;
        Ok(Self {
            name,
            locks: Locks::Folder { folder, _own: own },
        })
    }

    pub(crate) async fn in_postgres(own: DatabaseConnection) -> Result<Self> {
        let name = Uuid::new_v4().to_string();
        own.execute_raw(statement(&own, "SELECT pg_advisory_lock", &name))
            .await?;
        let keeper = tokio::spawn(keep(own, name.clone()));
        Ok(Self {
            name,
            locks: Locks::Postgres { keeper },
        })
    }

    /// Whether other processes may have turns here, as far as can be known without a query.
    pub(crate) fn may_have_others(&self) -> bool {
        match &self.locks {
            Locks::Memory => false,
            Locks::Folder { folder, .. } => {
                let runners = std::fs::read_dir(folder).into_iter().flatten().flatten();
                runners
                    .into_iter()
                    .any(|runner| *runner.file_name() != *self.name)
            }
            Locks::Postgres { .. } => true,
        }
    }

    /// Takes over from another process if it is gone. None: it lives, or
    /// somebody else is at it.
    pub(crate) async fn claim(&self, db: &DatabaseConnection, name: &str) -> Result<Option<Claim>> {
        if name == self.name {
            return Ok(None);
        }
        match &self.locks {
            Locks::Memory => Ok(Some(Claim::Memory)),
            Locks::Folder { folder, .. } => claim_file(folder.join(name)),
            Locks::Postgres { .. } => {
                let transaction = db.begin().await?;
                let ask = statement(&transaction, "SELECT pg_try_advisory_xact_lock", name);
                let row = transaction.query_one_raw(ask).await?;
                let is_ours = row
                    .map(|row| row.try_get_by_index(0))
                    .transpose()?
                    .unwrap_or(false);
                Ok(is_ours.then_some(Claim::Transaction { _held: transaction }))
            }
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        match &self.locks {
            // What stays is found dead by the next to look, and removed then.
            Locks::Folder { folder, .. } => drop(std::fs::remove_file(folder.join(&self.name))),
            Locks::Postgres { keeper } => keeper.abort(),
            Locks::Memory => {}
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Self::File { path, .. } = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A server that restarts, or a network that drops the connection, takes the
/// lock along: it is taken again before anybody thinks that we are gone.
async fn keep(own: DatabaseConnection, name: String) {
    let have = "SELECT EXISTS(SELECT 1 FROM pg_locks WHERE locktype = 'advisory' \
                AND pid = pg_backend_pid()) OR pg_try_advisory_lock";
    loop {
        tokio::time::sleep(LOCK_CHECK_INTERVAL).await;
        // A database that is away is asked again.
        let _ = own.execute_raw(statement(&own, have, &name)).await;
    }
}

/// A process that ended in order took its file along; then the file is made
/// again, so that there is something to be the first at.
fn claim_file(path: PathBuf) -> Result<Option<Claim>> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Claim::File { path, _lock: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// A call of one of PostgreSQL's lock functions for a process.
fn statement(db: &impl ConnectionTrait, call: &str, name: &str) -> Statement {
    debug_assert_eq!(db.get_database_backend(), DbBackend::Postgres);
    Statement::from_string(DbBackend::Postgres, format!("{call}({})", key(name)))
}

/// PostgreSQL's locks are numbers: the random part of the name.
fn key(name: &str) -> i64 {
    let number = Uuid::parse_str(name).map_or(0, |uuid| uuid.as_u64_pair().1);
    number.cast_signed()
}

/// A file that belongs to a database.
pub(crate) fn beside(database: &Path, tail: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(tail);
    PathBuf::from(name)
}
