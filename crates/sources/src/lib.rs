//! Where tools come from.
//!
//! [`builtin`] and [`mcp`] each turn one kind of origin into a
//! [`tenon_tools::ToolSource`]; [`import`] and [`variables`] read and complete the
//! configuration of such origins. None of them knows who asks, or why.

pub mod builtin;
pub mod mcp;

pub mod import;
pub mod variables;

mod network;
mod text;
