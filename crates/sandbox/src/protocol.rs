//! What the launcher and the helper send each other: over a socket that is the helper's standard
//! input, with the standard streams of the program attached to the first byte (`SCM_RIGHTS`). The
//! socket stays open as long as the program may live: its end ends the program.

use serde::{Deserialize, Serialize};

use crate::command::SandboxCommand;
use crate::error::SetupStep;
use crate::walls::SandboxSupport;

/// The first argument of a process that is to be a helper.
pub(crate) const HELPER_ARGUMENT: &str = "sandbox-exec";

/// A request and a reply are each preceded by their length, as a `u32` in network byte order.
pub(crate) const MAX_FRAME_BYTES: u32 = 4 * 1024 * 1024;

/// Standard input, output and error.
pub(crate) const STREAMS: usize = 3;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HelperReply {
    Started(SandboxSupport),
    Failed { step: SetupStep, errno: i32 },
}

#[derive(Serialize, Deserialize)]
pub(crate) struct HelperRequest {
    pub(crate) command: SandboxCommand,
    /// To build the walls and execute nothing.
    pub(crate) is_probe: bool,
}

impl HelperReply {
    pub(crate) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
