//! Asks a server for its tools: at first, whenever it says that they changed or
//! there is doubt about it, and again some time after it could not answer.
//!
//! However often it says so, it is asked a few times a second at most.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::link::{Link, Listed, NoLink};

/// Changes come in swarms: what comes within this is one.
const SWARM: Duration = Duration::from_millis(100);

/// Between the beginnings of two listings.
const APART: Duration = Duration::from_millis(500);

/// After one that came to nothing.
const AGAIN: Duration = Duration::from_secs(20);

pub(super) struct Lister {
    link: Arc<Link>,
    changed: watch::Receiver<u64>,
    patience: Duration,
    last: Option<Instant>,
    /// When to ask even if nothing changes.
    due: Option<Instant>,
}

impl Lister {
    pub(super) fn new(link: Arc<Link>, patience: Duration) -> Self {
        Self {
            changed: link.changed(),
            link,
            patience,
            last: None,
            due: Some(Instant::now()),
        }
    }

    /// The next list, as soon as there is reason to ask for one.
    pub(super) async fn next(&mut self, doubt: &Notify) -> Result<Listed, NoLink> {
        let is_due = tokio::select! {
            () = at(self.due) => true,
            () = changed(&mut self.changed) => false,
            () = doubt.notified() => false,
        };
        if !is_due {
            let apart = self.last.map(|last| last + APART);
            let swarm = Some(Instant::now() + SWARM);
            at(apart.max(swarm)).await;
        }
        // What changes from here on is reason for another one.
        self.changed.mark_unchanged();
        self.last = Some(Instant::now());
        let listed = self.link.tools(self.patience).await;
        self.due = listed.is_err().then(|| Instant::now() + AGAIN);
        listed
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// A link that has ended changes no more; that it ended is noticed elsewhere.
async fn changed(receiver: &mut watch::Receiver<u64>) {
    if receiver.changed().await.is_err() {
        std::future::pending().await
    }
}
