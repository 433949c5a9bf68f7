//! The server half of the protocol: what somebody offers as an [`McpService`], spoken to clients
//! in every protocol version over Streamable HTTP, legacy SSE and stdio.
//!
//! An [`McpEndpoint`] has no transport of its own: whoever listens authenticates a request and hands it
//! over with its caller. Clients are untrusted: messages, batches, sessions, streams, parked calls and
//! waits are bounded.

mod context;
mod endpoint;
mod listing;
mod options;
mod service;

mod batch;
mod client_profile;
mod engine;
mod exchange;
mod handshake;
mod message;
mod notification;
mod operation;
mod parked;
mod reply;
mod request_span;
mod request_table;
mod running;
mod stateless;
mod tool_result;

mod body;
mod channel;
mod event_stream;
mod http;
mod legacy_sse;
mod session_store;
mod stdio;

pub use body::{ServerBody, ServerResponse};
pub use client_profile::{ClientProfile, LogLevel};
pub use context::{ClientRequestError, RequestContext};
pub use endpoint::McpEndpoint;
pub use http::HttpRequest;
pub use listing::Listing;
pub use message::MAX_REQUEST_BYTES;
pub use options::ServerOptions;
pub use service::{McpService, PromptRequest, ServerCapabilities, ServerChange, ServerIdentity};

/// For sessions, streams and parked calls: nobody can guess one.
fn random_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
