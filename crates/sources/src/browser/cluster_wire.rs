//! What servers of a cluster tell each other of devices, and of the calls to their pages.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{SourceId, SourceState, UserId};

use super::wire::{DeviceInfo, ExecuteTool};
use crate::call_routes::RoutedCall;

/// Topics on the bus.
pub(super) const DEVICES: &str = "browser.devices";
pub(super) const ASK_DEVICES: &str = "browser.ask";
pub(super) const CALL: &str = "browser.call";

/// What one server says of a device.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum DeviceNote {
    Presence(DevicePresence),
    Forgotten(ForgottenDevice),
}

/// A device as one server has it: its open pages there, and what they found.
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
    /// Of its tools, which are in the store.
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
    /// What one page is to do.
    Page {
        page: String,
        order: Box<ExecuteTool>,
    },
}
