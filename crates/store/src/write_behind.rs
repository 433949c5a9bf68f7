//! Writes that nobody waits for: the audit log of calls, what was asked of models and tools, and
//! when keys and log-ins were used.
//!
//! One task writes what came together in one transaction, and retries one that fails, with backoff.
//! The buffer is bounded: what does not fit, or cannot be written, is counted, and the count
//! becomes an entry of the audit log. Never here: whatever must survive `kill -9` once somebody was
//! told that it happened.

mod batch_writer;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_domain::{KeyId, SessionId};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use crate::entity::{audit, call_traces};
use crate::model_calls::ModelCallDraft;
use crate::{AuditEntry, Store};

pub(crate) use batch_writer::BatchWriter;

/// How long entries are collected for one transaction.
const COLLECT_TIME: Duration = Duration::from_millis(50);

/// Some hundred milliseconds of the most calls that a machine can make; about 4 MiB. As many may be
/// in a batch that is retried.
const MAX_ENTRIES: usize = 16 * 1024;

/// Each holds the request as it was sent until it is written.
const MAX_MODEL_CALLS: usize = 256;

/// Some kilobytes each.
const MAX_CALL_TRACES: usize = 2048;

/// How long to wait before a batch that failed is tried again; after the last one it is given up.
/// Half a minute together.
pub(crate) const RETRY_DELAYS_MS: &[u64] = &[100, 200, 400, 800, 1600, 3200, 6400, 8000, 8000];

/// How long anybody waits for what is still to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// The handle of the task. The task ends, with all written, when this is dropped.
pub(crate) struct WriteBehind {
    shared: Arc<SharedBuffer>,
    progress: watch::Receiver<WriteProgress>,
}

#[derive(Debug, Clone, Copy, Default)]
struct WriteProgress {
    /// The number of the last batch that is written, or given up.
    done: u64,
    /// How many entries a batch has that failed and is retried.
    retrying: Option<u64>,
}

#[derive(Default)]
struct SharedBuffer {
    pending: Mutex<PendingWrites>,
    /// All entries that were lost since the start.
    lost_total: AtomicU64,
    /// Something is to be written, or the handle is gone.
    wake: Notify,
    /// Somebody waits for it.
    flush_requested: Notify,
}

/// What one transaction is going to write.
#[derive(Default)]
struct PendingWrites {
    /// Counts batches; that of the first one is 1.
    number: u64,
    is_closed: bool,
    audit: Vec<audit::Model>,
    /// Entries that had no place here, or could not be written before.
    lost: u64,
    model_calls: Vec<ModelCallDraft>,
    call_traces: Vec<call_traces::Model>,
    keys: HashMap<KeyId, i64>,
    sessions: HashMap<SessionId, SessionUse>,
}

struct SessionUse {
    seen_at: i64,
    expires_at: i64,
}

impl WriteBehind {
    /// Starts the task, on the runtime of the caller.
    pub(crate) fn start(writer: BatchWriter, retry_delays_ms: &'static [u64]) -> Self {
        let shared = Arc::new(SharedBuffer::default());
        shared.lock().number = 1;
        let (sender, progress) = watch::channel(WriteProgress::default());
        let task = WriteTask {
            shared: shared.clone(),
            writer,
            retry_delays_ms,
            progress: sender,
        };
        tokio::spawn(task.run());
        Self { shared, progress }
    }

    pub(crate) fn audit(&self, row: audit::Model) {
        self.shared.push(|pending| {
            if pending.audit.len() < MAX_ENTRIES {
                pending.audit.push(row);
            } else {
                pending.lost += 1;
                self.shared.lost_total.fetch_add(1, Ordering::Relaxed);
            }
        });
    }

    /// Queues a model call. If the queue is full it is dropped, which only leaves a gap in a trace.
    pub(crate) fn model_call(&self, draft: ModelCallDraft) {
        self.shared.push(|pending| {
            if pending.model_calls.len() < MAX_MODEL_CALLS {
                pending.model_calls.push(draft);
            } else {
                tracing::warn!(
                    "a model call is left out of the traces: too many wait to be written"
                );
            }
        });
    }

    /// The same: the call itself is in the audit log.
    pub(crate) fn call_trace(&self, row: call_traces::Model) {
        self.shared.push(|pending| {
            if pending.call_traces.len() < MAX_CALL_TRACES {
                pending.call_traces.push(row);
            }
        });
    }

    pub(crate) fn key_used(&self, key: &KeyId, at: i64) {
        let key = key.clone();
        self.shared.push(|pending| {
            pending.keys.insert(key, at);
        });
    }

    pub(crate) fn session_seen(&self, session: &SessionId, seen_at: i64, expires_at: i64) {
        let session = session.clone();
        let used = SessionUse {
            seen_at,
            expires_at,
        };
        self.shared.push(|pending| {
            pending.sessions.insert(session, used);
        });
    }

    /// Waits until all that was given to it so far is written, or cannot be written for now.
    async fn flush(&self) {
        let last = self.request_flush();
        // Late or not: whoever waits goes on, and the task has logged why.
        self.wait_for(|progress| progress.done >= last || progress.retrying.is_some())
            .await;
    }

    /// Waits until all that was given to it so far is written or given up, retries included.
    async fn drain(&self) {
        let last = self.request_flush();
        if !self.wait_for(|progress| progress.done >= last).await {
            let retrying = self.progress.borrow().retrying.unwrap_or_default();
            let entries = retrying + self.shared.lock().entries();
            tracing::error!(entries, "entries of the audit log were not written in time");
        }
    }

    /// The number of the last batch with something in it.
    fn request_flush(&self) -> u64 {
        let last = {
            let pending = self.shared.lock();
            pending.number - u64::from(pending.is_empty())
        };
        if self.progress.borrow().done < last {
            self.shared.wake.notify_one();
            self.shared.flush_requested.notify_one();
        }
        last
    }

    /// Whether it came to that in time.
    async fn wait_for(&self, is_reached: impl FnMut(&WriteProgress) -> bool) -> bool {
        let mut progress = self.progress.clone();
        let reached = timeout(FLUSH_TIMEOUT, progress.wait_for(is_reached)).await;
        reached.is_ok()
    }
}

impl Store {
    /// Writes an entry of the audit log soon, together with others: for what happens often.
    pub fn audit_behind(&self, entry: AuditEntry) {
        self.behind.audit(entry.into());
    }

    /// How many entries of the audit log were lost since the start.
    pub fn lost_audit_entries(&self) -> u64 {
        self.behind.shared.lost_total.load(Ordering::Relaxed)
    }

    /// Waits until what is written behind is written or has failed, for some seconds at most.
    pub async fn flush(&self) {
        self.behind.flush().await;
    }

    /// The same before the process ends: what has failed is retried meanwhile.
    pub async fn drain(&self) {
        self.behind.drain().await;
    }
}

struct WriteTask {
    shared: Arc<SharedBuffer>,
    writer: BatchWriter,
    retry_delays_ms: &'static [u64],
    progress: watch::Sender<WriteProgress>,
}

impl WriteTask {
    async fn run(self) {
        loop {
            self.shared.wake.notified().await;
            // Debounced: many entries cost little more than one.
            tokio::select! {
                () = sleep(COLLECT_TIME) => {}
                () = self.shared.flush_requested.notified() => {}
            }
            let mut batch = self.shared.take();
            let model_calls = std::mem::take(&mut batch.model_calls);
            let call_traces = std::mem::take(&mut batch.call_traces);
            self.write(&batch).await;
            self.writer.write_model_calls(model_calls).await;
            self.writer.write_call_traces(call_traces).await;
            self.progress.send_replace(WriteProgress {
                done: batch.number,
                retrying: None,
            });
            if batch.is_closed {
                return;
            }
        }
    }

    /// Until it is written, or given up and counted.
    async fn write(&self, batch: &PendingWrites) {
        let entries = batch.entries();
        for delay_ms in self.retry_delays_ms {
            let Err(error) = self.writer.write(batch).await else {
                return;
            };
            tracing::warn!(%error, entries, delay_ms, "the audit log cannot be written; it is tried again");
            self.progress
                .send_modify(|progress| progress.retrying = Some(entries));
            sleep(Duration::from_millis(*delay_ms)).await;
        }
        if let Err(error) = self.writer.write(batch).await {
            tracing::error!(%error, entries, "entries of the audit log were not written");
            // Earlier losses of this batch are counted already.
            let lost = batch.audit.len() as u64;
            self.shared.lost_total.fetch_add(lost, Ordering::Relaxed);
            self.shared.lock().lost += entries;
        }
    }
}

impl SharedBuffer {
    fn push(&self, add: impl FnOnce(&mut PendingWrites)) {
        add(&mut self.lock());
        self.wake.notify_one();
    }

    fn take(&self) -> PendingWrites {
        let mut pending = self.lock();
        let next = PendingWrites {
            number: pending.number + 1,
            ..PendingWrites::default()
        };
        std::mem::replace(&mut *pending, next)
    }

    fn lock(&self) -> MutexGuard<'_, PendingWrites> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingWrites {
    fn is_empty(&self) -> bool {
        let has_uses = !self.keys.is_empty() || !self.sessions.is_empty();
        let has_traces = !self.model_calls.is_empty() || !self.call_traces.is_empty();
        self.entries() == 0 && !has_traces && !has_uses
    }

    /// Number of audit entries, including lost ones.
    fn entries(&self) -> u64 {
        self.lost + self.audit.len() as u64
    }
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.wake.notify_one();
        self.shared.flush_requested.notify_one();
    }
}

impl fmt::Debug for WriteBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBehind")
            .field("progress", &*self.progress.borrow())
            .finish_non_exhaustive()
    }
}
