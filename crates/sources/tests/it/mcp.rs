//! MCP servers as everybody calls them: real ones, through the registry.

pub mod harness;
pub mod peers;
mod recording_client;

mod addresses;
mod odd;
mod orphans;
mod raw_http_server;
mod real;
mod rounds;

mod bad_server;
mod watched;

mod bad;
mod deadline;
mod greedy;
mod remote;
mod restart;
mod sleep;
mod startup;
