//! Work on documents that takes its time: it takes turns, and is done where nobody
//! waits for the thread.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::heap;

/// How many documents are read at once by the whole process: each takes a processor and
/// ten times its length. One person has one turn, so it takes several of them who read
/// for long to let somebody else wait.
const MAX_WORK: usize = 4;

static WORK: Semaphore = Semaphore::const_new(MAX_WORK);

/// It is over when this is dropped.
pub struct Turn(#[expect(dead_code, reason = "held")] Option<OwnedSemaphorePermit>);

/// Waits for a turn: each person has some of their own, so that nobody waits for the
/// documents of somebody else.
pub async fn turn(turns: &Arc<Semaphore>) -> Turn {
    Turn(turns.clone().acquire_owned().await.ok())
}

impl Turn {
    /// The turn ends with the work, even if nobody waits for that any more. The error is
    /// a sentence.
    pub async fn work<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let place = WORK.acquire().await.ok();
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop((self, place));
            heap::release_when_quiet();
            done
        });
        done.await
            .unwrap_or_else(|_panic| Err("Tenon met a fault of its own in this document.".into()))
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}
