//! Which calls run or wait, and since when none does.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// A call is counted before it looks whether the server is awake, and a server
/// says that it sleeps before it looks whether a call is counted: one of the two sees the other.
#[derive(Debug)]
pub(super) struct CallActivity {
    calls: AtomicUsize,
    begun: Instant,
    /// When the last call ended, in milliseconds after the beginning.
    last: AtomicU64,
    wanted: Notify,
}

/// A call that runs or waits. It ends when this is dropped.
#[must_use = "the call counts as ended when this is dropped"]
#[derive(Debug)]
pub(super) struct CallGuard<'a>(&'a CallActivity);

impl CallActivity {
    pub(super) fn begin(&self) -> CallGuard<'_> {
        self.calls.fetch_add(1, SeqCst);
        CallGuard(self)
    }

    /// A counted call cannot go on without the server.
    pub(super) fn request_start(&self) {
        self.wanted.notify_one();
    }

    pub(super) fn is_needed(&self) -> bool {
        self.calls.load(SeqCst) > 0
    }

    /// Comes back when there is a call.
    pub(super) async fn wait_for_call(&self) {
        while !self.is_needed() {
            self.wanted.notified().await;
        }
    }

    /// Resets the idle time, so that a server that has just started does not count as idle.
    pub(super) fn touch(&self) {
        let last = self.begun.elapsed().as_millis();
        self.last
            .store(u64::try_from(last).unwrap_or(u64::MAX), SeqCst);
    }

    /// Comes back when there was no call for this long.
    pub(super) async fn idle(&self, long: Duration) {
        loop {
            let last = self.begun + Duration::from_millis(self.last.load(SeqCst));
            let (now, due) = (Instant::now(), last + long);
            if self.is_needed() {
                tokio::time::sleep(long).await;
            } else if due <= now {
                return;
            } else {
                // Milliseconds are cut: one more, so that it is past then.
                tokio::time::sleep_until(due + Duration::from_millis(1)).await;
            }
        }
    }
}

impl Default for CallActivity {
    fn default() -> Self {
        Self {
            calls: AtomicUsize::new(0),
            begun: Instant::now(),
            last: AtomicU64::new(0),
            wanted: Notify::new(),
        }
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.calls.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn it_is_idle_a_while_after_the_last_call() {
        let activity = CallActivity::default();
        let begun = Instant::now();
        let call = async {
            let _busy = activity.begin();
            tokio::time::sleep(LONG * 3 / 2).await;
        };
        tokio::join!(activity.idle(LONG), call);
        let took = begun.elapsed();
        assert!(took >= LONG * 5 / 2 && took < LONG * 7 / 2, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wish_of_long_ago_wakes_nobody() {
        let activity = CallActivity::default();
        activity.request_start();
        tokio::time::timeout(LONG, activity.wait_for_call())
            .await
            .unwrap_err();
        let _busy = activity.begin();
        activity.request_start();
        activity.wait_for_call().await;
    }
}
