//! MCP servers as everybody calls them: real ones, through the registry.

pub mod desk;
pub mod peers;
mod people;

mod addresses;
mod odd;
mod orphans;
mod real;
mod rounds;
mod site;

mod ward;
mod watched;

mod bad;
mod deadline;
mod greedy;
mod remote;
mod restart;
mod sleep;
mod startup;
