//! Who is there while a call runs, and how long it may still take.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{FormAnswer, FormWants};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Hears how far a call is, and can be asked for what it lacks.
#[async_trait]
pub trait Attendant: Send + Sync + fmt::Debug {
    fn progress(&self, progress: Progress);

    /// Waits for a person, within a deadline of its own. What nobody can be
    /// asked is declined at once.
    async fn ask(&self, message: String, wants: FormWants) -> FormAnswer;
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// The attendant of calls nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

#[async_trait]
impl Attendant for Nobody {
    fn progress(&self, _progress: Progress) {}

    async fn ask(&self, _message: String, _wants: FormWants) -> FormAnswer {
        FormAnswer::Decline
    }
}

/// The clock of one call: a sign of life starts it anew, and it stands still
/// while a person is asked. Each call has one of its own.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<Clock>);

#[derive(Debug, Default)]
struct Clock {
    beat: Mutex<Beat>,
    /// Somebody has answered: the clock goes on.
    goes_on: Notify,
}

#[derive(Debug)]
struct Beat {
    last: Instant,
    /// How many questions to a person are open, and since when there is one.
    held: usize,
    held_since: Instant,
    /// How long people were asked before that.
    held_for: Duration,
}

/// The clock stands still as long as this is kept.
#[must_use = "the clock goes on when this is dropped"]
#[derive(Debug)]
pub struct Held(Pulse);

/// Why a call's time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUp {
    /// It gave no sign of life for too long.
    Silent,
    /// However many it gave, it took too long.
    TooLong,
}

impl Pulse {
    /// The call is alive.
    pub fn beat(&self) {
        self.with(|beat| beat.last = Instant::now());
    }

    pub fn hold(&self) -> Held {
        self.with(|beat| {
            if beat.held == 0 {
                beat.held_since = Instant::now();
            }
            beat.held += 1;
        });
        Held(self.clone())
    }

    /// Comes back when the call has shown no sign of life for `silence`, or has
    /// taken `longest` in all. A person's time is not the tool's: neither ends
    /// while one is asked, and neither counts it.
    pub(crate) async fn time_up(&self, silence: Duration, longest: Duration) -> TimeUp {
        self.beat();
        let ends = Instant::now() + longest;
        loop {
            let due = self.with(|beat| match beat.held {
                0 => Some((beat.last + silence, ends + beat.held_for)),
                _ => None,
            });
            let Some((silent, too_long)) = due else {
                self.0.goes_on.notified().await;
                continue;
            };
            let now = Instant::now();
            if now >= too_long {
                return TimeUp::TooLong;
            }
            if now >= silent {
                return TimeUp::Silent;
            }
            tokio::time::sleep_until(silent.min(too_long)).await;
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Beat) -> T) -> T {
        work(&mut self.0.beat.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Beat {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            last: now,
            held: 0,
            held_since: now,
            held_for: Duration::ZERO,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let pulse = &self.0;
        pulse.with(|beat| {
            let now = Instant::now();
            beat.held -= 1;
            if beat.held == 0 {
                beat.held_for += now - beat.held_since;
                beat.last = now;
            }
        });
        pulse.0.goes_on.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(150);
    const LATER: Duration = Duration::from_secs(20);

    /// How a clock runs out, and after how long.
    async fn ran_out(pulse: &Pulse, silence: Duration, longest: Duration) -> (TimeUp, Duration) {
        let started = Instant::now();
        (pulse.time_up(silence, longest).await, started.elapsed())
    }

    #[tokio::test]
    async fn a_call_that_is_silent_is_silent_from_its_beginning() {
        let pulse = Pulse::default();
        tokio::time::sleep(SOON * 2).await;
        let (why, took) = ran_out(&pulse, SOON, LATER).await;
        assert_eq!(why, TimeUp::Silent);
        assert!(took >= SOON, "{took:?}");
    }

    #[tokio::test]
    async fn a_sign_of_life_starts_the_clock_anew() {
        let pulse = Pulse::default();
        let living = async {
            for _ in 0..30 {
                tokio::time::sleep(SOON / 15).await;
                pulse.beat();
            }
        };
        let ((why, took), ()) = tokio::join!(ran_out(&pulse, SOON, LATER), living);
        assert_eq!(why, TimeUp::Silent);
        assert!(took >= SOON * 3, "{took:?}");
    }

    #[tokio::test]
    async fn no_sign_of_life_makes_a_call_longer_than_the_longest() {
        let pulse = Pulse::default();
        let living = async {
            loop {
                tokio::time::sleep(SOON / 15).await;
                pulse.beat();
            }
        };
        let ran_out = tokio::select! {
            ran_out = ran_out(&pulse, SOON, SOON * 2) => ran_out,
            () = living => unreachable!("it lives for ever"),
        };
        assert_eq!(ran_out.0, TimeUp::TooLong);
        assert!(ran_out.1 >= SOON * 2, "{ran_out:?}");
    }

    #[tokio::test]
    async fn the_clock_stands_still_while_anybody_is_asked() {
        for (silence, longest) in [(SOON, LATER), (LATER, SOON)] {
            let pulse = Pulse::default();
            let asking = async {
                let first = pulse.hold();
                tokio::time::sleep(SOON * 2).await;
                let second = pulse.hold();
                drop(first);
                tokio::time::sleep(SOON * 2).await;
                drop(second);
                Instant::now()
            };
            let up = async {
                pulse.time_up(silence, longest).await;
                Instant::now()
            };
            let (up, answered) = tokio::join!(up, asking);
            // All of the time is the tool's again; of `longest` it had used none.
            assert!(up >= answered + SOON / 2, "{silence:?} {longest:?}");
        }
    }

    #[tokio::test]
    async fn what_was_asked_in_between_is_not_counted_either() {
        let pulse = Pulse::default();
        let asking = async {
            tokio::time::sleep(SOON).await;
            let held = pulse.hold();
            tokio::time::sleep(SOON * 3).await;
            drop(held);
        };
        let ((why, took), ()) = tokio::join!(ran_out(&pulse, LATER, SOON * 5), asking);
        assert_eq!(why, TimeUp::TooLong);
        assert!(took >= SOON * 8, "{took:?}");
    }
}
