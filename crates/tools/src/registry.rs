//! All sources, and the only thing in the hub that changes.
//!
//! Sources come and go while turns run. Readers take a snapshot and never
//! wait; a writer builds the next snapshot beside the current one and swaps it
//! in. Ids are given before the swap, so no reader ever sees a tool without one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use tenon_domain::{
    Access, SourceId, SourceInfo, SourceState, ToolDefinition, ToolError, ToolId, ToolSpec, UserId,
    tool_id,
};
use tokio::sync::OnceCell;

use crate::toolset::{Limits, Toolset};
use crate::validate::{OnBehalf, Schema};
use crate::{Error, Guests, IdBook, Shelf, ToolSource};

pub struct Registry {
    catalog: ArcSwap<Catalog>,
    ids: Arc<dyn IdBook>,
    shelf: Arc<dyn Shelf>,
    limits: Limits,
    /// Numbers what is offered, so that what was asked for earlier never replaces what came later.
    revisions: AtomicU64,
}

/// A source's place in the registry. The source leaves when this is dropped.
#[must_use = "the source leaves the registry when this is dropped"]
#[derive(Debug)]
pub struct Connection {
    registry: Weak<Registry>,
    source: SourceId,
    number: u64,
}

/// A source and how it is, for those who list them.
#[derive(Debug, Clone)]
pub struct SourceStatus {
    pub info: SourceInfo,
    pub state: SourceState,
    pub tools: usize,
}

/// One tool in the catalog.
pub struct Tool {
    pub spec: Arc<ToolSpec>,
    pub source: Arc<dyn ToolSource>,
    /// Compiled at the first call: most tools of a large server are never called.
    schema: OnceCell<Schema>,
}

/// All tools at one moment.
#[derive(Default, Clone)]
pub(crate) struct Catalog {
    offers: BTreeMap<SourceId, Offer>,
    shared: HashMap<ToolId, Arc<Tool>>,
    private: HashMap<UserId, HashMap<ToolId, Arc<Tool>>>,
}

/// What one connected source offers.
#[derive(Clone)]
struct Offer {
    connection: u64,
    revision: u64,
    source: Arc<dyn ToolSource>,
    tools: Arc<[Arc<Tool>]>,
}

impl Registry {
    pub fn new(ids: Arc<dyn IdBook>, shelf: Arc<dyn Shelf>, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            catalog: ArcSwap::default(),
            ids,
            shelf,
            limits,
            revisions: AtomicU64::new(0),
        })
    }

    /// Takes a source in. One that is here already under the same id is replaced.
    pub async fn connect(
        self: &Arc<Self>,
        source: Arc<dyn ToolSource>,
    ) -> Result<Connection, Error> {
        let number = self.next_revision();
        let id = source.info().id.clone();
        let offer = Offer {
            connection: number,
            revision: number,
            tools: self.identify(&source).await?,
            source,
        };
        self.publish(offer, |current| {
            current.is_none_or(|offer| offer.revision < number)
        });
        Ok(Connection {
            registry: Arc::downgrade(self),
            source: id,
            number,
        })
    }

    /// Asks a source again what it offers.
    pub async fn refresh(&self, connection: &Connection) -> Result<(), Error> {
        let (revision, number) = (self.next_revision(), connection.number);
        let catalog = self.catalog.load_full();
        let Some(offer) = catalog.offers.get(&connection.source) else {
            return Ok(());
        };
        let source = offer.source.clone();
        let offer = Offer {
            connection: number,
            revision,
            tools: self.identify(&source).await?,
            source,
        };
        self.publish(offer, |current| {
            current.is_some_and(|offer| offer.connection == number && offer.revision < revision)
        });
        Ok(())
    }

    /// What this access can see now: a snapshot that stays as it is.
    pub fn toolset(&self, access: Access) -> Toolset {
        Toolset::new(
            self.catalog.load_full(),
            access,
            self.shelf.clone(),
            self.limits,
        )
    }

    /// Takes sources in for whoever holds what comes back. Their ids differ from those of all
    /// that the user sees now, and are not in the book.
    pub fn guests(&self, user: &UserId, sources: &[Arc<dyn ToolSource>]) -> Guests {
        let catalog = self.catalog.load();
        let mut taken: HashSet<ToolId> =
            catalog.all(user).map(|tool| tool.spec.id.clone()).collect();
        let mut all = Vec::new();
        for source in sources {
            let definitions = definitions(source);
            let names: Vec<&str> = definitions.iter().map(|d| d.name.as_str()).collect();
            let ids = tool_id::give(source.info(), &names, &mut taken);
            all.extend(tools(source, definitions, ids).iter().cloned());
        }
        Guests::new(all)
    }

    /// The sources a user can see, by id.
    pub fn sources(&self, user: &UserId) -> Vec<SourceStatus> {
        let catalog = self.catalog.load();
        let visible = |info: &SourceInfo| info.owner.as_ref().is_none_or(|owner| owner == user);
        let offers = catalog
            .offers
            .values()
            .filter(|offer| visible(offer.source.info()));
        offers
            .map(|offer| SourceStatus {
                info: offer.source.info().clone(),
                state: offer.source.state(),
                tools: offer.tools.len(),
            })
            .collect()
    }

    fn next_revision(&self) -> u64 {
        self.revisions.fetch_add(1, Ordering::Relaxed)
    }

    /// Swaps an offer in, if it is still wanted beside what is there by then.
    fn publish(&self, offer: Offer, wanted: impl Fn(Option<&Offer>) -> bool) {
        self.catalog.rcu(|catalog| {
            let mut next = Catalog::clone(catalog);
            if wanted(next.offers.get(&offer.source.info().id)) {
                next.insert(offer.clone());
            }
            next
        });
    }

    async fn identify(&self, source: &Arc<dyn ToolSource>) -> Result<Arc<[Arc<Tool>]>, Error> {
        let definitions = definitions(source);
        let names: Vec<&str> = definitions.iter().map(|d| d.name.as_str()).collect();
        let ids = self.ids.ids(source.info(), &names).await?;
        Ok(tools(source, definitions, ids))
    }
}

fn definitions(source: &Arc<dyn ToolSource>) -> Vec<ToolDefinition> {
    let mut definitions = source.tools();
    // A server that lists a name twice means one tool: the name is all a call can say.
    let mut seen = HashSet::new();
    definitions.retain(|definition| seen.insert(definition.name.clone()));
    definitions
}

fn tools(
    source: &Arc<dyn ToolSource>,
    definitions: Vec<ToolDefinition>,
    ids: Vec<ToolId>,
) -> Arc<[Arc<Tool>]> {
    let tools = definitions.into_iter().zip(ids).map(|(definition, id)| {
        Arc::new(Tool {
            spec: Arc::new(spec(source.info(), id, definition)),
            source: source.clone(),
            schema: OnceCell::new(),
        })
    });
    tools.collect()
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(registry) = self.registry.upgrade() else {
            return;
        };
        registry.catalog.rcu(|catalog| {
            let mut next = Catalog::clone(catalog);
            if next
                .offers
                .get(&self.source)
                .is_some_and(|o| o.connection == self.number)
            {
                next.remove(&self.source);
            }
            next
        });
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

    fn insert(&mut self, offer: Offer) {
        let info = offer.source.info();
        self.remove(&info.id);
        let place = match &info.owner {
            None => &mut self.shared,
            Some(owner) => self.private.entry(owner.clone()).or_default(),
        };
        place.extend(
            offer
                .tools
                .iter()
                .map(|tool| (tool.spec.id.clone(), tool.clone())),
        );
        self.offers.insert(info.id.clone(), offer);
    }

    fn remove(&mut self, source: &SourceId) {
        let Some(offer) = self.offers.remove(source) else {
            return;
        };
        match &offer.source.info().owner {
            None => offer.tools.iter().for_each(|tool| {
                self.shared.remove(&tool.spec.id);
            }),
            Some(owner) => {
                if let Some(own) = self.private.get_mut(owner) {
                    offer.tools.iter().for_each(|tool| {
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

impl Tool {
    pub(crate) async fn schema(&self, behalf: OnBehalf<'_>) -> Result<&Schema, ToolError> {
        let compile = || Schema::compile(&self.spec, behalf);
        self.schema.get_or_try_init(compile).await
    }

    /// The result of a call that panicked.
    pub(crate) fn crashed(&self) -> ToolError {
        ToolError::failed(format!(
            "{} crashed on this input. Try other arguments or another tool.",
            self.spec.display_name
        ))
    }
}

fn spec(source: &SourceInfo, id: ToolId, definition: ToolDefinition) -> ToolSpec {
    let title = definition.title.unwrap_or_else(|| definition.name.clone());
    ToolSpec {
        id,
        display_name: format!("{}/{title}", source.title),
        title,
        name: definition.name,
        description: definition.description,
        input_schema: definition.input_schema,
        annotations: definition.annotations,
        runs_on: source.kind.runs_on(),
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sources: Vec<_> = self.catalog.load().offers.keys().cloned().collect();
        f.debug_struct("Registry")
            .field("sources", &sources)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tool").field(&self.spec.id).finish()
    }
}
