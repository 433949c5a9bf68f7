//! Opening a database by its address.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sea_orm::sqlx::pool::PoolConnectionMetadata;
use sea_orm::sqlx::sqlite::{SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sea_orm::sqlx::{self, Connection, Executor};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend,
    EntityTrait, PaginatorTrait, TransactionTrait,
};
use sea_orm_migration::{MigratorTrait, seaql_migrations};
use tokio::sync::watch;

use crate::migration::{Migrator, migrate};
use crate::other_processes::{ChangeWatch, ConnectionCount};
use crate::postgres_address::PostgresAddress;
use crate::runner::{Runner, beside};
use crate::write_behind::{BatchWriter, RETRY_DELAYS_MS, WriteBehind};
use crate::{Error, Result, Store, WriteHealth};

/// Long enough for another process's transaction, short enough that a stuck one is noticed.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

impl Store {
    /// `sqlite::memory:`, `sqlite://path` or `postgres://…`. Brings the tables up to date.
    pub async fn open(url: &str) -> Result<Self> {
        match url.split_once(':') {
            Some(("sqlite", ":memory:")) => Self::open_memory().await,
            Some(("sqlite", path)) => {
                Self::open_file(Path::new(path.trim_start_matches("//"))).await
            }
            Some(("postgres" | "postgresql", _)) => Self::open_postgres(url).await,
            _ => Err(Error::Address(format!(
                "the database address \"{}:…\" is not known; use sqlite://FILE or postgres://USER@HOST/NAME",
                // Not more of it: there may be a password in the rest.
                url.split(':').next().unwrap_or_default()
            ))),
        }
    }

    /// The embedded database in a file of its own.
    pub async fn open_file(path: &Path) -> Result<Self> {
        let path = std::path::absolute(path)?;
        // From the first connection on: to begin with WAL is nothing two can do at once.
        let alone = lock_file(&beside(&path, "-migrating")).await?;
        create_private(&path);
        // SQLite has one writer at a time. Giving writes one connection makes
        // them queue here, in order, instead of failing as busy there.
        let opened = ConnectionCount::default();
        let write = connect_sqlite(Some(path.clone()), 1, &opened).await?;
        let runner = Runner::beside(&path)?;
        migrate(&write).await?;
        let read = connect_sqlite(Some(path.clone()), 4, &ConnectionCount::default()).await?;
        drop(alone);
        let mut store = Self::ready(write, read, runner).await?;
        let watch = ChangeWatch::of_file(&store, &path, opened).await?;
        store._watch = Some(Arc::new(watch));
        Ok(store)
    }

    /// A database that is gone when it is closed. It lives in its one connection.
    async fn open_memory() -> Result<Self> {
        let only = connect_sqlite(None, 1, &ConnectionCount::default()).await?;
        migrate(&only).await?;
        Self::ready(only.clone(), only, Runner::in_memory()).await
    }

    async fn open_postgres(url: &str) -> Result<Self> {
        let address = PostgresAddress::new(url);
        // Two pools: writers that wait for each other must not keep readers out.
        let write = address.connect_writers(12).await?;
        let read = address.connect_readers(8).await?;
        let alone = write.begin().await?;
        alone
            .execute_unprepared(
                "SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = 0; \
                 SELECT pg_advisory_xact_lock(hashtext('tenon migrations'))",
            )
            .await?;
        migrate(&write).await?;
        alone.commit().await?;
        let runner = Runner::in_postgres(&address).await?;
        let mut store = Self::ready(write, read, runner).await?;
        let watch = ChangeWatch::of_postgres(&store, address).await?;
        store._watch = Some(Arc::new(watch));
        Ok(store)
    }

    async fn ready(
        write: DatabaseConnection,
        read: DatabaseConnection,
        runner: Runner,
    ) -> Result<Self> {
        let writing: Arc<watch::Sender<WriteHealth>> = Arc::default();
        let writer = BatchWriter {
            write: write.clone(),
            health: writing.clone(),
        };
        let behind = WriteBehind::start(writer, RETRY_DELAYS_MS);
        let store = Self {
            write,
            read,
            runner: Arc::new(runner),
            writing,
            changes: Arc::default(),
            caches: Arc::default(),
            behind: Arc::new(behind),
            _watch: None,
        };
        store.refresh_search().await?;
        Ok(store)
    }

    /// Whether the database has every table of this version; that it answers at all is the least it
    /// tells.
    pub async fn has_current_schema(&self) -> Result<bool> {
        let applied = seaql_migrations::Entity::find().count(&self.read).await?;
        // There may be more: a newer Tenon has been here, and its migrations only add.
        Ok(applied >= Migrator::migrations().len() as u64)
    }

    /// The first column of what SQLite answers, for tests that look at the tables themselves.
    #[cfg(test)]
    pub(crate) async fn first_column(&self, ask: &str) -> Vec<String> {
        let ask = sea_orm::Statement::from_string(DbBackend::Sqlite, ask);
        let rows = self.read.query_all_raw(ask).await.unwrap();
        let first = rows.iter().map(|row| row.try_get_by_index(0).unwrap());
        first.collect()
    }
}

/// Lets one transaction at a time decide about a whole table. SQLite has one
/// writer anyway; PostgreSQL is told to have one here.
pub(crate) async fn one_at_a_time(
    transaction: &DatabaseTransaction,
    table: &'static str,
) -> Result<()> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        let lock = format!("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE");
        transaction.execute_unprepared(&lock).await?;
    }
    Ok(())
}

/// Makes the file of a database before SQLite does, which would let everybody
/// on the machine read it; what SQLite puts beside it is as private as it is.
/// Where that fails SQLite fails too, and says why.
fn create_private(path: &Path) {
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

/// Two processes that start together must not both make the same tables. The
/// lock is let go with the file. A thread never waits for it: its holder may
/// be a task of the same one.
async fn lock_file(path: &Path) -> Result<File> {
    let file = File::create(path)?;
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => return Err(Error::Lock(error.into())),
        }
    }
}

/// Whether a connection may go back to its pool. One whose transaction did not end
/// cleanly must not: SQLite ends a transaction by itself when the disk is full, the pool's own
/// rollback then fails and it goes on counting one as open; every later transaction would be a
/// part of that one, acknowledged and never committed. `BEGIN` is refused inside a transaction,
/// and what the pool believes is looked at after it.
fn sqlite_is_clean(
    connection: &mut SqliteConnection,
    _age: PoolConnectionMetadata,
) -> BoxFuture<'_, sqlx::Result<bool>> {
    Box::pin(async move {
        connection.execute("BEGIN; ROLLBACK").await?;
        Ok(!connection.is_in_transaction())
    })
}

async fn connect_sqlite(
    file: Option<PathBuf>,
    connections: u32,
    opened: &ConnectionCount,
) -> Result<DatabaseConnection> {
    let opened = opened.clone();
    let mut options = ConnectOptions::new("sqlite::memory:");
    // One in memory is gone with its connection.
    if file.is_some() {
        options.map_sqlx_sqlite_pool_opts(move |pool| {
            let opened = opened.clone();
            // No network can drop the connection, and it was checked when it was returned.
            pool.test_before_acquire(false)
                .after_release(sqlite_is_clean)
                .after_connect(move |_, _| {
                    opened.increment();
                    Box::pin(async { Ok(()) })
                })
        });
    }
    options
        .max_connections(connections)
        .min_connections(1)
        .idle_timeout(None::<Duration>)
        .max_lifetime(None::<Duration>)
        .acquire_timeout(BUSY_TIMEOUT)
        .sqlx_logging(false)
        .map_sqlx_sqlite_opts(move |options| {
            // Passed as a path, because in a URL `%` and `?` have a meaning.
            let options = match &file {
                Some(file) => options
                    .in_memory(false)
                    .shared_cache(false)
                    .filename(file)
                    .create_if_missing(true),
                None => options,
            };
            options
                .journal_mode(SqliteJournalMode::Wal)
                // With WAL this survives `kill -9`; only a power cut can cost the last moments.
                .synchronous(SqliteSynchronous::Normal)
                .busy_timeout(BUSY_TIMEOUT)
                .foreign_keys(true)
        });
    Ok(Database::connect(options).await?)
}
