//! The built-in tools and MCP servers as everybody calls them: through the registry
//! and `Toolset::call`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod harness;
#[path = "../../../../tests/peers/peer.rs"]
#[expect(dead_code, reason = "shared with tests that start other peers")]
mod peer;

mod catalog;
mod conformance;
mod files;
mod flow;
mod math;
mod mcp;
mod openapi;
mod results;
mod time;
mod web;
