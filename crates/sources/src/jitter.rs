//! Jitter: waits that do not end together, though they began together.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Between nine and eleven tenths of it.
pub(crate) fn jitter(wait: Duration, random: u64) -> Duration {
    let part = (random % 1000) as u32;
    wait * 9 / 10 + wait / 5 * part / 1000
}

/// [`jitter`] with a fresh random number.
pub(crate) fn spread(wait: Duration) -> Duration {
    jitter(wait, RandomState::new().hash_one(0))
}
