//! The server half of the protocol: what somebody offers as an [`McpService`], spoken to clients
//! in every protocol version over Streamable HTTP, legacy SSE and stdio.
//!
//! An [`McpServer`] has no transport of its own: whoever listens authenticates a request and hands it
//! over with its caller. Clients are untrusted: messages, batches, sessions, streams, parked calls and
//! waits are bounded.

mod context;
mod exchange;
mod listing;
mod service;

pub use context::{ClientProfile, ClientRequestError, LogLevel, RequestContext};
pub use listing::Listing;
pub use service::{McpService, PromptRequest, ServerCapabilities, ServerChange, ServerIdentity};

/// For sessions, streams and parked calls: nobody can guess one.
fn random_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
