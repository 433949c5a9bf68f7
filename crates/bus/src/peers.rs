//! The other servers on the bus: each says every few seconds that it is there.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, interval};

use crate::Inner;
use crate::envelope::{Header, MessageKind};
use crate::lock::lock;
use crate::requests::POLL_TIMEOUT;

const HELLO_INTERVAL: Duration = Duration::from_secs(4);

/// After so long without a word a server counts as gone.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(13);

/// Nobody has more servers; whoever writes to the channel must not fill our memory.
const MAX_PEERS: usize = 1024;

#[derive(Debug)]
pub(crate) struct Peers {
    heard: Mutex<HashMap<Arc<str>, Instant>>,
    names: watch::Sender<BTreeSet<Arc<str>>>,
}

impl Default for Peers {
    fn default() -> Self {
        Self {
            heard: Mutex::default(),
            names: watch::Sender::new(BTreeSet::new()),
        }
    }
}

impl Peers {
    pub(crate) fn watch(&self) -> watch::Receiver<BTreeSet<Arc<str>>> {
        self.names.subscribe()
    }

    pub(crate) fn say_hello(&self, inner: &Inner, is_new: bool) {
        let header = inner.header("", MessageKind::Hello { is_new });
        inner.send(inner.channels.all(), header, Bytes::new());
    }

    /// Whatever it says, it is there.
    pub(crate) fn see(&self, inner: &Inner, header: &Header) {
        {
            let mut heard = lock(&self.heard);
            if header.kind == MessageKind::Goodbye {
                heard.remove(&header.from);
            } else if heard.len() < MAX_PEERS || heard.contains_key(&header.from) {
                heard.insert(header.from.clone(), Instant::now());
            }
        }
        self.publish();
        if header.kind == (MessageKind::Hello { is_new: true }) {
            self.say_hello(inner, false);
        }
    }

    fn drop_silent(&self) {
        let mut heard = lock(&self.heard);
        heard.retain(|_, heard| heard.elapsed() < SILENCE_TIMEOUT);
    }

    fn publish(&self) {
        let names: BTreeSet<Arc<str>> = {
            let heard = lock(&self.heard);
            heard.keys().cloned().collect()
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

pub(crate) async fn greet(bus: Weak<Inner>) {
    let mut ticks = interval(HELLO_INTERVAL);
    let mut connected_since: Option<Instant> = None;
    loop {
        ticks.tick().await;
        let Some(inner) = bus.upgrade() else { return };
        inner.peers.say_hello(&inner, false);
        // While nothing arrives nobody can be heard: then nobody is known to be gone either.
        if !inner.is_connected() {
            connected_since = None;
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
