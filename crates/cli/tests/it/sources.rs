//! Real MCP servers at a real Tenon: added, used, changed, restarted, removed.

mod files;
pub mod fixtures;
mod large;
mod life;
mod news;
mod openapi;
mod personal;
mod rights;
mod secrets;
mod shell;
mod slow;
mod trust;
