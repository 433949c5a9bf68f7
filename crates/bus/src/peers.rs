//! The other servers on the bus: each says every few seconds that it is there.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, interval};

use crate::envelope::{Header, MessageKind};
use crate::{BusState, Inner};

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
    pub(crate) fn hear(&self, inner: &Inner, header: &Header) {
        {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.retain(|_, heard| heard.elapsed() < SILENCE_TIMEOUT);
    }

    fn publish(&self) {
        let names: BTreeSet<Arc<str>> = {
            let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
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
    loop {
        ticks.tick().await;
        let Some(inner) = bus.upgrade() else { return };
        inner.peers.say_hello(&inner, false);
        // While nothing arrives nobody can be heard: then nobody is known to be gone either.
        if *inner.state.borrow() == BusState::Connected {
            inner.peers.drop_silent();
            inner.peers.publish();
        }
    }
}
