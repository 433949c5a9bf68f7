//! How this server stands with the others on its database, for the log and for people's pages.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tenon_bus::{Bus, BusState};
use tenon_store::{ServerRole, Store};
use tokio::sync::watch;
use tokio::time::{interval, sleep};
use ts_rs::TS;

/// How often it is looked whether there are others.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// A bus that is back before this was away for nobody.
const AWAY_GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ClusterState {
    #[default]
    Ok,
    /// The bus is away: what other servers do is seen once it is stored.
    Delayed,
    /// There are other servers, and no bus to reach them.
    NoBus,
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cluster {
    store: Store,
    pub bus: Bus,
    state: Arc<watch::Sender<ClusterState>>,
}

impl Cluster {
    pub(crate) fn new(store: Store, bus: Bus) -> Self {
        Self {
            store,
            bus,
            state: Arc::default(),
        }
    }

    /// How it is, and how it will be.
    pub fn watch(&self) -> watch::Receiver<ClusterState> {
        self.state.subscribe()
    }

    /// Tells the others that this server serves, and looks after its state for as long as it is polled.
    pub async fn watch_servers(self) {
        self.store.set_role(ServerRole {
            serves: true,
            has_bus: !self.bus.is_alone(),
        });
        if self.bus.is_alone() {
            self.watch_without_bus().await;
        } else {
            self.watch_bus().await;
        }
    }

    async fn watch_without_bus(&self) {
        if !self.store.has_leases() {
            return;
        }
        let mut ticks = interval(CHECK_INTERVAL);
        loop {
            ticks.tick().await;
            match self.store.other_servers().await {
                Ok(others) if others.is_empty() => self.set(ClusterState::Ok),
                Ok(_) => self.set(ClusterState::NoBus),
                // A database that is away is told of elsewhere.
                Err(error) => tracing::debug!(%error, "other servers cannot be looked for"),
            }
        }
    }

    async fn watch_bus(&self) {
        let mut bus = self.bus.state();
        loop {
            if *bus.borrow_and_update() == BusState::Connected {
                self.set(ClusterState::Ok);
            } else {
                tokio::select! {
                    () = sleep(AWAY_GRACE) => self.set(ClusterState::Delayed),
                    _ = bus.changed() => continue,
                }
            }
            if bus.changed().await.is_err() {
                return;
            }
        }
    }

    fn set(&self, seen: ClusterState) {
        let has_changed = self.state.send_if_modified(|state| {
            let has_changed = *state != seen;
            *state = seen;
            has_changed
        });
        match seen {
            ClusterState::NoBus if has_changed => tracing::warn!(
                "another server uses this database, and there is no bus: set `bus` to the address of a Redis or \
                 Valkey at all of them, or live answers, forms and people's own tools stay at the server they began at"
            ),
            _ if has_changed => tracing::info!(state = ?seen, "the cluster has changed"),
            _ => {}
        }
    }
}
