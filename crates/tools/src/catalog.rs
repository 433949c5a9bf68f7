//! All tools at one moment: what the registry swaps and toolsets read.

mod indexed_tools;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use tenon_domain::{SourceId, ToolError, ToolId, ToolSpec, UserId};
use tokio::sync::OnceCell;

use crate::call_error::CallError;
use crate::call_metrics::CallCounters;
use crate::source::ToolSource;
use crate::validate::{Schema, ValidationContext};
pub(crate) use indexed_tools::IndexedTools;

/// One tool in the catalog.
pub struct Tool {
    pub spec: Arc<ToolSpec>,
    pub source: Arc<dyn ToolSource>,
    /// Compiled at the first call: most tools of a large server are never called.
    pub(crate) schema: OnceCell<Schema>,
    /// About how many tokens it takes to tell a model of it, once somebody has counted.
    tokens: OnceLock<usize>,
    /// Of its source.
    pub(crate) counters: Arc<CallCounters>,
}

/// All tools at one moment.
#[derive(Default, Clone)]
pub(crate) struct Catalog {
    pub(crate) connected: BTreeMap<SourceId, ConnectedSource>,
    pub(crate) shared: HashMap<ToolId, Arc<Tool>>,
    pub(crate) private: HashMap<UserId, HashMap<ToolId, Arc<Tool>>>,
}

/// A connected source and its tools.
#[derive(Clone)]
pub(crate) struct ConnectedSource {
    pub(crate) connection: u64,
    pub(crate) revision: u64,
    pub(crate) source: Arc<dyn ToolSource>,
    pub(crate) tools: Arc<IndexedTools>,
}

/// A source came, went, or offers other tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogChange {
    /// Who sees that source; None: everybody.
    pub owner: Option<UserId>,
}

impl Tool {
    pub(crate) fn new(
        spec: ToolSpec,
        source: Arc<dyn ToolSource>,
        counters: Arc<CallCounters>,
    ) -> Self {
        Self {
            spec: Arc::new(spec),
            source,
            schema: OnceCell::new(),
            tokens: OnceLock::new(),
            counters,
        }
    }

    /// What `count` says of it, which is asked once: schemas are long.
    pub fn tokens(&self, count: impl FnOnce(&ToolSpec) -> usize) -> usize {
        *self.tokens.get_or_init(|| count(&self.spec))
    }

    pub(crate) async fn schema(&self, behalf: ValidationContext<'_>) -> Result<&Schema, ToolError> {
        if let Some(schema) = self.schema.get() {
            return Ok(schema);
        }
        let compile = || Schema::compile(&self.spec, behalf);
        // Boxed: it happens once, and the future of every call would carry it.
        Box::pin(self.schema.get_or_try_init(compile)).await
    }

    /// The result of a call that panicked.
    pub(crate) fn crashed(&self) -> ToolError {
        let name = self.spec.display_name.as_str().into();
        CallError::Crashed { name }.into()
    }
}

impl Catalog {
    pub(crate) fn get(&self, user: &UserId, id: &str) -> Option<&Arc<Tool>> {
        self.shared
            .get(id)
            .or_else(|| self.private.get(user)?.get(id))
    }

    pub(crate) fn all(&self, user: &UserId) -> impl Iterator<Item = &Arc<Tool>> {
        self.shared
            .values()
            .chain(self.private.get(user).into_iter().flat_map(HashMap::values))
    }

    pub(crate) fn insert(&mut self, connected: ConnectedSource) {
        let info = connected.source.info();
        self.remove(&info.id);
        let tools = match &info.owner {
            None => &mut self.shared,
            Some(owner) => self.private.entry(owner.clone()).or_default(),
        };
        tools.extend(
            connected
                .tools
                .iter()
                .map(|tool| (tool.spec.id.clone(), tool.clone())),
        );
        self.connected.insert(info.id.clone(), connected);
    }

    pub(crate) fn remove(&mut self, source: &SourceId) {
        let Some(connected) = self.connected.remove(source) else {
            return;
        };
        match &connected.source.info().owner {
            None => connected.tools.iter().for_each(|tool| {
                self.shared.remove(&tool.spec.id);
            }),
            Some(owner) => {
                if let Some(own) = self.private.get_mut(owner) {
                    connected.tools.iter().for_each(|tool| {
                        own.remove(&tool.spec.id);
                    });
                    if own.is_empty() {
                        self.private.remove(owner);
                    }
                }
            }
        }
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tool").field(&self.spec.id).finish()
    }
}
