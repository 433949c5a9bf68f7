//! Tools that one request or task brings along, for that alone.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::ToolId;

use crate::catalog::{IndexedTools, Tool};

/// Tools with ids that live as long as this value. Whoever brought the sources chose them, so
/// all their tools are visible. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct RequestTools {
    tools: Arc<HashMap<ToolId, Arc<Tool>>>,
    list: Arc<IndexedTools>,
    consent: RequestConsent,
}

/// Whether bringing tools along is consent to their use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RequestConsent {
    /// Whoever wrote the request wrote down its servers.
    #[default]
    Implied,
    /// A task may come from somebody else: its tools have the policies of any other.
    ByPolicy,
}

impl RequestTools {
    pub(crate) fn new(tools: impl IntoIterator<Item = Arc<Tool>>, consent: RequestConsent) -> Self {
        let list: IndexedTools = tools.into_iter().collect();
        let tools = list.iter().map(|tool| (tool.spec.id.clone(), tool.clone()));
        Self {
            tools: Arc::new(tools.collect()),
            list: Arc::new(list),
            consent,
        }
    }

    pub(crate) fn get(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        self.tools.get(id)
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    pub(crate) fn list(&self) -> &Arc<IndexedTools> {
        &self.list
    }

    /// Whether a tool is one of these, and not another with the same id.
    pub(crate) fn has(&self, tool: &Tool) -> bool {
        let known = self.get(&tool.spec.id);
        known.is_some_and(|known| std::ptr::eq(&**known, tool))
    }

    /// Whether a tool needs no approval because it was brought along.
    pub(crate) fn allows(&self, tool: &Tool) -> bool {
        self.consent == RequestConsent::Implied && self.has(tool)
    }
}
