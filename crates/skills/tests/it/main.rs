//! Skill packages as people write, pack and break them.

mod examples;
mod http;
mod packages;
mod runners;
mod sources;
