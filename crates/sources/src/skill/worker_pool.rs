//! Workers that wait for their next call.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tenon_domain::SourceId;
use tenon_tools::Quota;
use tokio::time::Instant;

use super::worker::{Worker, WorkerKey};
use crate::lock::lock;

/// How long a worker waits for its next call unless the settings say so.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Each is an interpreter with its modules: some dozen megabytes.
const MAX_IDLE: usize = 16;

/// How often idle workers are checked for expiry.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Workers that wait. They end after a while, when there are too many, or when what they left
/// running writes more than their chat may have.
pub(super) struct WorkerPool {
    idle: Arc<Mutex<IdleWorkers>>,
    idle_time: Duration,
    quota: Arc<Quota>,
}

#[derive(Default)]
struct IdleWorkers {
    /// Idle workers, longest idle first.
    workers: Vec<IdleWorker>,
    is_watched: bool,
}

struct IdleWorker {
    key: WorkerKey,
    since: Instant,
    worker: Worker,
}

impl WorkerPool {
    pub(super) fn new(idle_time: Option<Duration>, quota: Arc<Quota>) -> Self {
        Self {
            idle: Arc::default(),
            idle_time: idle_time.unwrap_or(IDLE_TIME),
            quota,
        }
    }

    pub(super) fn take(&self, key: &WorkerKey) -> Option<Worker> {
        let mut idle = lock(&self.idle);
        // Take the worker that was used last, so that the others can expire.
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
            let (pool, quota) = (self.idle.clone(), self.quota.clone());
            tokio::spawn(end_idle(pool, quota, self.idle_time));
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

/// Ends workers that waited long enough or write too much, until there is none.
async fn end_idle(pool: Arc<Mutex<IdleWorkers>>, quota: Arc<Quota>, idle_time: Duration) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL.min(idle_time / 12)).await;
        let mut outgrown = work_folders(&pool);
        for folder in std::mem::take(&mut outgrown) {
            if quota.is_outgrown(&folder).await {
                outgrown.insert(folder);
            }
        }
        let mut idle = lock(&pool);
        let ended: Vec<IdleWorker> = idle
            .workers
            .extract_if(.., |idle| {
                idle.since.elapsed() >= idle_time || outgrown.contains(&idle.key.work)
            })
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

fn work_folders(pool: &Mutex<IdleWorkers>) -> BTreeSet<PathBuf> {
    let idle = lock(pool);
    idle.workers
        .iter()
        .map(|idle| idle.key.work.clone())
        .collect()
}

impl std::fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = lock(&self.idle).workers.len();
        f.debug_tuple("WorkerPool").field(&waiting).finish()
    }
}
