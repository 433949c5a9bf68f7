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
mod lost_answers;
mod models;
#[path = "../../../store/tests/it/postgres.rs"]
mod postgres;
mod progress;
mod resume;
mod stop;
#[expect(dead_code, reason = "the store tries more faults")]
#[path = "../../../store/tests/it/tcp_proxy.rs"]
mod tcp_proxy;
mod titles;
mod turn_ids;
mod turns;
