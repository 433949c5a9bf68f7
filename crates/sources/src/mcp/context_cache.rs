//! Cache of a server's resources and prompts: listed on demand, valid until the server announces a
//! change or the connection is replaced.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};
use tenon_mcp::{ListVersions, McpConnection};
use tenon_tools::{ContextChange, ContextEntry, ContextKind, ResourceWatch};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::lock::lock;

/// How many changes a subscriber may be behind; then it hears that a list changed.
const MAX_UNREAD_CHANGES: usize = 256;

#[derive(Debug)]
pub(super) struct ContextCache {
    lists: Mutex<HashMap<ContextKind, CachedList>>,
    changes: broadcast::Sender<ContextChange>,
    /// By URI, how many watch it.
    watched: Arc<watch::Sender<BTreeMap<String, usize>>>,
}

#[derive(Debug, Clone)]
pub(super) struct CachedList {
    /// Of which connection, and of which version of its list.
    pub(super) connection: u64,
    pub(super) version: u64,
    pub(super) entries: Arc<[ContextEntry]>,
}

impl Default for ContextCache {
    fn default() -> Self {
        Self {
            lists: Mutex::default(),
            changes: broadcast::Sender::new(MAX_UNREAD_CHANGES),
            watched: Arc::new(watch::Sender::new(BTreeMap::new())),
        }
    }
}

impl ContextCache {
    /// Forwards notifications of a connection, as long as it is the current one.
    pub(super) async fn forward(
        &self,
        connection: &McpConnection,
        list_timeout: Duration,
    ) -> Infallible {
        let mut versions = connection.list_versions();
        let mut updates = connection.resource_updates();
        let mut watched = self.watched.subscribe();
        let mut known = ListVersions::default();
        // A new connection may be another server. Announce a change only if lists were read before.
        if !self.lists().is_empty() {
            self.announce(ContextChange::Resources);
            self.announce(ContextChange::Prompts);
        }
        // Makes the loop subscribe on this connection to the resources that are watched already.
        watched.mark_changed();
        loop {
            tokio::select! {
                changed = versions.changed() => {
                    let now = *versions.borrow_and_update();
                    if now.resources != known.resources {
                        self.announce(ContextChange::Resources);
                    }
                    if now.prompts != known.prompts {
                        self.announce(ContextChange::Prompts);
                    }
                    known = now;
                    if changed.is_err() {
                        return std::future::pending().await;
                    }
                }
                updated = updates.recv() => match updated {
                    Ok(uri) => self.announce(ContextChange::Resource(uri)),
                    Err(RecvError::Lagged(_)) => self.announce(ContextChange::Resources),
                    Err(RecvError::Closed) => return std::future::pending().await,
                },
                _ = watched.changed() => {
                    let uris: BTreeSet<String> = watched.borrow_and_update().keys().cloned().collect();
                    // The supervisor notices a lost connection itself.
                    let _ = connection.watch_resources(uris, list_timeout).await;
                }
            }
        }
    }

    fn announce(&self, change: ContextChange) {
        // An error only means that there are no subscribers.
        let _ = self.changes.send(change);
    }

    pub(super) fn watch_resource(&self, uri: &str) -> ResourceWatch {
        let (watched, uri) = (self.watched.clone(), uri.to_owned());
        watched.send_if_modified(|watched| {
            let watchers = watched.entry(uri.clone()).or_default();
            *watchers += 1;
            *watchers == 1
        });
        ResourceWatch::new(move || {
            watched.send_if_modified(|watched| match watched.get_mut(&uri) {
                Some(watchers) if *watchers > 1 => {
                    *watchers -= 1;
                    false
                }
                _ => watched.remove(&uri).is_some(),
            });
        })
    }

    /// All changes from now on.
    pub(super) fn changes(&self) -> BoxStream<'static, ContextChange> {
        let next = |mut changes: broadcast::Receiver<ContextChange>| async move {
            match changes.recv().await {
                Ok(change) => Some((change, changes)),
                Err(RecvError::Lagged(_)) => Some((ContextChange::Resources, changes)),
                Err(RecvError::Closed) => None,
            }
        };
        stream::unfold(self.changes.subscribe(), next).boxed()
    }

    pub(super) fn get(&self, kind: ContextKind) -> Option<CachedList> {
        self.lists().get(&kind).cloned()
    }

    pub(super) fn set(&self, kind: ContextKind, list: CachedList) {
        self.lists().insert(kind, list);
    }

    fn lists(&self) -> MutexGuard<'_, HashMap<ContextKind, CachedList>> {
        lock(&self.lists)
    }
}
