//! How this server stands with the others on its database, for the log and for people's pages.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tenon_bus::{Bus, BusState};
use tenon_store::{ServerRole, Store};
use tokio::sync::watch;
use tokio::time::{interval, timeout};
use ts_rs::TS;

/// How often it is looked whether there are others.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Shorter outages of the bus are not reported.
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

    /// The current state, then each change.
    pub fn watch(&self) -> watch::Receiver<ClusterState> {
        self.state.subscribe()
    }

    /// Tells the others that this server serves, and looks after its state for as long as it is
    /// polled.
    pub async fn watch_servers(self) {
        self.store.set_role(ServerRole {
            serves: true,
            has_bus: !self.bus.is_alone(),
        });
        let (mut bus, mut ticks) = (self.bus.state(), interval(CHECK_INTERVAL));
        let mut is_cut_off = false;
        loop {
            tokio::select! {
                Ok(()) = bus.changed() => {}
                _ = ticks.tick() => {
                    if let Ok(Ok(found)) = timeout(CHECK_TIMEOUT, self.is_cut_off()).await {
                        is_cut_off = found;
                    }
                }
            }
            if *bus.borrow_and_update() == BusState::Away {
                let back = bus.wait_for(|state| *state != BusState::Away);
                if timeout(AWAY_GRACE, back).await.is_err() {
                    self.set(ClusterState::Delayed);
                    continue;
                }
            }
            self.set(if is_cut_off {
                ClusterState::NoBus
            } else {
                ClusterState::Ok
            });
        }
    }

    /// Whether there are servers that this one cannot reach, whatever becomes of its bus.
    async fn is_cut_off(&self) -> tenon_store::Result<bool> {
        let others = self.store.other_servers().await?;
        let unreached = if self.bus.is_alone() {
            others.all
        } else {
            others.without_bus
        };
        Ok(unreached > 0)
    }

    fn set(&self, seen: ClusterState) {
        let has_changed = self.state.send_if_modified(|state| {
            let has_changed = *state != seen;
            *state = seen;
            has_changed
        });
        match seen {
            ClusterState::NoBus if has_changed => tracing::warn!(
                "another server uses this database, and there is no bus to it: set `bus` to the \
                 address of a Redis or Valkey at all of them, or live answers, forms and people's \
                 own tools stay at the server they began at"
            ),
            _ if has_changed => tracing::info!(state = ?seen, "the cluster has changed"),
            _ => {}
        }
    }
}
