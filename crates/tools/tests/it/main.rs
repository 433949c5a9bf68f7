//! The road of a call, and a registry that changes while it is used.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod call_client;
mod embeddings;
mod hub;
mod offer;
mod policy;
mod registry;
mod road;
mod search;
