//! The registry of all sources: the only mutable state of the hub.
//!
//! Sources come and go while turns run. Readers take an immutable
//! snapshot and never wait; a writer builds the next snapshot and swaps it in. Ids are
//! assigned before the swap, so no reader ever sees a tool without one.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwap;
use tenon_domain::{
    SourceId, SourceInfo, SourceState, ToolAccess, ToolDefinition, ToolId, UserId, tool_id,
};
use tokio::sync::broadcast;

use crate::call_limits::CallLimits;
use crate::call_metrics::{CallCounters, CallMetrics, CallStatistics, kind_label};
use crate::catalog::{Catalog, CatalogChange, ConnectedSource, IndexedTools, Tool};
use crate::request_tools::RequestConsent;
use crate::tool_embeddings::ToolEmbeddings;
use crate::toolset::{Toolset, search_source_info};
use crate::{Embedder, Error, OutputStore, RequestTools, ToolIdStore, ToolSource};

/// How many changes a slow subscriber may miss before it has to read everything again.
const CHANGE_QUEUE: usize = 256;

/// A list of so many tools is indexed in a few milliseconds.
const MAX_INDEXED_LATE: usize = 200;

pub struct Registry {
    catalog: ArcSwap<Catalog>,
    ids: Arc<dyn ToolIdStore>,
    outputs: Arc<dyn OutputStore>,
    limits: CallLimits,
    metrics: CallMetrics,
    search_counters: Arc<CallCounters>,
    /// Numbers each read of the tools of a source, so that an older one never replaces a newer one.
    revisions: AtomicU64,
    changes: broadcast::Sender<CatalogChange>,
    embeddings: OnceLock<Arc<ToolEmbeddings>>,
}

/// The registration of a source. Dropping it removes the source.
#[must_use = "the source leaves the registry when this is dropped"]
#[derive(Debug)]
pub struct Connection {
    registry: Weak<Registry>,
    source: SourceId,
    number: u64,
}

/// A source and its state, for lists.
#[derive(Debug, Clone)]
pub struct SourceStatus {
    pub info: SourceInfo,
    pub state: SourceState,
    pub tools: usize,
}

/// How many sources of a kind are in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCount {
    pub kind: &'static str,
    pub state: &'static str,
    pub sources: usize,
}

impl Registry {
    pub fn new(
        ids: Arc<dyn ToolIdStore>,
        outputs: Arc<dyn OutputStore>,
        limits: CallLimits,
    ) -> Arc<Self> {
        let metrics = CallMetrics::default();
        Arc::new(Self {
            catalog: ArcSwap::default(),
            ids,
            outputs,
            limits,
            search_counters: metrics.counters(search_source_info()),
            metrics,
            revisions: AtomicU64::new(0),
            changes: broadcast::Sender::new(CHANGE_QUEUE),
            embeddings: OnceLock::new(),
        })
    }

    /// Has tools found by embeddings too, from now on.
    pub fn embed_with(self: &Arc<Self>, embedder: Arc<dyn Embedder>) {
        self.embeddings.get_or_init(|| {
            let registry = Arc::downgrade(self);
            let tools = move || registry.upgrade().map(|registry| registry.shared_tools());
            ToolEmbeddings::start(embedder, tools, self.subscribe())
        });
    }

    /// Tools of shared sources, by id.
    fn shared_tools(&self) -> Vec<Arc<Tool>> {
        let catalog = self.catalog.load();
        let mut tools: Vec<Arc<Tool>> = catalog.shared.values().cloned().collect();
        tools.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
        tools
    }

    /// Adds a source, or replaces the one with the same id.
    pub async fn connect(
        self: &Arc<Self>,
        source: Arc<dyn ToolSource>,
    ) -> Result<Connection, Error> {
        let number = self.next_revision();
        let id = source.info().id.clone();
        let connected = ConnectedSource {
            connection: number,
            revision: number,
            tools: self.identify(&source).await?,
            source,
        };
        self.publish(connected, |current| {
            current.is_none_or(|connected| connected.revision < number)
        });
        Ok(Connection {
            registry: Arc::downgrade(self),
            source: id,
            number,
        })
    }

    /// Reads the tools of a source again.
    pub async fn refresh(&self, connection: &Connection) -> Result<(), Error> {
        let (revision, number) = (self.next_revision(), connection.number);
        let catalog = self.catalog.load_full();
        let Some(connected) = catalog.connected.get(&connection.source) else {
            return Ok(());
        };
        let source = connected.source.clone();
        let connected = ConnectedSource {
            connection: number,
            revision,
            tools: self.identify(&source).await?,
            source,
        };
        self.publish(connected, |current| {
            current.is_some_and(|connected| {
                connected.connection == number && connected.revision < revision
            })
        });
        Ok(())
    }

    /// A snapshot of the tools that this access can see now.
    pub fn toolset(&self, access: ToolAccess) -> Toolset {
        Toolset::new(
            self.catalog.load_full(),
            access,
            self.outputs.clone(),
            (self.search_counters.clone(), self.embeddings.get().cloned()),
            self.limits,
        )
    }

    /// All changes from now on, each told once a toolset shows it.
    pub fn subscribe(&self) -> broadcast::Receiver<CatalogChange> {
        self.changes.subscribe()
    }

    /// The tools of sources that one request brought along. Their ids differ from those of all
    /// tools that the user sees now, and are not stored.
    pub fn request_tools(&self, user: &UserId, sources: &[Arc<dyn ToolSource>]) -> RequestTools {
        let tools = self.bring_along(user, sources, tool_id::give);
        RequestTools::new(tools, RequestConsent::Implied)
    }

    /// The tools of sources that a task brings along, under the names that tasks know them by. They
    /// need approval like those of any other source.
    pub fn task_tools(&self, user: &UserId, sources: &[Arc<dyn ToolSource>]) -> RequestTools {
        let tools = self.bring_along(user, sources, tool_id::give_for_task);
        RequestTools::new(tools, RequestConsent::ByPolicy)
    }

    fn bring_along(
        &self,
        user: &UserId,
        sources: &[Arc<dyn ToolSource>],
        give: impl Fn(&SourceInfo, &[&str], &mut HashSet<ToolId>) -> Vec<ToolId>,
    ) -> Vec<Arc<Tool>> {
        let catalog = self.catalog.load();
        let mut taken: HashSet<ToolId> =
            catalog.all(user).map(|tool| tool.spec.id.clone()).collect();
        let mut all = Vec::new();
        for source in sources {
            let definitions = definitions(source);
            let names: Vec<&str> = definitions.iter().map(|d| d.name.as_str()).collect();
            let ids = give(source.info(), &names, &mut taken);
            all.extend(self.tools(source, definitions, ids).iter().cloned());
        }
        all
    }

    /// The sources a user can see, by id.
    pub fn sources(&self, user: &UserId) -> Vec<SourceStatus> {
        let catalog = self.catalog.load();
        let visible = |info: &SourceInfo| info.owner.as_ref().is_none_or(|owner| owner == user);
        let connected = catalog
            .connected
            .values()
            .filter(|connected| visible(connected.source.info()));
        connected
            .map(|connected| SourceStatus {
                info: connected.source.info().clone(),
                state: connected.source.state(),
                tools: connected.tools.len(),
            })
            .collect()
    }

    /// The calls to all sources so far.
    pub fn call_statistics(&self) -> Vec<CallStatistics> {
        self.metrics.statistics()
    }

    /// The sources of everybody, counted by kind and state.
    pub fn source_counts(&self) -> Vec<SourceCount> {
        let catalog = self.catalog.load();
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for connected in catalog.connected.values() {
            let kind = kind_label(connected.source.info().kind);
            let state = connected.source.state().as_str();
            *counts.entry((kind, state)).or_default() += 1;
        }
        let counts = counts.into_iter();
        counts
            .map(|((kind, state), sources)| SourceCount {
                kind,
                state,
                sources,
            })
            .collect()
    }

    fn next_revision(&self) -> u64 {
        self.revisions.fetch_add(1, Ordering::Relaxed)
    }

    /// Swaps a source in, if `wanted` says so about the one that is connected by then.
    fn publish(
        &self,
        connected: ConnectedSource,
        wanted: impl Fn(Option<&ConnectedSource>) -> bool,
    ) {
        let mut is_wanted = false;
        self.catalog.rcu(|catalog| {
            let mut next = Catalog::clone(catalog);
            is_wanted = wanted(next.connected.get(&connected.source.info().id));
            if is_wanted {
                next.insert(connected.clone());
            }
            next
        });
        if is_wanted {
            self.notify(connected.source.info().owner.clone());
            index_ahead(&connected.tools);
        }
    }

    fn notify(&self, owner: Option<UserId>) {
        // Nobody may be listening.
        let _ = self.changes.send(CatalogChange { owner });
    }

    async fn identify(&self, source: &Arc<dyn ToolSource>) -> Result<Arc<IndexedTools>, Error> {
        let definitions = definitions(source);
        let names: Vec<&str> = definitions.iter().map(|d| d.name.as_str()).collect();
        let ids = self.ids.ids(source.info(), &names).await?;
        Ok(self.tools(source, definitions, ids))
    }

    fn tools(
        &self,
        source: &Arc<dyn ToolSource>,
        definitions: Vec<ToolDefinition>,
        ids: Vec<ToolId>,
    ) -> Arc<IndexedTools> {
        let counters = self.metrics.counters(source.info());
        let tools = definitions.into_iter().zip(ids).map(|(definition, id)| {
            let spec = source.info().spec(id, definition);
            Arc::new(Tool::new(spec, source.clone(), counters.clone()))
        });
        Arc::new(tools.collect())
    }
}

/// A long list takes a while to index, and whoever searches first should not wait for it.
fn index_ahead(tools: &Arc<IndexedTools>) {
    if tools.len() > MAX_INDEXED_LATE {
        let tools = tools.clone();
        tokio::task::spawn_blocking(move || tools.index().len());
    }
}

fn definitions(source: &Arc<dyn ToolSource>) -> Vec<ToolDefinition> {
    let mut definitions = source.tools();
    // A server that lists a name twice means one tool: the name is all a call can say.
    let mut seen = HashSet::new();
    definitions.retain(|definition| seen.insert(definition.name.clone()));
    definitions
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(registry) = self.registry.upgrade() else {
            return;
        };
        let mut removed = None;
        registry.catalog.rcu(|catalog| {
            let mut next = Catalog::clone(catalog);
            let connected = next.connected.get(&self.source);
            removed = connected
                .filter(|connected| connected.connection == self.number)
                .map(|connected| connected.source.info().owner.clone());
            if removed.is_some() {
                next.remove(&self.source);
            }
            next
        });
        if let Some(owner) = removed {
            registry.notify(owner);
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sources: Vec<_> = self.catalog.load().connected.keys().cloned().collect();
        f.debug_struct("Registry")
            .field("sources", &sources)
            .finish_non_exhaustive()
    }
}
