//! Which process runs a turn, and whether that process is alive.
//!
//! Several processes may share a database: a server, and commands in a shell.
//! A turn carries the name of the one that runs it. On one machine each process holds a
//! lock on a file of its name for as long as it lives. The system lets go of the
//! lock when the process ends, however it ends, so a lock that can be had
//! means that its owner is gone. On PostgreSQL, where processes are on many machines, each
//! has a lease (`lease.rs`); the advisory lock there is for versions before leases, which a rolling
//! update runs beside this one.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, Statement,
    TransactionTrait,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use crate::lease::{self, Lease, TurnOwner};
use crate::postgres_address::PostgresAddress;
use crate::{Error, Result};

/// How often a lock that lives in a connection is looked after.
const LOCK_CHECK_INTERVAL: Duration = Duration::from_secs(5);
const LOCK_CHECK_TIMEOUT: Duration = Duration::from_secs(15);

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
    /// Leases in the database, which these tasks renew.
    Postgres {
        lease: Arc<Lease>,
        keepers: [JoinHandle<()>; 2],
    },
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
    /// A database in memory has no other processes; with leases, each turn is taken over on its
    /// own.
    Nothing,
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
        // The file is created under a temporary name and renamed once it is locked, so that nobody
        // finds it unlocked.
        let unseen = folder.join(format!(".{name}"));
        let own = File::create_new(&unseen)?;
        own.lock()?;
        std::fs::rename(&unseen, folder.join(&name))?;
        remove_dead(&folder, &name);
        Ok(Self {
            name,
            locks: Locks::Folder { folder, _own: own },
        })
    }

    pub(crate) async fn in_postgres(address: &PostgresAddress) -> Result<Self> {
        let name = Uuid::new_v4().to_string();
        let locks = address.connect_later().await?;
        locks
            .execute_raw(statement(&locks, "SELECT pg_advisory_lock", &name))
            .await?;
        let lease = Lease::acquire(address.clone(), &name).await?;
        let keepers = [
            tokio::spawn(lease.clone().keep()),
            tokio::spawn(keep_lock(address.clone(), locks, name.clone())),
        ];
        Ok(Self {
            name,
            locks: Locks::Postgres { lease, keepers },
        })
    }

    /// Where there are leases, that of this process.
    pub(crate) fn lease(&self) -> Option<&Lease> {
        match &self.locks {
            Locks::Postgres { lease, .. } => Some(lease),
            Locks::Folder { .. } | Locks::Memory => None,
        }
    }

    /// The lease row stays locked until the end of the transaction that asked.
    pub(crate) async fn owner(&self, transaction: &impl ConnectionTrait) -> Result<TurnOwner> {
        let fence = match self.lease() {
            Some(lease) => lease.check(transaction).await?,
            None => 0,
        };
        let runner = self.name.clone();
        Ok(TurnOwner { runner, fence })
    }

    /// Whether it may write, as far as is known without asking the database.
    pub(crate) fn check_lease(&self) -> Result<()> {
        let is_lost = self.lease().is_some_and(|lease| lease.fence().is_none());
        if is_lost {
            Err(Error::LeaseLost)
        } else {
            Ok(())
        }
    }

    /// Gives the lease back.
    pub(crate) async fn release(&self) -> Result<()> {
        if let Locks::Postgres { lease, keepers } = &self.locks {
            keepers.iter().for_each(JoinHandle::abort);
            lease.release().await?;
        }
        Ok(())
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
    pub(crate) async fn claim(
        &self,
        db: &DatabaseConnection,
        owner: &TurnOwner,
    ) -> Result<Option<Claim>> {
        let name = owner.runner.as_str();
        match &self.locks {
            Locks::Postgres { lease, .. } if owner.fence > 0 => {
                let is_this = name == self.name && lease.fence() == Some(owner.fence);
                let is_held = is_this || lease::is_held(db, owner).await?;
                Ok((!is_held).then_some(Claim::Nothing))
            }
            _ if name == self.name => Ok(None),
            Locks::Memory => Ok(Some(Claim::Nothing)),
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
            // A file that remains is removed by the next process that starts.
            Locks::Folder { folder, .. } => drop(std::fs::remove_file(folder.join(&self.name))),
            Locks::Postgres { lease, keepers } => {
                keepers.iter().for_each(JoinHandle::abort);
                // Best effort: without it the others wait for the end of the lease.
                if let Ok(runtime) = Handle::try_current() {
                    let lease = lease.clone();
                    runtime.spawn(async move { lease.release().await });
                }
            }
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
async fn keep_lock(address: PostgresAddress, mut own: DatabaseConnection, name: String) {
    let have = "SELECT EXISTS(SELECT 1 FROM pg_locks WHERE locktype = 'advisory' \
                AND pid = pg_backend_pid()) OR pg_try_advisory_lock";
    loop {
        tokio::time::sleep(LOCK_CHECK_INTERVAL).await;
        // A database that is away is asked again.
        let asked = own.execute_raw(statement(&own, have, &name));
        if timeout(LOCK_CHECK_TIMEOUT, asked).await.is_err()
            && let Ok(another) = address.connect_later().await
        {
            own = another;
        }
    }
}

/// Removes the files of processes that were killed, while they started or later; turns that these
/// left open still name them. Only one process starts at a time, so no living one is without its
/// lock.
fn remove_dead(folder: &Path, own: &str) {
    let runners = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for runner in runners.filter(|runner| *runner.file_name() != *own) {
        let path = runner.path();
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(&path);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_killed_processes_go_when_the_next_one_starts() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("tenon.db");
        let first = Runner::beside(&database).unwrap();
        let files = beside(&database, "-runners");
        for killed in ["killed", ".killed-while-it-started"] {
            File::create(files.join(killed)).unwrap();
        }
        assert!(first.may_have_others());
        let second = Runner::beside(&database).unwrap();
        assert!(second.may_have_others(), "the first one lives");
        drop(first);
        assert!(!second.may_have_others());
    }
}
