//! Why an answer ended, from what its server let slip.

use tenon_domain::StopReason;

/// Servers forget to say why they stop, or say something else than they did.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// The reason that was given.
    pub stop: Option<StopReason>,
    pub has_calls: bool,
    /// The server said that this was all.
    pub is_done: bool,
}

impl Ending {
    /// None: it broke off.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        match self.stop {
            // Some end their turn although they wait for their calls.
            Some(StopReason::End) if self.has_calls => Some(StopReason::ToolCalls),
            // They said that they were done, only not why.
            None if self.is_done && self.has_calls => Some(StopReason::ToolCalls),
            None if self.is_done => Some(StopReason::End),
            stop => stop,
        }
    }
}
