//! The sources of tools.
//!
//! [`builtin`], [`mcp`], [`openapi`], [`skill`] and [`browser`] each implement [`tenon_tools::ToolSource`];
//! [`import`] and [`variables`] read and complete the configuration of servers.

pub mod browser;
pub mod builtin;
pub mod mcp;
pub mod openapi;
pub mod skill;

pub mod heap;
pub mod import;
pub mod parse_queue;
pub mod variables;

mod call_error;
mod call_progress;
mod call_routes;
mod call_timeouts;
mod cause;
mod fault;
mod html;
mod jitter;
mod lock;
mod logs;
mod remote_server;
mod supervisor;
mod tool_note;

pub use call_error::{RequestInputError, ServerCallError, ServerRemedy, StartupWait};
pub use call_routes::CallRoutes;
pub use call_timeouts::CallTimeouts;
pub use cause::{Advice, Cause};
pub use fault::{ServerFault, how_it_ended, public_part};
pub use logs::{Logs, ServerLogLine};
pub use remote_server::{
    REMOTE_CALL, REMOTE_LOGS, REMOTE_RESTART, REMOTE_TOOLS, RemoteServer, RemoteServerCall,
    RemoteServerTools,
};
pub use supervisor::{
    DocumentSummary, ServerStatus, Startup, StartupStep, SupervisedServer, ToolChanges,
};
pub use tenon_net::Network;
pub use tenon_text as text;
pub use tool_note::ToolNote;
