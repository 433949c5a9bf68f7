//! MCP servers as sources of tools.
//!
//! [`McpServer`] is what the registry holds: it outlives every connection. Its
//! `supervisor` keeps one [`tenon_mcp::McpConnection`] up, `lister` asks that for its
//! tools, and a call goes over whichever connection there is. What the protocol has is
//! mapped to the domain in `content`, `tool_list`, `call_handler` and `explain`.

mod server;
mod settings;

mod call_activity;
mod context_cache;
mod lister;
mod offered_tools;
mod shared;
mod startup;
mod status;
mod supervisor;
mod timeouts;

mod call_handler;
mod content;
mod context;
mod explain;
mod header;
mod login_reason;
mod tool_list;

pub(crate) use content::read as read_result;
pub(crate) use tool_list::parse as parse_tools;

pub use crate::variables::{FillError, VariableResolver};
pub use header::{InvalidHeader, check_header};
pub use login_reason::LoginReason;
pub use server::McpServer;
pub use settings::{McpSettings, StartMode};
pub use tenon_mcp::{McpServerInfo, TokenProvider, oauth};
pub use timeouts::ServerTimeouts;
