//! Why an answer ended, from what its server let slip.

use tenon_domain::StopReason;

/// Servers forget to say why they stop, or say something else than they did.
#[derive(Debug, Default)]
pub(crate) struct StopTracker {
    /// The reason that was given.
    pub reported: Option<StopReason>,
    pub has_calls: bool,
    /// The server said that this was all.
    pub is_done: bool,
}

impl StopTracker {
    /// None: it broke off.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        match self.reported {
            // Some end their turn although they wait for their calls.
            Some(StopReason::End) if self.has_calls => Some(StopReason::ToolCalls),
            // They said that they were done, only not why.
            None if self.is_done && self.has_calls => Some(StopReason::ToolCalls),
            None if self.is_done => Some(StopReason::End),
            stop => stop,
        }
    }
}
