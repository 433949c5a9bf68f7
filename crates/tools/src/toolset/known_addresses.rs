//! Computes the addresses that a toolset knows from its conversation.

use serde_json::Value;
use tenon_domain::{Message, ToolId};

use super::Toolset;
use crate::addresses::KnownAddresses;

impl Toolset {
    /// The same, knowing the addresses of the conversation that led to this. It is looked
    /// through off the async worker.
    pub async fn with_known_addresses(self, messages: &[Message]) -> Self {
        let (toolset, messages) = (self.clone(), messages.to_vec());
        let looking = tokio::task::spawn_blocking(move || {
            KnownAddresses::of(&messages, |tool| toolset.looks_outside(tool))
        });
        match looking.await {
            Ok(known) => self.with_known(known),
            // It is not aborted and does not panic; if it did, all addresses would be asked about.
            Err(error) => {
                tracing::error!(%error, "the addresses of a conversation cannot be found");
                self
            }
        }
    }

    /// Whether a call of this tool depends on what is known; otherwise nobody need look.
    pub fn needs_addresses(&self, id: &ToolId, input: &Value) -> bool {
        let tool = self.get(id);
        tool.is_some_and(|tool| self.default_address(tool, input).is_some())
    }

    /// A tool that is gone, or somebody else's, is taken for one that does.
    fn looks_outside(&self, id: &ToolId) -> bool {
        self.find(id)
            .is_none_or(|tool| tool.spec.annotations.open_world)
    }
}
