//! Providers, as the agent meets them: a request in, a stream of deltas out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod constrained;
mod fake;
mod faults;
mod fuzz;
mod golden;
mod history;
mod peers;
mod requests;
mod text_calls;
