//! Real programs behind the walls, on every kind of machine that this one can be.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod escapes;
mod lifetime;
mod limits;
mod machine;
mod programs;
