//! What every HTTP client of Tenon shares: where requests may go, and reading
//! what comes back within a bound.
//!
//! It stands on the ground floor and knows nothing of tools, models or users:
//! - [`Network`], [`check_url`] and [`client`]: which addresses may be reached
//!   (protection against server-side request forgery).
//! - [`WebClient`]: fetches pages and pictures, checking each redirect.
//! - [`RequestError`]: why a request got no response.
//! - [`body`]: bounded bodies; [`json_weight`]: what a JSON text takes in memory.
//! - [`html`]: text and encoding of pages; [`media_type`]: what a body is.
//! - [`sse`]: the parser of server-sent events.
//! - [`oauth`]: requests to OAuth token endpoints, and their responses.
//! - [`percent`]: percent-encoding, by what a place in a request allows.
//! - [`trace_context`]: which trace a request belongs to.

mod address;
mod client;
mod request_error;
mod resolver;
mod web_client;

pub mod body;
pub mod html;
pub mod json_weight;
pub mod media_type;
pub mod oauth;
pub mod percent;
pub mod sse;
pub mod trace_context;

pub use address::{
    Network, UrlError, check_url, is_cloud_metadata, is_loopback, parse_url, without_query,
};
pub use client::{USER_AGENT, client};
pub use request_error::RequestError;
pub use trace_context::TraceContext;
pub use web_client::WebClient;
