//! Tenon over the network: the HTTP API, the WebSocket, the OpenAI-compatible API and the page.
//!
//! Handlers translate between HTTP and [`tenon_app`]; only this crate chooses a status code of
//! ours.

pub mod api_fault;
pub mod authorize;
pub mod bridge;
pub mod error;
pub mod guard;
pub mod mcp;
pub mod metrics;
pub mod operation;
pub mod route;
pub mod router;
pub mod serve;
pub mod wire;

mod api;
mod concurrency;
mod connections;
mod document_bytes;
mod expert_choice;
mod mcp_call_client;
mod mcp_context;
mod mcp_endpoint;
mod mcpo;
mod openai;
mod reply_cell;
mod request;
mod request_span;
mod resource_metadata;
mod run_to_end;
mod socket;
mod state;
mod tagged_json;
mod ui;
