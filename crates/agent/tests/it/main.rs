//! Turns, with a scripted model and tools that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod addresses;
mod asking;
mod branches;
mod crash;
mod feed;
mod form_tool;
mod forms;
mod harness;
mod models;
mod progress;
mod resume;
mod stop;
mod titles;
mod turn_ids;
mod turns;
