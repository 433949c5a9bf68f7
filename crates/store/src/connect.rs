//! Opening a database by its address.

use std::path::Path;
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, Database};
use sea_orm_migration::MigratorTrait;

use crate::migration::Migrator;
use crate::{Error, Result, Store};

/// Long enough for another process's transaction, short enough that a stuck one is noticed.
const BUSY: Duration = Duration::from_secs(10);

impl Store {
    /// `sqlite::memory:`, `sqlite://path` or `postgres://…`. Brings the tables up to date.
    pub async fn open(url: &str) -> Result<Self> {
        let store = match url.split(':').next().unwrap_or_default() {
            "sqlite" => Self::open_sqlite(url).await?,
            "postgres" | "postgresql" => {
                let mut options = ConnectOptions::new(url);
                options
                    .max_connections(16)
                    .acquire_timeout(BUSY)
                    .sqlx_logging(false);
                let pool = Database::connect(options).await?;
                Self {
                    write: pool.clone(),
                    read: pool,
                }
            }
            other => {
                return Err(Error::Address(format!(
                    "the database address begins with \"{other}:\"; use sqlite://FILE or postgres://USER@HOST/NAME"
                )));
            }
        };
        Migrator::up(&store.write, None).await?;
        Ok(store)
    }

    /// The embedded database in a file of its own.
    pub async fn open_file(path: &Path) -> Result<Self> {
        Self::open(&format!("sqlite://{}?mode=rwc", path.display())).await
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        Ok(self.read.ping().await?)
    }

    /// SQLite has one writer at a time. Giving writes one connection makes
    /// them queue here, in order, instead of failing as busy there.
    async fn open_sqlite(url: &str) -> Result<Self> {
        let connect = |connections: u32| {
            let mut options = ConnectOptions::new(url);
            options
                .max_connections(connections)
                .min_connections(1)
                .idle_timeout(None::<Duration>)
                .max_lifetime(None::<Duration>)
                .acquire_timeout(BUSY)
                .sqlx_logging(false)
                .map_sqlx_sqlite_opts(|options| {
                    options
                        .journal_mode(SqliteJournalMode::Wal)
                        // With WAL this survives `kill -9`; only a power cut can cost the last moments.
                        .synchronous(SqliteSynchronous::Normal)
                        .busy_timeout(BUSY)
                        .foreign_keys(true)
                });
            Database::connect(options)
        };
        let write = connect(1).await?;
        // A database in memory lives in its one connection.
        let read = if url.contains(":memory:") {
            write.clone()
        } else {
            connect(4).await?
        };
        Ok(Self { write, read })
    }
}
