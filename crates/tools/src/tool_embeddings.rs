//! The embeddings of the tools that everybody has, and of what was looked for last.
//!
//! Tools are embedded in the background, [pass](pass) after pass, and kept for as long as there is
//! one with that text. Those of one person are not: nobody else decides where their texts go.

mod embedded_tools;
mod known_queries;
mod pass;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tenon_domain::text;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, broadcast};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::catalog::{CatalogChange, Tool};
use crate::embedding::{Embedder, EmbedderError, Embedding};
use embedded_tools::EmbeddedTools;
pub(crate) use embedded_tools::NearTools;
use known_queries::{KnownQueries, Lookup, QueryResult};
use pass::{KnownTexts, PassEnd, tool_texts};

/// Fewer tools than this are all told to a model; nothing is searched.
const MIN_TOOLS: usize = 64;

/// Sources that start together change the catalog many times.
const DEBOUNCE: Duration = Duration::from_secs(1);

/// How soon it is tried again where no vectors come, or not in time.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// A turn and a search wait so long for the vector of what is looked for; without it words must do.
const QUERY_WAIT: Duration = Duration::from_millis(1500);

/// How long a query embedding may take in the background; a late result is cached for the next
/// search.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// How many requests are under way at once; others make do with words.
const MAX_RUNNING_QUERIES: usize = 16;

/// How much is embedded of what is looked for: models read a few hundred words.
const MAX_QUERY_CHARS: usize = 1_000;

pub(crate) struct ToolEmbeddings {
    embedder: Arc<dyn Embedder>,
    tools: ArcSwap<EmbeddedTools>,
    queries: Mutex<KnownQueries>,
    running: Semaphore,
}

impl ToolEmbeddings {
    /// Embeds the tools that there are, and again whenever that changes. None: there is no
    /// registry any more.
    pub(crate) fn start(
        embedder: Arc<dyn Embedder>,
        tools: impl Fn() -> Option<Vec<Arc<Tool>>> + Send + Sync + 'static,
        changes: broadcast::Receiver<CatalogChange>,
    ) -> Arc<Self> {
        let embeddings = Arc::new(Self {
            embedder,
            tools: ArcSwap::default(),
            queries: Mutex::default(),
            running: Semaphore::new(MAX_RUNNING_QUERIES),
        });
        tokio::spawn(embeddings.clone().follow(Arc::new(tools), changes));
        embeddings
    }

    async fn follow(
        self: Arc<Self>,
        tools: Arc<impl Fn() -> Option<Vec<Arc<Tool>>> + Send + Sync + 'static>,
        mut changes: broadcast::Receiver<CatalogChange>,
    ) {
        let mut known = KnownTexts::default();
        loop {
            let tools = tools.clone();
            // Of thousands of tools that takes a while.
            let texts = spawn_blocking(move || Some(tool_texts(&tools()?))).await;
            let Ok(Some(texts)) = texts else { return };
            let end = self.embed_all(&texts, &mut known).await;
            tokio::select! {
                has_changed = await_shared_change(&mut changes) => {
                    if !has_changed {
                        return;
                    }
                    sleep(DEBOUNCE).await;
                    changes = changes.resubscribe();
                }
                () = sleep(RETRY_INTERVAL), if end == PassEnd::Incomplete => {}
            }
        }
    }

    /// Whether nothing has to be waited for: it is known which tools are near a text, or words
    /// decide.
    pub(crate) fn is_settled(&self, text: &str) -> bool {
        let (text, tools) = (query_text(text), self.tools.load());
        let lookup = || self.queries().look_up(key_of(&text), tools.generation);
        tools.embeddings.is_empty() || text.is_empty() || matches!(lookup(), Lookup::Settled)
    }

    /// Looks which tools are near a text, if that is quick. Where it is not, words decide, and go
    /// on to do so for a while: the steps of a turn are to find the same.
    pub(crate) async fn prepare(self: &Arc<Self>, text: &str) {
        let (text, tools) = (query_text(text), self.tools.load_full());
        if tools.embeddings.is_empty() || text.is_empty() {
            return;
        }
        let key = key_of(&text);
        let lookup = self.queries().look_up(key, tools.generation);
        let known = match lookup {
            Lookup::Settled => return,
            Lookup::Paused => return self.queries().decide_by_words(key),
            Lookup::Compare(embedding) => Some(embedding),
            Lookup::Embed => None,
        };
        // The request is not cancelled at the timeout, because it is paid for and its result can be
        // cached.
        let search = tokio::spawn(self.clone().search(text, known, tools));
        if timeout(QUERY_WAIT, search).await.is_err() {
            self.queries().pause();
        }
        self.queries().decide_by_words(key);
    }

    async fn search(
        self: Arc<Self>,
        text: String,
        known: Option<Embedding>,
        tools: Arc<EmbeddedTools>,
    ) {
        let Ok(_permit) = self.running.try_acquire() else {
            return;
        };
        let key = key_of(&text);
        let embedding = match known {
            Some(known) => known,
            None => match timeout(QUERY_TIMEOUT, self.embedder.embed_query(&text)).await {
                Ok(Ok(embedding)) => embedding,
                Ok(Err(EmbedderError::Rejected)) => {
                    return self.queries().add(key, QueryResult::Rejected);
                }
                // Other texts may have their vectors.
                Ok(Err(EmbedderError::Failed)) => return,
                Ok(Err(EmbedderError::Unavailable)) | Err(_) => return self.queries().pause(),
            },
        };
        let compared = spawn_blocking(move || QueryResult::Compared {
            near: Arc::new(tools.near(&embedding)),
            generation: tools.generation,
            embedding,
        });
        if let Ok(compared) = compared.await {
            self.queries().add(key, compared);
        }
    }

    /// The tools that are near a text. None: words decide.
    pub(crate) fn near(&self, text: &str) -> Option<Arc<NearTools>> {
        self.queries().near(key_of(&query_text(text)))
    }

    fn queries(&self) -> MutexGuard<'_, KnownQueries> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the tools that everybody has may be others. False: nothing changes any more.
async fn await_shared_change(changes: &mut broadcast::Receiver<CatalogChange>) -> bool {
    loop {
        match changes.recv().await {
            Ok(CatalogChange { owner: Some(_) }) => {}
            Ok(CatalogChange { owner: None }) | Err(RecvError::Lagged(_)) => return true,
            Err(RecvError::Closed) => return false,
        }
    }
}

fn query_text(query: &str) -> String {
    text::block(query, MAX_QUERY_CHARS)
}

fn key_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl std::fmt::Debug for ToolEmbeddings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolEmbeddings").finish_non_exhaustive()
    }
}
