//! Tools that one request brings along, for that request alone.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::ToolId;

use crate::catalog::Tool;

/// Tools with ids that live as long as this value. Whoever brought the sources chose them, so
/// all their tools are visible and need no approval. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct RequestTools(Arc<HashMap<ToolId, Arc<Tool>>>);

impl RequestTools {
    pub(crate) fn new(tools: impl IntoIterator<Item = Arc<Tool>>) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.spec.id.clone(), tool));
        Self(Arc::new(tools.collect()))
    }

    pub(crate) fn get(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        self.0.get(id)
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.0.values()
    }

    /// Whether a tool is one of these, and not another with the same id.
    pub(crate) fn has(&self, tool: &Tool) -> bool {
        let known = self.get(&tool.spec.id);
        known.is_some_and(|known| std::ptr::eq(&**known, tool))
    }
}
