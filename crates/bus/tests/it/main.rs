//! Servers on one bus, with Debian's Redis.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bus;
#[expect(dead_code, reason = "shared with the tests of the program")]
mod redis;
