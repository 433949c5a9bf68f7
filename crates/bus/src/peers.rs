//! The other servers on the bus, known by their heartbeats.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::Inner;
use crate::envelope::{Header, MessageKind};
use crate::lock::lock;
use crate::requests::POLL_TIMEOUT;

const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(4);

/// After so long without a word a server counts as gone.
const PEER_TIMEOUT: Duration = Duration::from_secs(13);

/// Bound on memory: no cluster is larger, but anybody may write to the channel.
const MAX_PEERS: usize = 1024;

#[derive(Debug)]
pub(crate) struct Peers {
    last_seen: Mutex<HashMap<Arc<str>, Instant>>,
    names: watch::Sender<BTreeSet<Arc<str>>>,
}

impl Default for Peers {
    fn default() -> Self {
        Self {
            last_seen: Mutex::default(),
            names: watch::Sender::new(BTreeSet::new()),
        }
    }
}

impl Peers {
    pub(crate) fn watch(&self) -> watch::Receiver<BTreeSet<Arc<str>>> {
        self.names.subscribe()
    }

    pub(crate) fn send_heartbeat(&self, inner: &Inner, is_new: bool) {
        let header = inner.header("", MessageKind::Hello { is_new });
        inner.send(inner.channels.all(), header, Bytes::new());
    }

    /// Notes that a peer is alive, because any message proves it.
    pub(crate) fn record_message(&self, inner: &Inner, header: &Header) {
        {
            let mut last_seen = lock(&self.last_seen);
            if header.kind == MessageKind::Goodbye {
                last_seen.remove(&header.from);
            } else if last_seen.len() < MAX_PEERS || last_seen.contains_key(&header.from) {
                last_seen.insert(header.from.clone(), Instant::now());
            }
        }
        self.publish();
        if header.kind == (MessageKind::Hello { is_new: true }) {
            self.send_heartbeat(inner, false);
        }
    }

    fn drop_silent(&self) {
        let mut last_seen = lock(&self.last_seen);
        last_seen.retain(|_, at| at.elapsed() < PEER_TIMEOUT);
    }

    fn publish(&self) {
        let names: BTreeSet<Arc<str>> = {
            let last_seen = lock(&self.last_seen);
            last_seen.keys().cloned().collect()
        };
        self.names.send_if_modified(|known| {
            let has_changed = *known != names;
            if has_changed {
                *known = names;
            }
            has_changed
        });
    }
}

/// Sends heartbeats, drops peers that are silent, and ends requests that nobody polls any more.
pub(crate) async fn run_heartbeats(bus: Weak<Inner>) {
    let mut ticks = interval(HEARTBEAT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut connected_since: Option<Instant> = None;
    loop {
        let is_late = ticks.tick().await.elapsed() > HEARTBEAT_INTERVAL;
        let Some(inner) = bus.upgrade() else { return };
        inner.peers.send_heartbeat(&inner, false);
        inner.requests.drop_old();
        // While the bus is down no peer can be heard, so none is considered gone.
        if !inner.is_connected() {
            connected_since = None;
            continue;
        }
        // This process was paused: what the others said meanwhile is read first.
        if is_late {
            continue;
        }
        inner.peers.drop_silent();
        inner.peers.publish();
        let since = connected_since.get_or_insert_with(Instant::now);
        if since.elapsed() > POLL_TIMEOUT {
            inner.requests.end_unpolled();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;
    use crate::BusState;

    #[tokio::test(start_paused = true)]
    async fn who_was_paused_itself_hears_the_others_before_it_drops_them() {
        let (inner, _outgoing) = Inner::new("test", "a");
        inner.state.send_replace(BusState::Connected);
        tokio::spawn(run_heartbeats(Arc::downgrade(&inner)));
        let hello = Header {
            from: "b".into(),
            topic: "".into(),
            kind: MessageKind::Hello { is_new: false },
        };
        inner.peers.record_message(&inner, &hello);
        let peers = inner.peers.watch();
        sleep(HEARTBEAT_INTERVAL / 2).await;
        advance(3 * PEER_TIMEOUT).await;
        sleep(HEARTBEAT_INTERVAL / 2).await;
        assert_eq!(peers.borrow().len(), 1, "what it said is not read yet");
        inner.peers.record_message(&inner, &hello);
        sleep(2 * HEARTBEAT_INTERVAL).await;
        assert_eq!(peers.borrow().len(), 1);
        sleep(2 * PEER_TIMEOUT).await;
        assert_eq!(peers.borrow().len(), 0, "it is gone");
    }
}
