//! Backoff: when a server that failed is started again.
//!
//! The first time at once: a killed server is back before anybody notices. Then
//! ever later, so that one that cannot run costs nothing: a program that keeps ending
//! for the same reason is tried once an hour in the end. Each wait is spread a little
//! (jitter), so that servers that failed together are not started together. The document of an
//! OpenAPI server is fetched again after delays that double.

use std::time::Duration;

use tenon_domain::ErrorDetail;
use tokio::time::Instant;

use crate::fault::public_part;
use crate::jitter::spread;

const STEPS: [Duration; 14] = [
    Duration::ZERO,
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
    MINUTE,
    Duration::from_secs(2 * 60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(15 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(60 * 60),
];

/// Where only a person can help, it is looked this often whether one did. An address is
/// tried as often, too: a connection costs next to nothing.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// Upper bound of the step while each failure has a different reason.
const MINUTE_STEP: usize = 8;

/// After this many failed starts it counts as failed: calls no longer wait for it.
const MAX_FAILURES: usize = 3;

/// However it ended, one that was up this long is started again as if for the first time.
const LONG_UPTIME: Duration = Duration::from_secs(10 * 60);

/// A failed start that took this long is not worth waiting for twice.
const LONG_START: Duration = Duration::from_secs(5);

/// The failures of late.
#[derive(Debug)]
pub(crate) struct Backoff {
    delays: Delays,
    /// Uptime after which a run counts as a success.
    steady: Duration,
    /// Why it last failed, without what differs each time.
    reason: String,
    /// In a row, whether it had been up or not.
    attempts: usize,
    /// Consecutive failures during start-up, that is, without an uptime in between.
    failures: usize,
    failing_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
enum Delays {
    /// Delays from `STEPS`.
    Steps {
        longest: Duration,
    },
    Doubling {
        first: Duration,
        longest: Duration,
    },
}

impl Delays {
    /// The delay after this many earlier failures.
    fn after(self, attempts: usize) -> Duration {
        match self {
            Self::Steps { longest } => STEPS[attempts.min(STEPS.len() - 1)].min(longest),
            Self::Doubling { first, longest } => {
                let times = 2_u32.saturating_pow(u32::try_from(attempts).unwrap_or(u32::MAX));
                first.saturating_mul(times).min(longest)
            }
        }
    }
}

/// When to retry after a failure, and whether calls wait for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// Calls may wait for it.
    Again(Duration),
    /// Retries later, but calls fail at once instead of waiting.
    GiveUp(Duration),
}

impl Backoff {
    pub(crate) fn of_program(steady: Duration) -> Self {
        let longest = STEPS[STEPS.len() - 1];
        Self::new(Delays::Steps { longest }, steady)
    }

    pub(crate) fn of_address(steady: Duration) -> Self {
        Self::new(Delays::Steps { longest: MINUTE }, steady)
    }

    pub(crate) fn doubling(first: Duration, longest: Duration) -> Self {
        Self::new(Delays::Doubling { first, longest }, Duration::ZERO)
    }

    fn new(delays: Delays, steady: Duration) -> Self {
        Self {
            delays,
            steady,
            reason: String::new(),
            attempts: 0,
            failures: 0,
            failing_since: None,
        }
    }

    /// Forgets all failures.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.delays, self.steady);
    }

    /// Notes that a start attempt begins.
    pub(crate) fn begin(&mut self) {
        self.failing_since.get_or_insert_with(Instant::now);
    }

    /// Notes that the start succeeded and the server is usable.
    pub(crate) fn record_success(&mut self) {
        self.failures = 0;
        self.failing_since = None;
    }

    /// Notes that a run ended after this uptime.
    pub(crate) fn ended_after(&mut self, up: Duration, why: &ErrorDetail) -> RetryDecision {
        if up >= LONG_UPTIME || up >= self.steady && !self.is_same(why) {
            self.reset();
        }
        RetryDecision::Again(self.delay(why))
    }

    /// A start failed.
    pub(crate) fn failed(&mut self, why: &ErrorDetail) -> RetryDecision {
        self.failures += 1;
        let long = self
            .failing_since
            .is_some_and(|at| at.elapsed() >= LONG_START);
        if self.failures < MAX_FAILURES && !long {
            return RetryDecision::Again(self.delay(why));
        }
        // A server that counts as failed is not restarted quickly, because no calls wait for it.
        self.attempts = self.attempts.max(MAX_FAILURES);
        RetryDecision::GiveUp(self.delay(why))
    }

    /// Until it is reset, it is tried as seldom as can be.
    pub(crate) fn longest_delay(&mut self, why: &ErrorDetail) -> Duration {
        self.attempts = self.attempts.max(STEPS.len());
        self.delay(why)
    }

    fn is_same(&self, why: &ErrorDetail) -> bool {
        reason(why) == self.reason
    }

    /// How long to wait after this failure.
    pub(crate) fn delay(&mut self, why: &ErrorDetail) -> Duration {
        if !self.is_same(why) {
            self.attempts = self.attempts.min(MINUTE_STEP);
            self.reason = reason(why);
        }
        let wait = self.delays.after(self.attempts);
        self.attempts += 1;
        spread(wait)
    }
}

/// How it ended, without what it wrote and without numbers: of times, processes and attempts.
fn reason(why: &ErrorDetail) -> String {
    let how = public_part(why).message;
    how.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::ServerFault;
    use crate::jitter::jitter;

    const STEADY: Duration = Duration::from_secs(30);

    fn ended(command: &str, wrote: &str) -> ErrorDetail {
        let (command, advice, wrote) = (command.into(), "".into(), wrote.into());
        let fault = ServerFault::Ended {
            command,
            advice,
            wrote,
        };
        fault.into()
    }

    fn why(message: &str) -> ErrorDetail {
        ErrorDetail::other(message)
    }

    fn check(actual: RetryDecision, expected: RetryDecision) {
        let near = |actual: Duration, expected: Duration| {
            actual >= expected * 9 / 10 && actual <= expected * 11 / 10
        };
        match (actual, expected) {
            (RetryDecision::Again(a), RetryDecision::Again(b))
            | (RetryDecision::GiveUp(a), RetryDecision::GiveUp(b)) => {
                assert!(near(a, b), "{actual:?} is not about {expected:?}");
            }
            _ => panic!("{actual:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn the_first_fall_is_answered_at_once_and_later_ones_ever_later() {
        let mut backoff = Backoff::of_program(STEADY);
        let hour = STEPS[STEPS.len() - 1];
        for (number, expected) in STEPS.into_iter().chain([hour, hour]).enumerate() {
            let why = why(&format!("process {number} exited with code 1"));
            check(
                backoff.ended_after(Duration::ZERO, &why),
                RetryDecision::Again(expected),
            );
        }
    }

    #[test]
    fn one_that_fails_otherwise_each_time_is_tried_every_minute_and_so_is_an_address() {
        let (mut other, mut address) = (Backoff::of_program(STEADY), Backoff::of_address(STEADY));
        for number in 0..20 {
            other.ended_after(
                Duration::ZERO,
                &why(["lacks a key", "lacks a file"][number % 2]),
            );
            address.ended_after(Duration::ZERO, &why("refused"));
        }
        check(
            other.ended_after(Duration::ZERO, &why("lacks a disk")),
            RetryDecision::Again(MINUTE),
        );
        check(
            address.ended_after(Duration::ZERO, &why("refused")),
            RetryDecision::Again(MINUTE),
        );
    }

    #[test]
    fn one_that_worked_for_a_while_is_started_at_once_unless_it_ends_alike_each_time() {
        let mut backoff = Backoff::of_program(STEADY);
        check(
            backoff.ended_after(STEADY, &ended("a", "")),
            RetryDecision::Again(STEPS[0]),
        );
        check(
            backoff.ended_after(STEADY, &ended("a", "1")),
            RetryDecision::Again(STEPS[1]),
        );
        check(
            backoff.ended_after(STEADY, &why("b")),
            RetryDecision::Again(STEPS[0]),
        );
        check(
            backoff.ended_after(LONG_UPTIME, &why("b")),
            RetryDecision::Again(STEPS[0]),
        );
    }

    #[test]
    fn what_never_comes_up_is_given_up_and_tried_slowly() {
        let mut backoff = Backoff::of_program(STEADY);
        check(
            backoff.failed(&why("it ended")),
            RetryDecision::Again(STEPS[0]),
        );
        check(
            backoff.failed(&why("it ended")),
            RetryDecision::Again(STEPS[1]),
        );
        check(
            backoff.failed(&why("it ended")),
            RetryDecision::GiveUp(STEPS[3]),
        );
        check(
            backoff.failed(&why("it ended")),
            RetryDecision::GiveUp(STEPS[4]),
        );
        backoff.record_success();
        check(
            backoff.ended_after(Duration::ZERO, &why("it ended")),
            RetryDecision::Again(STEPS[5]),
        );
        check(
            backoff.failed(&why("it ended")),
            RetryDecision::Again(STEPS[6]),
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_that_hung_is_given_up_at_once() {
        let mut backoff = Backoff::of_program(STEADY);
        backoff.begin();
        tokio::time::advance(LONG_START).await;
        check(
            backoff.failed(&why("it ended")),
            RetryDecision::GiveUp(STEPS[3]),
        );
    }

    #[test]
    fn documents_are_fetched_ever_later() {
        let (first, longest) = (Duration::from_secs(1), MINUTE);
        let delays = Delays::Doubling { first, longest };
        let waits: Vec<u64> = (0..9).map(|n| delays.after(n).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(delays.after(usize::MAX), MINUTE);
        let mut backoff = Backoff::doubling(first, longest);
        for wait in waits {
            let delay = RetryDecision::Again(
                backoff.delay(&why(["it ended", "refused"][wait as usize % 2])),
            );
            check(delay, RetryDecision::Again(Duration::from_secs(wait)));
        }
    }

    #[test]
    fn waits_are_spread_by_a_tenth() {
        let wait = Duration::from_secs(10);
        assert_eq!(jitter(wait, 0), Duration::from_secs(9));
        assert_eq!(jitter(wait, 500), wait);
        assert!(jitter(wait, 999) < Duration::from_secs(11));
        assert_eq!(jitter(Duration::ZERO, 999), Duration::ZERO);
    }
}
