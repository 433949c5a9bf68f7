//! Documents that nobody here wrote, and documents made to do harm.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../../../tests/peers/peer.rs"]
#[expect(dead_code, reason = "shared with tests that start peers")]
mod peer;

mod corpus;
mod fuzz;
