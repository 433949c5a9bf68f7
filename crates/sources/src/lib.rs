//! Where tools come from.
//!
//! Every module here turns one kind of origin into a
//! [`tenon_tools::ToolSource`]. None of them knows who asks, or why.

pub mod builtin;
pub mod import;
pub mod mcp;
pub mod variables;

mod network;
