//! Workers that wait for their next call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_domain::SourceId;
use tokio::time::Instant;

use super::worker::{Worker, WorkerKey};

/// How long a worker waits for its next call.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Each is an interpreter with its modules: some dozen megabytes.
const MAX_IDLE: usize = 16;

/// Workers that wait. They end after a while, or when there are too many.
#[derive(Default)]
pub(super) struct WorkerPool(Arc<Mutex<IdleWorkers>>);

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
    pub(super) fn take(&self, key: &WorkerKey) -> Option<Worker> {
        let mut idle = lock(&self.0);
        // The one that waits for the shortest time: the others may end.
        let found = idle.workers.iter().rposition(|idle| idle.key == *key)?;
        Some(idle.workers.remove(found).worker)
    }

    pub(super) fn give_back(&self, key: WorkerKey, worker: Worker) {
        let mut idle = lock(&self.0);
        idle.workers.push(IdleWorker {
            key,
            since: Instant::now(),
            worker,
        });
        let excess = idle.workers.len().saturating_sub(MAX_IDLE);
        let ended: Vec<IdleWorker> = idle.workers.drain(..excess).collect();
        if !idle.is_watched {
            idle.is_watched = true;
            tokio::spawn(end_idle(self.0.clone()));
        }
        drop(idle);
        drop(ended);
    }

    /// Ends those of a skill that was updated or removed.
    pub(super) fn forget(&self, skill: &SourceId) {
        let mut idle = lock(&self.0);
        let ended: Vec<IdleWorker> = idle
            .workers
            .extract_if(.., |idle| idle.key.skill == *skill)
            .collect();
        drop(idle);
        drop(ended);
    }
}

/// Ends workers that waited long enough, until there is none.
async fn end_idle(pool: Arc<Mutex<IdleWorkers>>) {
    loop {
        tokio::time::sleep(IDLE_TIME / 12).await;
        let mut idle = lock(&pool);
        let ended: Vec<IdleWorker> = idle
            .workers
            .extract_if(.., |idle| idle.since.elapsed() >= IDLE_TIME)
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

fn lock(pool: &Mutex<IdleWorkers>) -> MutexGuard<'_, IdleWorkers> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = lock(&self.0).workers.len();
        f.debug_tuple("WorkerPool").field(&waiting).finish()
    }
}
