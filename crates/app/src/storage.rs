//! Whether the store can be written, for health checks and for the people who look at a page.
//!
//! A write that fails is noticed by the store. Here it is tried again until writing works,
//! so that nobody has to restart anything once the disk has room again.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::Serialize;
use tenon_store::{Store, WriteHealth, now};
use tenon_tools::{FreeSpace, NoSpace};
use tokio::sync::watch;
use ts_rs::TS;

/// How often it is looked at how much is free, and writing is tried while it does not work.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// A database that takes longer is not well.
const WRITE_TIMEOUT: Duration = Duration::from_secs(3);

/// However often somebody asks whether Tenon is well, it writes no more often to know, in
/// milliseconds.
const PROBE_INTERVAL_MS: i64 = 5_000;

/// How the place is where everything is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum StorageState {
    #[default]
    Ok,
    /// Free space is below the limit, so nothing new is started.
    Low,
    Full,
    /// Writing does not work, and the log says why.
    Failing,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    store: Store,
    free_space: FreeSpace,
    state: Arc<watch::Sender<StorageState>>,
    probed_at: Arc<AtomicI64>,
}

impl Storage {
    pub fn new(store: Store, free_space: FreeSpace) -> Self {
        Self {
            store,
            free_space,
            state: Arc::default(),
            probed_at: Arc::default(),
        }
    }

    /// Whether there is room for something new.
    pub fn check_room(&self) -> Result<(), NoSpace> {
        self.free_space.check()
    }

    /// The current state, then each change.
    pub fn watch(&self) -> watch::Receiver<StorageState> {
        self.state.subscribe()
    }

    /// The state, after a write that tries it unless the last one was a moment ago.
    pub async fn probe(&self) -> StorageState {
        let (now, before) = (now(), self.probed_at.load(Ordering::Relaxed));
        let is_due = (now - before).abs() >= PROBE_INTERVAL_MS;
        let is_ours = || {
            let taken =
                self.probed_at
                    .compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed);
            taken.is_ok()
        };
        if is_due && is_ours() {
            self.try_write().await;
        }
        *self.state.borrow()
    }

    /// Looks after it for as long as it is polled.
    pub async fn watch_writes(self) {
        let mut writing = self.store.writing();
        let mut interval = tokio::time::interval(CHECK_INTERVAL);
        loop {
            tokio::select! {
                _ = interval.tick() => {}
                changed = writing.changed() => if changed.is_err() {
                    return;
                },
            }
            // A single failed write may have been a fluke of its own, so another write is tried.
            let works = *writing.borrow_and_update() == WriteHealth::Works;
            if works && *self.state.borrow() != StorageState::Failing {
                self.set(self.state_of_last_write());
            } else {
                self.try_write().await;
            }
        }
    }

    async fn try_write(&self) {
        let written = tokio::time::timeout(WRITE_TIMEOUT, self.store.try_write()).await;
        self.set(match written {
            Ok(Ok(())) => self.state_of_last_write(),
            Ok(Err(error)) => {
                tracing::warn!(%error, "nothing can be written");
                self.state_of_last_write()
            }
            Err(_) => {
                tracing::warn!("nothing could be written within {WRITE_TIMEOUT:?}");
                StorageState::Failing
            }
        });
    }

    /// How it is, as far as the last write tells.
    fn state_of_last_write(&self) -> StorageState {
        match *self.store.writing().borrow() {
            WriteHealth::DiskFull => StorageState::Full,
            WriteHealth::Fails => StorageState::Failing,
            WriteHealth::Works if self.free_space.check().is_err() => StorageState::Low,
            WriteHealth::Works => StorageState::Ok,
        }
    }

    fn set(&self, seen: StorageState) {
        let changed = self.state.send_if_modified(|state| {
            let changed = *state != seen;
            *state = seen;
            changed
        });
        if changed {
            tracing::info!(state = ?seen, "the storage has changed");
        }
    }
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage")
            .field("state", &*self.state.borrow())
            .finish_non_exhaustive()
    }
}
