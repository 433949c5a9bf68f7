//! Turns, with a scripted model and tools that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod crash;
mod feed;
mod models;
mod stop;
mod turns;
mod world;
