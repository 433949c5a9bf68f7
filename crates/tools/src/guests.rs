//! Sources that somebody brings along, for whoever holds them and nobody else.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::ToolId;

use crate::registry::Tool;

/// Their tools have ids as long as this is held. Whoever brings a source has chosen
/// it: all its tools are seen, and used without asking. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Guests(Arc<HashMap<ToolId, Arc<Tool>>>);

impl Guests {
    pub(crate) fn new(tools: impl IntoIterator<Item = Arc<Tool>>) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.spec.id.clone(), tool));
        Self(Arc::new(tools.collect()))
    }

    pub(crate) fn get(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        self.0.get(id)
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.0.values()
    }

    /// Whether a tool is one of theirs, and not another with its id.
    pub(crate) fn has(&self, tool: &Tool) -> bool {
        let guest = self.get(&tool.spec.id);
        guest.is_some_and(|guest| std::ptr::eq(&**guest, tool))
    }
}
