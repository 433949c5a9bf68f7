//! Tools on users' own machines, executed by their browsers.
//!
//! A page discovers tool servers at `localhost`, registers them over its WebSocket, and executes
//! the calls it is sent. Tenon never reaches those servers itself, and never sees the user's keys
//! for them.
//!
//! A [`DeviceHub`] holds the devices of all users. A device is one browser of one user, with any
//! number of open pages, each a [`PageConnection`]. Each server found there is a
//! [`local_server::LocalServer`] in the registry, visible to that user alone. A call goes to one
//! page, and to another of the same device as long as the first has not begun with it.

mod device_hub;
mod page_connection;

mod client_server;
mod cluster_wire;
mod device;
mod device_entry;
mod local_server;
mod local_server_store;
mod local_tools;
mod page;
mod presence;

mod call_result;
mod check;
mod error;
mod limits;
mod wire;
mod wire_request;

pub use crate::call_progress::RemoteCallProgress;
pub use client_server::{ClientServer, NamedPage};
pub use device_entry::{DeviceStatus, LocalStatus};
pub use device_hub::{DeviceHub, ParseSlots, ToolsChanged};
pub use error::{BrowserError, RegistrationFault};
pub use local_server_store::{LocalServerRecord, LocalServerStore};
pub use local_tools::preview;
pub use page_connection::PageConnection;
pub use wire::{
    DeviceInfo, DiscoveredServer, DiscoveredTools, ExecuteTool, LocalCallFailure, LocalCallOutcome,
    LocalCallResult, LocalFailureKind, LocalProtocol, PageCommand, RegisteredServer, Registration,
    RegistrationResult,
};
pub use wire_request::{WireBody, WireRequest};

#[cfg(test)]
mod tests;
