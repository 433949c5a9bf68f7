//! Both halves of the Model Context Protocol, over stdio, legacy SSE and Streamable HTTP, in every
//! protocol version, with OAuth. The server's half is [`server`]; everything else is the client's.
//!
//! [`McpConnection`] is one connection, from the first request to the last. The way of
//! a call over it: `call` builds the requests, `session` sends them over whatever
//! `transport` there is, `pending` hands the response to whoever waits for it, and
//! `content` reads it. See README.md beside this crate.
//!
//! Whatever the other side sends is untrusted: every message, list, log line and wait is bounded,
//! and one bad tool or an unknown kind of content costs only itself.

mod connection;

mod call;
mod content;
mod elicitation;
mod entry;
mod handler;
mod listing;
mod tools;

mod negotiate;
mod peer;
mod pending;
mod request_span;
mod request_target;
mod session;
mod session_log;
mod subscription;

mod error;
mod jsonrpc;
pub mod message;

mod process;
mod transport;

pub mod oauth;
pub mod server;

pub use connection::{ConnectOptions, McpConnection, TransportConfig};
pub use content::{CallToolResult, EmbeddedResource, McpContentBlock, ResourceLink};
pub use entry::{EntryKind, ListEntry, ListVersions};
pub use error::{ConnectionError, Error, McpHeaderError, ProtocolError, ServerOutput, StartError};
pub use handler::{
    CallHandler, Elicitation, ElicitationAnswer, ElicitationMode, HttpClient, NoHandler,
    ProgressNotification, TokenProvider,
};
pub use jsonrpc::RpcError;
pub use peer::{ClientCapabilities, ClientInfo, McpServerInfo, ProtocolEra};
pub use process::{Process, Program, SpawnedProcess};
pub use session_log::{SessionEvent, SessionNotice, SessionObserver};
pub use tools::{
    McpTool, SchemaRepair, ToolAnnotations, ToolDefect, ToolList, ToolListProblem, parse_tools,
};
pub use transport::check_header;
pub use transport::header_params::{HeaderParamError, routing_headers};
