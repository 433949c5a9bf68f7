//! Where tools come from.
//!
//! [`builtin`], [`mcp`], [`openapi`] and [`browser`] each turn one kind of origin into a
//! [`tenon_tools::ToolSource`]; [`import`] and [`variables`] read and complete the
//! configuration of such origins. None of them knows who asks, or why.

pub mod browser;
pub mod builtin;
pub mod mcp;
pub mod openapi;

pub mod apart;
pub mod heap;
pub mod import;
pub mod text;
pub mod variables;

mod cause;
mod html;
mod logs;
mod shown;
mod spread;
mod syntax;

pub use cause::{Advice, Cause};
pub use logs::{Line, Logs};
pub use tenon_net::Network;
