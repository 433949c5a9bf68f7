//! The lease of a process on PostgreSQL: for how long it may write what happens in its turns.
//!
//! A row of `runners` says until when, by the clock of the database. Whoever finds it past takes
//! the turns over. The number of the row is the fencing token: turns carry it, and whatever is
//! appended to a turn is refused in the same transaction unless its writer holds the lease with
//! that token. So a process that was paused or cut off, and wakes up after others have taken over,
//! writes nothing more. It also knows by its own clock, a little before the others, that it may not
//! go on.
//!
//! A lease that was lost is never regained: the process gets a new one, with a higher token, and
//! its former turns are anybody's.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, Value};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::postgres_address::PostgresAddress;
use crate::{Error, Result};

/// How long nothing may be heard of a process before its turns are taken over.
const LEASE_TIME: Duration = Duration::from_secs(15);

/// Twice in a row it may fail.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);
const RENEW_TIMEOUT: Duration = Duration::from_secs(4);
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// A process stops using its lease this much before it expires, so that writes in flight are done
/// before others take over.
const SAFETY_MARGIN: Duration = Duration::from_secs(2);

/// Rows of processes that ended without a word are of no use for longer than this.
const STALE_ROW_MS: i64 = 60_000;

/// Milliseconds since 1970 by the clock of the database.
pub(crate) const NOW: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";

/// Whether this process may write what happens in its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseState {
    /// With this fencing token; 0 where there are no leases.
    Held {
        fence: i64,
    },
    Lost,
}

/// The owner of a turn: a process, and the fencing token of its lease when it took the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOwner {
    pub runner: String,
    /// 0 where there are no leases.
    pub fence: i64,
}

/// Facts about a process that others see beside its lease.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerRole {
    /// Whether it is a server, not a command that ends soon.
    pub serves: bool,
    /// It is on the bus.
    pub has_bus: bool,
}

/// How many other processes serve from the same database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtherServers {
    pub all: u64,
    /// Those of them that are on no bus.
    pub without_bus: u64,
}

pub(crate) struct Lease {
    name: String,
    address: PostgresAddress,
    /// A connection of its own, so that waiting for the pool cannot cost the lease.
    own: Mutex<DatabaseConnection>,
    state: watch::Sender<LeaseState>,
    role: Mutex<ServerRole>,
    /// Something is to be told before the next renewal.
    wake: Notify,
}

impl Lease {
    /// The first lease of a process.
    pub(crate) async fn acquire(address: PostgresAddress, name: &str) -> Result<Arc<Self>> {
        let own = address.connect_later().await?;
        let lease = Self {
            name: name.to_owned(),
            address,
            own: Mutex::new(own),
            state: watch::Sender::new(LeaseState::Lost),
            role: Mutex::default(),
            wake: Notify::new(),
        };
        let fence = lease.register().await?;
        lease.state.send_replace(LeaseState::Held { fence });
        Ok(Arc::new(lease))
    }

    pub(crate) fn watch(&self) -> watch::Receiver<LeaseState> {
        self.state.subscribe()
    }

    pub(crate) fn fence(&self) -> Option<i64> {
        match *self.state.borrow() {
            LeaseState::Held { fence } => Some(fence),
            LeaseState::Lost => None,
        }
    }

    pub(crate) fn set_role(&self, role: ServerRole) {
        *self.role.lock().unwrap_or_else(PoisonError::into_inner) = role;
        self.wake.notify_one();
    }

    fn role(&self) -> ServerRole {
        *self.role.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds the lease for as long as the transaction takes: whoever takes over waits for its end.
    /// The lock lets renewals pass.
    pub(crate) async fn check(&self, transaction: &impl ConnectionTrait) -> Result<i64> {
        let fence = self.fence().ok_or(Error::LeaseLost)?;
        let ask =
            format!("SELECT 1 FROM runners WHERE fence = $1 AND lease_until > {NOW} FOR KEY SHARE");
        let held = transaction
            .query_one_raw(statement(&ask, [fence.into()]))
            .await?;
        if held.is_none() {
            self.lose(fence);
            return Err(Error::LeaseLost);
        }
        Ok(fence)
    }

    fn lose(&self, fence: i64) {
        let lost = self.state.send_if_modified(|state| {
            let is_held = *state == LeaseState::Held { fence };
            if is_held {
                *state = LeaseState::Lost;
            }
            is_held
        });
        if lost {
            tracing::warn!(
                "this process could not renew its lease in time: its running answers end"
            );
            self.wake.notify_one();
        }
    }

    /// Renews it for as long as the process lives, and gets a new one where it was lost.
    pub(crate) async fn keep(self: Arc<Self>) {
        // When it was known last to be held.
        let mut renewed = Instant::now();
        let mut next = renewed + RENEW_INTERVAL;
        loop {
            let gives_up = renewed + LEASE_TIME - SAFETY_MARGIN;
            let until = match self.fence() {
                Some(_) => next.min(gives_up),
                None => next,
            };
            tokio::select! {
                () = sleep_until(until) => {}
                () = self.wake.notified() => {}
            }
            let asked = Instant::now();
            let held = self.fence();
            if let Some(fence) = held
                && asked >= gives_up
            {
                self.lose(fence);
            }
            let limit = match self.fence() {
                Some(_) => RENEW_TIMEOUT.min(gives_up.saturating_duration_since(asked)),
                None => RENEW_TIMEOUT,
            };
            match timeout(limit, self.renew()).await {
                Ok(Ok(true)) => {
                    renewed = asked;
                    next = asked + RENEW_INTERVAL;
                }
                // Somebody removed it: the next round gets a new one.
                Ok(Ok(false)) => next = Instant::now(),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the lease could not be renewed yet");
                    next = Instant::now() + RETRY_INTERVAL;
                }
                Err(_late) => {
                    self.replace_connection().await;
                    next = Instant::now() + RETRY_INTERVAL;
                }
            }
        }
    }

    /// False: it was lost.
    async fn renew(&self) -> Result<bool> {
        let Some(fence) = self.fence() else {
            let fence = self.register().await?;
            tracing::info!(fence, "this process has a new lease");
            self.state.send_replace(LeaseState::Held { fence });
            return Ok(true);
        };
        let ServerRole { serves, has_bus } = self.role();
        let renew = format!(
            "UPDATE runners SET lease_until = {NOW} + $2, serves = $3, has_bus = $4 \
             WHERE fence = $1 AND lease_until > {NOW}"
        );
        let values = [
            fence.into(),
            lease_ms().into(),
            serves.into(),
            has_bus.into(),
        ];
        let renewed = self.own().execute_raw(statement(&renew, values)).await?;
        if renewed.rows_affected() == 0 {
            self.lose(fence);
            return Ok(false);
        }
        Ok(true)
    }

    /// Opens a new connection: the silent one may be dead, which TCP would notice only after a
    /// quarter of an hour.
    async fn replace_connection(&self) {
        match self.address.connect_later().await {
            Ok(another) => *self.own.lock().unwrap_or_else(PoisonError::into_inner) = another,
            Err(error) => tracing::warn!(%error, "there is no other connection for the lease"),
        }
    }

    fn own(&self) -> DatabaseConnection {
        let own = self.own.lock();
        own.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A new row, in the place of one that this process had.
    async fn register(&self) -> Result<i64> {
        let own = self.own();
        let clear = format!("DELETE FROM runners WHERE name = $1 OR lease_until < {NOW} - $2");
        let values = [self.name.as_str().into(), STALE_ROW_MS.into()];
        own.execute_raw(statement(&clear, values)).await?;
        let ServerRole { serves, has_bus } = self.role();
        let insert = format!(
            "INSERT INTO runners (name, lease_until, serves, has_bus) \
             VALUES ($1, {NOW} + $2, $3, $4) RETURNING fence"
        );
        let values = [
            self.name.as_str().into(),
            lease_ms().into(),
            serves.into(),
            has_bus.into(),
        ];
        let row = own.query_one_raw(statement(&insert, values)).await?;
        let row = row.ok_or(Error::LeaseLost)?;
        Ok(row.try_get_by_index(0)?)
    }

    /// Gives the lease back, so that others can take over the remaining turns at once.
    pub(crate) async fn release(&self) -> Result<()> {
        self.state.send_replace(LeaseState::Lost);
        let release = statement(
            "DELETE FROM runners WHERE name = $1",
            [self.name.as_str().into()],
        );
        self.own().execute_raw(release).await?;
        Ok(())
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("state", &*self.state.borrow())
            .finish_non_exhaustive()
    }
}

/// Whether the lease with this token is held.
pub(crate) async fn is_held(db: &impl ConnectionTrait, owner: &TurnOwner) -> Result<bool> {
    asked(db, owner, "").await
}

/// Like `is_held`, with a row lock: nobody can renew or use the lease until the transaction ends.
pub(crate) async fn is_held_locked(
    transaction: &impl ConnectionTrait,
    owner: &TurnOwner,
) -> Result<bool> {
    asked(transaction, owner, "FOR UPDATE").await
}

async fn asked(db: &impl ConnectionTrait, owner: &TurnOwner, lock: &str) -> Result<bool> {
    let ask =
        format!("SELECT lease_until > {NOW} FROM runners WHERE fence = $1 AND name = $2 {lock}");
    let values = [owner.fence.into(), owner.runner.as_str().into()];
    let row = db.query_one_raw(statement(&ask, values)).await?;
    let held = row.map(|row| row.try_get_by_index(0)).transpose()?;
    Ok(held.unwrap_or(false))
}

/// Whether turns are open whose process has no lease.
pub(crate) async fn has_abandoned(db: &impl ConnectionTrait) -> Result<bool> {
    let ask = format!(
        "SELECT EXISTS(SELECT 1 FROM turns WHERE outcome IS NULL AND fence > 0 AND NOT EXISTS \
         (SELECT 1 FROM runners WHERE runners.fence = turns.fence AND runners.name = turns.runner \
          AND lease_until > {NOW}))"
    );
    let row = db.query_one_raw(statement(&ask, [])).await?;
    let found = row.map(|row| row.try_get_by_index(0)).transpose()?;
    Ok(found.unwrap_or(false))
}

pub(crate) async fn other_servers(db: &impl ConnectionTrait, name: &str) -> Result<OtherServers> {
    let ask = format!(
        "SELECT count(*), count(*) FILTER (WHERE NOT has_bus) FROM runners \
         WHERE serves AND name <> $1 AND lease_until > {NOW}"
    );
    let row = db.query_one_raw(statement(&ask, [name.into()])).await?;
    let Some(row) = row else {
        return Ok(OtherServers::default());
    };
    let (all, without_bus): (i64, i64) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
    Ok(OtherServers {
        all: all.cast_unsigned(),
        without_bus: without_bus.cast_unsigned(),
    })
}

fn lease_ms() -> i64 {
    LEASE_TIME.as_millis() as i64
}

pub(crate) fn statement<const N: usize>(sql: &str, values: [Value; N]) -> Statement {
    Statement::from_sql_and_values(DbBackend::Postgres, sql, values)
}
