//! How long calls of a configured server may take, as the settings say now.
//!
//! A change of these alone does not restart a server, so a call that waits for one to come
//! up reads them while it waits.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// `timeoutMs` and `toolTimeoutsMs` of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallTimeouts {
    pub all: Option<Duration>,
    /// By native names of tools.
    pub by_tool: BTreeMap<String, Duration>,
}

impl CallTimeouts {
    pub fn from_millis(all: Option<u64>, by_tool: &BTreeMap<String, u64>) -> Self {
        let by_tool = by_tool.iter();
        Self {
            all: all.map(Duration::from_millis),
            by_tool: by_tool
                .map(|(tool, timeout)| (tool.clone(), Duration::from_millis(*timeout)))
                .collect(),
        }
    }

    pub fn of(&self, tool: &str) -> Option<Duration> {
        self.by_tool.get(tool).copied().or(self.all)
    }
}

/// The timeouts that hold now.
#[derive(Debug)]
pub(crate) struct CurrentTimeouts(watch::Sender<CallTimeouts>);

impl CurrentTimeouts {
    pub(crate) fn new(timeouts: CallTimeouts) -> Self {
        Self(watch::Sender::new(timeouts))
    }

    pub(crate) fn set(&self, timeouts: CallTimeouts) {
        self.0.send_replace(timeouts);
    }

    pub(crate) fn of(&self, tool: &str) -> Option<Duration> {
        self.0.borrow().of(tool)
    }

    /// Waits for a server to come up: nine tenths of what the call has, so that it can still
    /// say why. None: the time is up, by the timeouts of that moment.
    pub(crate) async fn wait<T>(
        &self,
        tool: &str,
        default: Duration,
        ready: impl Future<Output = T>,
    ) -> Option<T> {
        let begun = Instant::now();
        let mut timeouts = self.0.subscribe();
        let mut ready = std::pin::pin!(ready);
        loop {
            let timeout = timeouts.borrow_and_update().of(tool).unwrap_or(default);
            let waiting = timeout_at(begun + timeout * 9 / 10, ready.as_mut());
            tokio::select! {
                done = waiting => return done.ok(),
                // The sender is `self`, so this is never an error.
                _ = timeouts.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeouts(seconds: u64) -> CallTimeouts {
        CallTimeouts {
            all: Some(Duration::from_secs(seconds)),
            by_tool: BTreeMap::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_changed_timeout_reaches_a_call_that_waits() {
        let current = CurrentTimeouts::new(timeouts(10));
        let begun = Instant::now();
        let wait = |after: u64, change: u64| {
            let current = &current;
            async move {
                let ready = tokio::time::sleep(Duration::from_secs(100));
                let changed = async {
                    tokio::time::sleep(Duration::from_secs(after)).await;
                    current.set(timeouts(change));
                };
                let default = Duration::from_secs(60);
                let (ready, ()) = tokio::join!(current.wait("x", default, ready), changed);
                ready.is_some()
            }
        };
        assert!(wait(5, 200).await, "longer: it comes up in time");
        assert_eq!(begun.elapsed().as_secs(), 100);
        let begun = Instant::now();
        assert!(!wait(5, 20).await, "shorter: it gives up");
        assert_eq!(begun.elapsed().as_secs(), 18);
        let begun = Instant::now();
        assert!(!wait(15, 10).await, "it has waited too long already");
        assert_eq!(begun.elapsed().as_secs(), 15);
    }
}
