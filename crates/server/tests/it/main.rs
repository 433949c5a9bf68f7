//! The real server on a port of its own, and the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod api;
mod binary;
mod guard;
mod server;
mod socket;
