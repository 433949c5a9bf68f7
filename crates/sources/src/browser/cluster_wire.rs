//! Bus messages between servers about devices, their pages and the calls to these pages.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{SourceId, SourceState, UserId};

use super::wire::{DeviceInfo, ExecuteTool};
use crate::call_routes::RoutedCall;

/// Topics on the bus.
pub(super) const DEVICES: &str = "browser.devices";
pub(super) const ASK_DEVICES: &str = "browser.ask";
pub(super) const CALL: &str = "browser.call";

/// A note from one server about a device.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum DeviceNote {
    Presence(DevicePresence),
    Forgotten(ForgottenDevice),
}

/// A device as seen by one server: its open pages there, and the tool servers they found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DevicePresence {
    pub(super) user: UserId,
    pub(super) device: DeviceInfo,
    pub(super) is_there: bool,
    pub(super) pages: Vec<String>,
    pub(super) servers: Vec<ServerPresence>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ServerPresence {
    pub(super) id: SourceId,
    pub(super) state: SourceState,
    /// Hash of the tools; the tools themselves are read from the store.
    pub(super) hash: String,
}

/// A device that its owner forgot.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ForgottenDevice {
    pub(super) user: UserId,
    pub(super) device: String,
}

/// A call on its way to the server that has the page.
#[derive(Serialize, Deserialize)]
pub(super) struct DeviceCall {
    pub(super) call: RoutedCall,
    pub(super) device: String,
    pub(super) target: CallTarget,
}

#[derive(Serialize, Deserialize)]
pub(super) enum CallTarget {
    /// A tool of a server on the device.
    Tool {
        server: SourceId,
        tool: String,
        input: Value,
    },
    /// A command for one page.
    Page {
        page: String,
        order: Box<ExecuteTool>,
    },
}
