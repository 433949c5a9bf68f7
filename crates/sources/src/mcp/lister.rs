//! Asks a server for its tools: at first, whenever it says that they changed or
//! there is doubt about it, and again some time after it could not answer.
//!
//! However often it says so, it is asked a few times a second at most. One that
//! has no way to say so is asked every now and then: it may have been restarted
//! with other tools, or be gone.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::link::{Link, Listed, NoLink};
use super::patience::Patience;
use crate::spread::spread;

/// Changes come in swarms: what comes within this is one.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Between the beginnings of two listings.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// After one that came to nothing.
const RETRY_INTERVAL: Duration = Duration::from_secs(20);

/// A list that takes long is asked for less often: so many times as long lies between two.
const POLL_SHARE: u32 = 30;

pub(super) struct Lister {
    link: Arc<Link>,
    changed: watch::Receiver<u64>,
    /// None: the server is heard for as long as it runs.
    streams: Option<watch::Receiver<bool>>,
    viewers: watch::Receiver<usize>,
    patience: Patience,
    /// So that those that were started together are not asked together.
    seed: u64,
    /// When it was last asked, and how long that took.
    last: Option<(Instant, Duration)>,
    /// When to ask even if nothing changes.
    due: Option<Instant>,
}

impl Lister {
    pub(super) fn new(
        link: Arc<Link>,
        viewers: watch::Receiver<usize>,
        patience: Patience,
    ) -> Self {
        Self {
            changed: link.changed(),
            streams: link.streams(),
            link,
            viewers,
            patience,
            seed: RandomState::new().hash_one(0),
            last: None,
            due: Some(Instant::now()),
        }
    }

    /// The next list, as soon as there is reason to ask for one.
    pub(super) async fn next(&mut self, doubt: &Notify) -> Result<Listed, NoLink> {
        let is_due = loop {
            let due = self.due.into_iter().chain(self.poll_due()).min();
            tokio::select! {
                () = at(due) => break true,
                () = changed(&mut self.changed) => break false,
                () = doubt.notified() => break false,
                // Other times apply from now on.
                () = changed(&mut self.viewers) => {}
                () = stream_changed(self.streams.as_mut()) => {}
            }
        };
        if !is_due {
            let apart = self.last.map(|(last, _)| last + MIN_INTERVAL);
            at(apart.max(Some(Instant::now() + DEBOUNCE))).await;
        }
        // What changes from here on is reason for another one.
        self.changed.mark_unchanged();
        let begun = Instant::now();
        let mut listed = self.link.tools(self.patience.list).await;
        if let Err(NoLink::Gone(_)) = listed {
            // One connection that was cut is no reason to end all that is under way.
            listed = self.link.tools(self.patience.list).await;
        }
        self.last = Some((begun, begun.elapsed()));
        let retry = Instant::now() + RETRY_INTERVAL;
        self.due = listed.is_err().then_some(retry);
        listed
    }

    /// When to look at one that would not say that something has changed.
    fn poll_due(&self) -> Option<Instant> {
        let is_heard = self.streams.as_ref().is_none_or(|stands| *stands.borrow());
        let (last, took) = self.last.filter(|_| !is_heard)?;
        let interval = if *self.viewers.borrow() > 0 {
            self.patience.watched_poll
        } else {
            self.patience.poll
        };
        Some(last + spread(interval.max(took * POLL_SHARE), self.seed))
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// What has ended changes no more; that it ended is noticed elsewhere.
async fn changed<T>(receiver: &mut watch::Receiver<T>) {
    if receiver.changed().await.is_err() {
        std::future::pending().await
    }
}

async fn stream_changed(streams: Option<&mut watch::Receiver<bool>>) {
    match streams {
        Some(streams) => changed(streams).await,
        None => std::future::pending().await,
    }
}
