//! Turns, with a scripted model and tools that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod asking;
mod branches;
mod crash;
mod feed;
mod models;
mod resume;
mod stop;
mod titles;
mod turns;
mod world;
