//! Broadcast of changes of sources to the pages that are open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenon_domain::{SourceId, SourceState, UserId};
use tokio::sync::{broadcast, watch};

use crate::sources::read_model::SourceUpdate;

/// How many changes a slow page may miss before it gets a snapshot of everything.
const UPDATE_BACKLOG: usize = 256;

pub(super) struct SourceUpdates {
    sender: broadcast::Sender<AddressedUpdate>,
    subscribers: Arc<watch::Sender<usize>>,
    /// Numbers the lists of tools of this process.
    revisions: AtomicU64,
}

/// Something that changed, and for whom.
#[derive(Debug, Clone)]
pub struct AddressedUpdate {
    /// None: for everybody.
    pub to: Option<UserId>,
    pub update: SourceUpdate,
}

/// The subscription of a page, counted for as long as it is open.
#[derive(Debug)]
pub struct UpdateSubscription {
    receiver: broadcast::Receiver<AddressedUpdate>,
    subscribers: Arc<watch::Sender<usize>>,
}

impl UpdateSubscription {
    pub async fn recv(&mut self) -> Result<AddressedUpdate, broadcast::error::RecvError> {
        self.receiver.recv().await
    }
}

impl Drop for UpdateSubscription {
    fn drop(&mut self) {
        self.subscribers.send_modify(|count| *count -= 1);
    }
}

impl SourceUpdates {
    pub(super) fn subscribe(&self) -> UpdateSubscription {
        self.subscribers.send_modify(|count| *count += 1);
        UpdateSubscription {
            receiver: self.sender.subscribe(),
            subscribers: self.subscribers.clone(),
        }
    }

    /// How many pages are open.
    pub(super) fn subscribers(&self) -> watch::Receiver<usize> {
        self.subscribers.subscribe()
    }

    /// Publishes an update. An error only means that no page is open.
    pub(super) fn publish(&self, to: Option<UserId>, update: SourceUpdate) {
        let _ = self.sender.send(AddressedUpdate { to, update });
    }

    pub(super) fn publish_removed(&self, to: Option<UserId>, source: SourceId) {
        self.publish(
            to,
            SourceUpdate {
                source_id: source,
                gone: true,
                state: SourceState::Off,
                startup: None,
                tools: 0,
                revision: self.next_revision(),
            },
        );
    }

    pub(super) fn next_revision(&self) -> u64 {
        self.revisions.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Default for SourceUpdates {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(UPDATE_BACKLOG),
            subscribers: Arc::new(watch::Sender::new(0)),
            revisions: AtomicU64::new(0),
        }
    }
}

impl std::fmt::Debug for SourceUpdates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceUpdates").finish_non_exhaustive()
    }
}
