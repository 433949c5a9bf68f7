//! A queue for parsing documents: on blocking threads, and bounded per user and per process.

use std::sync::Arc;

use tenon_domain::ErrorDetail;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fault::ServerFault;
use crate::heap;

/// How many documents the whole process parses at once: each takes a processor and ten times
/// its length in memory. A user has one slot, so only several users who all parse for long can
/// make somebody else wait.
const MAX_PARSERS: usize = 4;

static PARSERS: Semaphore = Semaphore::const_new(MAX_PARSERS);

/// The right to parse one document; the slot is free again when this is dropped.
pub struct ParseSlot(#[expect(dead_code, reason = "held")] Option<OwnedSemaphorePermit>);

/// The parser panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Tenon had an internal error while reading this document.")]
pub struct ParserPanic;

impl From<ParserPanic> for ErrorDetail {
    fn from(_panic: ParserPanic) -> Self {
        ServerFault::Internal.into()
    }
}

/// Waits for a slot. Each user has slots of their own, so that nobody waits for the documents
/// of somebody else.
pub async fn acquire(slots: &Arc<Semaphore>) -> ParseSlot {
    ParseSlot(slots.clone().acquire_owned().await.ok())
}

impl ParseSlot {
    /// Runs `parse` on a blocking thread. It keeps the slot until it ends, even if the future is
    /// dropped.
    pub async fn run<T, E>(
        self,
        parse: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<ParserPanic> + Send + 'static,
    {
        let permit = PARSERS.acquire().await.ok();
        let parsed = tokio::task::spawn_blocking(move || {
            let parsed = parse();
            drop((self, permit));
            heap::release_when_quiet();
            parsed
        });
        parsed
            .await
            .unwrap_or_else(|_panic| Err(ParserPanic.into()))
    }
}

impl std::fmt::Debug for ParseSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParseSlot").finish_non_exhaustive()
    }
}
