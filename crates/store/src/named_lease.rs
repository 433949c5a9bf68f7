//! Leases by name: what one process of a cluster does at a time, as refreshing a token or running a
//! server that must run once. Where processes have no leases of their own, on SQLite, everybody
//! holds every one.

use std::time::Duration;

use sea_orm::ConnectionTrait;

use crate::lease::{NOW, statement};
use crate::{Result, Store};

/// Which process holds a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseHolder {
    This,
    /// By its name on the bus.
    Other(String),
    /// The lease is changing hands, or cannot be read.
    Unknown,
}

impl Store {
    /// Takes a lease for this long or renews it, unless another process has it.
    pub async fn take_lease(&self, name: &str, time: Duration) -> Result<LeaseHolder> {
        if !self.has_leases() {
            return Ok(LeaseHolder::This);
        }
        let holder = self.runner_name();
        let take = format!(
            "INSERT INTO named_leases (name, holder, lease_until) VALUES ($1, $2, {NOW} + $3) \
             ON CONFLICT (name) DO UPDATE SET holder = $2, lease_until = {NOW} + $3 \
             WHERE named_leases.holder = $2 OR named_leases.lease_until < {NOW} RETURNING holder"
        );
        let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let values = [name.into(), holder.into(), time.into()];
        let taken = self.write.query_one_raw(statement(&take, values)).await?;
        if taken.is_some() {
            return Ok(LeaseHolder::This);
        }
        let ask = "SELECT holder FROM named_leases WHERE name = $1";
        let row = self
            .write
            .query_one_raw(statement(ask, [name.into()]))
            .await?;
        let other = row.map(|row| row.try_get_by_index(0)).transpose()?;
        // The other holder's lease ended between the two queries; the next attempt gets it.
        Ok(other.map_or(LeaseHolder::Unknown, LeaseHolder::Other))
    }

    /// Gives a lease back.
    pub async fn drop_lease(&self, name: &str) -> Result<()> {
        if !self.has_leases() {
            return Ok(());
        }
        let drop = "DELETE FROM named_leases WHERE name = $1 AND holder = $2";
        let values = [name.into(), self.runner_name().into()];
        self.write.execute_raw(statement(drop, values)).await?;
        Ok(())
    }
}
