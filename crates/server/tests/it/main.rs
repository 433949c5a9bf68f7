//! The real server on a port of its own, and the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod api;
mod binary;
mod guard;
mod models;
#[expect(dead_code, reason = "other crates start more of them")]
#[path = "../../../../tests/peers/peer.rs"]
mod peer;
mod server;
mod socket;
