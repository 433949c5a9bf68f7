//! Pools of connections to PostgreSQL. A network that drops packets without a word keeps none of
//! them for longer than a moment: whoever waits there gives up, and the connection goes with it.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use sea_orm::sqlx::pool::PoolConnectionMetadata;
use sea_orm::sqlx::postgres::PgConnection;
use sea_orm::sqlx::{self, Connection};
use sea_orm::{ConnectOptions, Database, DatabaseConnection, DbErr, RuntimeErr};
use tokio::time::timeout;
use uuid::Uuid;

use crate::{Error, Result};

/// Long enough for a pool that is busy, short enough that a database that is away is noticed.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a database may take to say that it is there.
const PING_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a transaction may wait for its process before the database ends it: one that is paused
/// must not keep its locks.
const WRITER_IDLE_TIMEOUT: &str = "10s";

/// A reader has no locks, and may be slow.
const READER_IDLE_TIMEOUT: &str = "0";

/// The database of this process, and by what it knows its own changes there.
#[derive(Clone)]
pub(crate) struct PostgresAddress {
    url: String,
    pub(crate) origin: ChangeOrigin,
}

/// By what a process knows its own changes: a setting of all connections that it writes on.
#[derive(Debug, Clone)]
pub(crate) struct ChangeOrigin(pub(crate) Arc<str>);

impl ChangeOrigin {
    pub(crate) fn fresh() -> Self {
        Self(Uuid::new_v4().to_string().into())
    }

    /// The option of a connection that carries it.
    fn option(&self) -> (&str, &str) {
        ("tenon.origin", &self.0)
    }
}

impl PostgresAddress {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            origin: ChangeOrigin::fresh(),
        }
    }

    pub(crate) async fn connect_writers(&self, connections: u32) -> Result<DatabaseConnection> {
        let options = self.options(connections, WRITER_IDLE_TIMEOUT);
        Database::connect(options).await.map_err(unanswered)
    }

    pub(crate) async fn connect_readers(&self, connections: u32) -> Result<DatabaseConnection> {
        let options = self.options(connections, READER_IDLE_TIMEOUT);
        Database::connect(options).await.map_err(unanswered)
    }

    /// One connection, which is made when it is first needed. For whoever cannot wait until
    /// another one turns out to be dead.
    pub(crate) async fn connect_later(&self) -> Result<DatabaseConnection> {
        let mut options = self.options(1, WRITER_IDLE_TIMEOUT);
        options.connect_lazy(true);
        Ok(Database::connect(options).await?)
    }

    fn options(&self, connections: u32, idle: &'static str) -> ConnectOptions {
        let origin = self.origin.clone();
        let mut options = ConnectOptions::new(&self.url);
        options
            .max_connections(connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .sqlx_logging(false)
            // Whoever waits for another's lock says so in the end.
            .map_sqlx_postgres_opts(move |options| {
                options.options([
                    ("lock_timeout", "10s"),
                    ("idle_in_transaction_session_timeout", idle),
                    origin.option(),
                ])
            })
            .map_sqlx_postgres_pool_opts(|pool| {
                // The pool's own check waits for as long as the network does.
                pool.test_before_acquire(false)
                    .before_acquire(is_alive)
                    .after_release(is_clean)
            });
        if connections == 1 {
            options
                .idle_timeout(None::<Duration>)
                .max_lifetime(None::<Duration>);
        }
        options
    }
}

/// An error has the pool drop a connection at once; one that is silent cannot be closed in order.
async fn ping(connection: &mut PgConnection) -> sqlx::Result<()> {
    timeout(PING_TIMEOUT, connection.ping())
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

fn is_alive(
    connection: &mut PgConnection,
    _age: PoolConnectionMetadata,
) -> BoxFuture<'_, sqlx::Result<bool>> {
    Box::pin(async move {
        ping(connection).await?;
        Ok(true)
    })
}

/// Whether a connection that is given back is in no transaction: one that was left in the middle is
/// rolled back with the next words to the server.
fn is_clean(
    connection: &mut PgConnection,
    _age: PoolConnectionMetadata,
) -> BoxFuture<'_, sqlx::Result<bool>> {
    Box::pin(async move {
        ping(connection).await?;
        Ok(!connection.is_in_transaction())
    })
}

/// The pool tries again and again, and in the end knows only that it took too long.
fn unanswered(error: DbErr) -> Error {
    match &error {
        DbErr::Conn(RuntimeErr::SqlxError(cause))
            if matches!(**cause, sqlx::Error::PoolTimedOut) =>
        {
            let seconds = ACQUIRE_TIMEOUT.as_secs();
            Error::Address(format!(
                "nothing answered at its address within {seconds} s; is it running there?"
            ))
        }
        _ => error.into(),
    }
}
