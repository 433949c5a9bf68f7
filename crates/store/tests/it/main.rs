//! One life of a user, on both engines.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod backup;
mod chats;
mod decisions;
mod experts;
mod faults;
mod hot_path;
mod last_release;
mod leases;
mod models;
mod other_processes;
mod people;
mod postgres;
mod skills;
mod sources;
mod story;
mod tcp_proxy;
mod trace;
