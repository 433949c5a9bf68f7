//! When a write that the store did not take is tried again.

use std::ops::ControlFlow;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The first delay; doubled each time.
const MIN_RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// Upper bound of the delay, so that a write is stored soon after a full disk is freed.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(8);

/// The delays between the tries of one write.
#[derive(Debug)]
pub(crate) struct StoreBackoff {
    retry_interval: Duration,
}

impl StoreBackoff {
    pub(crate) fn new() -> Self {
        Self {
            retry_interval: MIN_RETRY_INTERVAL,
        }
    }

    /// Waits until the next try. Break: there is none, because Tenon shuts down.
    pub(crate) async fn wait(&mut self, closing: &CancellationToken) -> ControlFlow<()> {
        tokio::select! {
            () = tokio::time::sleep(self.retry_interval) => {
                self.retry_interval = (self.retry_interval * 2).min(MAX_RETRY_INTERVAL);
                ControlFlow::Continue(())
            }
            () = closing.cancelled() => ControlFlow::Break(()),
        }
    }
}
