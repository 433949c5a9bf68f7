//! Lists the tools of a server: at first, whenever it notifies of a change or there is
//! doubt about it, and again some time after it could not answer.
//!
//! Notifications are debounced. A server that cannot notify is polled: it may have been
//! restarted with other tools, or be gone.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use tenon_mcp::{Error, McpConnection};

use super::timeouts::ServerTimeouts;
use super::tool_list::ListedTools;
use crate::jitter::jitter;

/// Changes within this time are one.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Between the beginnings of two listings.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// After one that failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(20);

/// A list that takes long is polled less often: so many times as long lies between two polls.
const MIN_POLL_RATIO: u32 = 30;

pub(super) struct Lister {
    connection: Arc<McpConnection>,
    changed: watch::Receiver<u64>,
    /// Whether it can notify of changes. None: always.
    stream_open: Option<watch::Receiver<bool>>,
    viewers: watch::Receiver<usize>,
    timeouts: ServerTimeouts,
    /// Seed of the jitter, so that servers that started together are not polled together.
    seed: u64,
    /// When it was last asked, and how long that took.
    last: Option<(Instant, Duration)>,
    /// When to ask even if nothing changes.
    due: Option<Instant>,
}

impl Lister {
    pub(super) fn new(
        connection: Arc<McpConnection>,
        viewers: watch::Receiver<usize>,
        timeouts: ServerTimeouts,
    ) -> Self {
        Self {
            changed: connection.tools_changed(),
            stream_open: connection.notification_stream(),
            connection,
            viewers,
            timeouts,
            seed: RandomState::new().hash_one(0),
            last: None,
            due: Some(Instant::now()),
        }
    }

    /// The next list, as soon as there is reason to ask for one.
    pub(super) async fn next(&mut self, doubt: &Notify) -> Result<ListedTools, Error> {
        let is_due = loop {
            let due = self.due.into_iter().chain(self.poll_due()).min();
            tokio::select! {
                () = at(due) => break true,
                () = changed(&mut self.changed) => break false,
                () = doubt.notified() => break false,
                // Other times apply from now on.
                () = changed(&mut self.viewers) => {}
                () = stream_changed(self.stream_open.as_mut()) => {}
            }
        };
        if !is_due {
            let apart = self.last.map(|(last, _)| last + MIN_INTERVAL);
            at(apart.max(Some(Instant::now() + DEBOUNCE))).await;
        }
        // What changes from here on is reason for another one.
        self.changed.mark_unchanged();
        let begun = Instant::now();
        let mut listed = self.connection.list_tools(self.timeouts.list).await;
        if let Err(Error::NotSent(_) | Error::ConnectionLost(_)) = listed {
            // A dropped HTTP connection is no reason to abort running calls, so the list is
            // requested once more.
            listed = self.connection.list_tools(self.timeouts.list).await;
        }
        self.last = Some((begun, begun.elapsed()));
        let retry = Instant::now() + RETRY_INTERVAL;
        self.due = listed.is_err().then_some(retry);
        listed.map(ListedTools::from)
    }

    /// When to poll one that cannot notify.
    fn poll_due(&self) -> Option<Instant> {
        let can_notify = self
            .stream_open
            .as_ref()
            .is_none_or(|stands| *stands.borrow());
        let (last, took) = self.last.filter(|_| !can_notify)?;
        let interval = if *self.viewers.borrow() > 0 {
            self.timeouts.watched_poll
        } else {
            self.timeouts.poll
        };
        Some(last + jitter(interval.max(took * MIN_POLL_RATIO), self.seed))
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Waits for a change. A closed channel never changes; its end is noticed elsewhere.
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
