//! Checks that take their time: few at once, and where nothing else waits for the thread.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::thread;

use tenon_domain::{ToolError, UserId};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::ValidationContext;
use crate::call_error::CallError;

/// Deep schemas and deep inputs are followed on the stack. Only what is used of it is memory.
pub(super) const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Half of the cores: the others answer everybody else.
static CHECKS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new((cores / 2).max(1)))
});

/// One for each user who waits: whoever has many checks to do waits for their own.
static USERS: LazyLock<Mutex<HashMap<UserId, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

fn turns_of(user: &UserId) -> Arc<Semaphore> {
    let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(turns) = users.get(user).and_then(Weak::upgrade) {
        return turns;
    }
    users.retain(|_, turns| turns.strong_count() > 0);
    let turns = Arc::new(Semaphore::new(1));
    users.insert(user.clone(), Arc::downgrade(&turns));
    turns
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobError {
    Cancelled,
    /// The work panicked, or there was no thread for it.
    Failed,
}

/// Does some work on a thread of its own. The token it gets is cancelled with the call, and when
/// nobody waits for the result any more.
pub(super) async fn run<T: Send + 'static>(
    ValidationContext { user, cancel }: ValidationContext<'_>,
    work: impl FnOnce(&CancellationToken) -> T + Send + 'static,
) -> Result<T, JobError> {
    let stop = cancel.child_token();
    let _stops_when_dropped = stop.clone().drop_guard();
    let done = async {
        let turn = turns_of(user).acquire_owned().await;
        let permit = CHECKS.clone().acquire_owned().await;
        let (send, receive) = oneshot::channel();
        let stopped = stop.clone();
        thread::Builder::new()
            .name("check".into())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let _ = send.send(work(&stopped));
                drop((permit, turn));
            })
            .map_err(|error| {
                tracing::error!(%error, "no thread for a check of a tool's input");
                JobError::Failed
            })?;
        receive.await.map_err(|_panicked| JobError::Failed)
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(JobError::Cancelled),
        done = done => done,
    }
}

impl From<JobError> for ToolError {
    fn from(interrupted: JobError) -> Self {
        match interrupted {
            JobError::Cancelled => Self::cancelled(),
            JobError::Failed => CallError::InputUnchecked.into(),
        }
    }
}
