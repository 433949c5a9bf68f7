//! The hub as an MCP server: what a user can call is offered to MCP clients that show a key of
//! theirs.

mod call_client;
mod changes;
mod context_names;
mod hub_caller;
mod hub_context;
mod hub_service;
mod output;
mod resource_metadata;
mod resource_watches;
mod tool_listings;

pub(crate) use resource_metadata::{RESOURCE_METADATA_PATH, resource_metadata, resource_metadata_url};
pub use hub_caller::HubCaller;
pub use hub_service::{HubService, identity};
