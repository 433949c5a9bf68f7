//! The timeouts of one call: idle and total.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Measures one call against its timeouts. Progress resets the idle timeout; both stand
/// still while a person is asked. Each call has its own.
#[derive(Debug, Clone, Default)]
pub struct CallTimer(Arc<TimerCell>);

#[derive(Debug, Default)]
struct TimerCell {
    state: Mutex<TimerState>,
    resumed: Notify,
}

#[derive(Debug)]
struct TimerState {
    last_reset: Instant,
    /// How many pauses are open, and since when there is one.
    pauses: usize,
    paused_since: Instant,
    /// The total length of all earlier pauses.
    paused_for: Duration,
}

/// A pause of a [`CallTimer`].
#[must_use = "the timer goes on when this is dropped"]
#[derive(Debug)]
pub struct TimerPause(CallTimer);

/// Which timeout has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallTimeout {
    Idle,
    Total,
}

impl CallTimer {
    /// Restarts the idle timeout.
    pub fn reset(&self) {
        self.with(|state| state.last_reset = Instant::now());
    }

    pub fn pause(&self) -> TimerPause {
        self.with(|state| {
            if state.pauses == 0 {
                state.paused_since = Instant::now();
            }
            state.pauses += 1;
        });
        TimerPause(self.clone())
    }

    /// Resolves when no progress came for `idle`, or after `total`. Pauses count towards neither.
    pub(crate) async fn expired(&self, idle: Duration, total: Duration) -> CallTimeout {
        self.reset();
        let total_ends = Instant::now() + total;
        loop {
            let due = self.with(|state| match state.pauses {
                0 => Some((state.last_reset + idle, total_ends + state.paused_for)),
                _ => None,
            });
            let Some((idle_ends, total_ends)) = due else {
                self.0.resumed.notified().await;
                continue;
            };
            let now = Instant::now();
            if now >= total_ends {
                return CallTimeout::Total;
            }
            if now >= idle_ends {
                return CallTimeout::Idle;
            }
            tokio::time::sleep_until(idle_ends.min(total_ends)).await;
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut TimerState) -> T) -> T {
        work(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for TimerState {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            last_reset: now,
            pauses: 0,
            paused_since: now,
            paused_for: Duration::ZERO,
        }
    }
}

impl Drop for TimerPause {
    fn drop(&mut self) {
        let timer = &self.0;
        timer.with(|state| {
            let now = Instant::now();
            state.pauses -= 1;
            if state.pauses == 0 {
                state.paused_for += now - state.paused_since;
                state.last_reset = now;
            }
        });
        timer.0.resumed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(150);
    const LATER: Duration = Duration::from_secs(20);

    /// How a timer expires, and after how long.
    async fn ran_out(
        timer: &CallTimer,
        idle: Duration,
        total: Duration,
    ) -> (CallTimeout, Duration) {
        let started = Instant::now();
        (timer.expired(idle, total).await, started.elapsed())
    }

    #[tokio::test]
    async fn the_idle_timeout_begins_with_the_wait() {
        let timer = CallTimer::default();
        tokio::time::sleep(SOON * 2).await;
        let (why, took) = ran_out(&timer, SOON, LATER).await;
        assert_eq!(why, CallTimeout::Idle);
        assert!(took >= SOON, "{took:?}");
    }

    #[tokio::test]
    async fn a_reset_restarts_the_idle_timeout() {
        let timer = CallTimer::default();
        let living = async {
            for _ in 0..30 {
                tokio::time::sleep(SOON / 15).await;
                timer.reset();
            }
        };
        let ((why, took), ()) = tokio::join!(ran_out(&timer, SOON, LATER), living);
        assert_eq!(why, CallTimeout::Idle);
        assert!(took >= SOON * 3, "{took:?}");
    }

    #[tokio::test]
    async fn no_reset_extends_the_total_timeout() {
        let timer = CallTimer::default();
        let living = async {
            loop {
                tokio::time::sleep(SOON / 15).await;
                timer.reset();
            }
        };
        let ran_out = tokio::select! {
            ran_out = ran_out(&timer, SOON, SOON * 2) => ran_out,
            () = living => unreachable!("it never ends"),
        };
        assert_eq!(ran_out.0, CallTimeout::Total);
        assert!(ran_out.1 >= SOON * 2, "{ran_out:?}");
    }

    #[tokio::test]
    async fn both_timeouts_stand_still_while_there_is_a_pause() {
        for (idle, total) in [(SOON, LATER), (LATER, SOON)] {
            let timer = CallTimer::default();
            let asking = async {
                let first = timer.pause();
                tokio::time::sleep(SOON * 2).await;
                let second = timer.pause();
                drop(first);
                tokio::time::sleep(SOON * 2).await;
                drop(second);
                Instant::now()
            };
            let up = async {
                timer.expired(idle, total).await;
                Instant::now()
            };
            let (up, answered) = tokio::join!(up, asking);
            // The whole idle timeout runs again; of `total` nothing was used.
            assert!(up >= answered + SOON / 2, "{idle:?} {total:?}");
        }
    }

    #[tokio::test]
    async fn a_pause_in_between_does_not_count() {
        let timer = CallTimer::default();
        let asking = async {
            tokio::time::sleep(SOON).await;
            let pause = timer.pause();
            tokio::time::sleep(SOON * 3).await;
            drop(pause);
        };
        let ((why, took), ()) = tokio::join!(ran_out(&timer, LATER, SOON * 5), asking);
        assert_eq!(why, CallTimeout::Total);
        assert!(took >= SOON * 8, "{took:?}");
    }
}
