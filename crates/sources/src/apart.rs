//! Work on documents that takes its time: it takes turns, and is done where nobody
//! waits for the thread.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// It is over when this is dropped.
pub(crate) struct Turn(#[expect(dead_code, reason = "held")] Option<OwnedSemaphorePermit>);

/// Not everybody reads at once.
pub(crate) async fn turn(turns: &Arc<Semaphore>) -> Turn {
    Turn(turns.clone().acquire_owned().await.ok())
}

impl Turn {
    /// The turn ends with the work, even if nobody waits for that any more.
    pub(crate) async fn work<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(self);
            done
        });
        done.await
            .unwrap_or_else(|_panic| Err("Tenon met a fault of its own in this document.".into()))
    }
}
