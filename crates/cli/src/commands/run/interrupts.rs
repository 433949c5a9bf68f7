//! Ctrl-C: the first one stops what runs and keeps what it did so far, the second one ends at once.

use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone)]
pub(super) struct Interrupts {
    pub(super) stop: CancellationToken,
    pub(super) quit: CancellationToken,
}

impl Interrupts {
    /// Listened to without a gap: a signal that nobody waits for is lost.
    pub(super) fn listen() -> Self {
        let interrupts = Self {
            stop: CancellationToken::new(),
            quit: CancellationToken::new(),
        };
        let signals = interrupts.clone();
        tokio::spawn(async move {
            for token in [signals.stop, signals.quit] {
                if tokio::signal::ctrl_c().await.is_err() {
                    return;
                }
                token.cancel();
            }
        });
        interrupts
    }
}
