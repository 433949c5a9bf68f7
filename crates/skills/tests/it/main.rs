//! Skill packages as people write, pack and break them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod examples;
mod http;
mod packages;
mod runners;
mod sources;
