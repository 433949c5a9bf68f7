//! Workers that wait for their next call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tenon_domain::SourceId;
use tokio::time::Instant;

use super::worker::{Worker, WorkerKey};
use crate::lock::lock;

/// How long a worker waits for its next call unless the settings say so.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Each is an interpreter with its modules: some dozen megabytes.
const MAX_IDLE: usize = 16;

/// Workers that wait. They end after a while, or when there are too many.
pub(super) struct WorkerPool {
    idle: Arc<Mutex<IdleWorkers>>,
    idle_time: Duration,
}

#[derive(Default)]
struct IdleWorkers {
    /// The one that has waited longest first.
    workers: Vec<IdleWorker>,
    is_watched: bool,
}

struct IdleWorker {
    key: WorkerKey,
    since: Instant,
    worker: Worker,
}

impl WorkerPool {
    pub(super) fn new(idle_time: Option<Duration>) -> Self {
        Self {
            idle: Arc::default(),
            idle_time: idle_time.unwrap_or(IDLE_TIME),
        }
    }

    pub(super) fn take(&self, key: &WorkerKey) -> Option<Worker> {
        let mut idle = lock(&self.idle);
        // The one that waits for the shortest time: the others may end.
        let found = idle.workers.iter().rposition(|idle| idle.key == *key)?;
        Some(idle.workers.remove(found).worker)
    }

    pub(super) fn give_back(&self, key: WorkerKey, worker: Worker) {
        let mut idle = lock(&self.idle);
        idle.workers.push(IdleWorker {
            key,
            since: Instant::now(),
            worker,
        });
        let excess = idle.workers.len().saturating_sub(MAX_IDLE);
        let ended: Vec<IdleWorker> = idle.workers.drain(..excess).collect();
        if !idle.is_watched {
            idle.is_watched = true;
            tokio::spawn(end_idle(self.idle.clone(), self.idle_time));
        }
        drop(idle);
        drop(ended);
    }

    /// Ends those of a skill that was updated or removed.
    pub(super) fn forget(&self, skill: &SourceId) {
        let mut idle = lock(&self.idle);
        let ended: Vec<IdleWorker> = idle
            .workers
            .extract_if(.., |idle| idle.key.skill == *skill)
            .collect();
        drop(idle);
        drop(ended);
    }
}

/// Ends workers that waited long enough, until there is none.
async fn end_idle(pool: Arc<Mutex<IdleWorkers>>, idle_time: Duration) {
    loop {
        tokio::time::sleep(idle_time / 12).await;
        let mut idle = lock(&pool);
        let ended: Vec<IdleWorker> = idle
            .workers
            .extract_if(.., |idle| idle.since.elapsed() >= idle_time)
            .collect();
        let is_empty = idle.workers.is_empty();
        idle.is_watched = !is_empty;
        drop(idle);
        drop(ended);
        if is_empty {
            return;
        }
    }
}

impl std::fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = lock(&self.idle).workers.len();
        f.debug_tuple("WorkerPool").field(&waiting).finish()
    }
}
