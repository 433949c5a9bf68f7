//! Turns, with a scripted model and tools that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod addresses;
mod asking;
mod branches;
mod clerk;
mod crash;
mod feed;
mod forms;
mod models;
mod progress;
mod resume;
mod stop;
mod titles;
mod turn_ids;
mod turns;
mod world;
