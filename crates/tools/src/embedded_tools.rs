//! The embeddings of all tools and of what was looked for last: made in the background, batch after batch, and kept
//! for as long as there is a tool with that text.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_domain::text;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{sleep, timeout};

use crate::catalog::Tool;
use crate::embedding::{Embedder, Embedding};

/// Fewer tools than this are all told to a model; nothing is searched.
const MIN_TOOLS: usize = 64;

/// How many texts go into one request.
const BATCH: usize = 64;

/// A small machine embeds a batch in this time.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Sources that start together change the catalog many times.
const DEBOUNCE: Duration = Duration::from_secs(1);

/// How soon it is tried again where no vectors come.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// A turn and a search wait so long for the vector of what is looked for; without it words must do.
const QUERY_TIMEOUT: Duration = Duration::from_millis(1500);

/// How many requests are remembered.
const MAX_QUERIES: usize = 512;

/// How much of a request is embedded: models read a few hundred words.
const MAX_QUERY_CHARS: usize = 1_000;
const MAX_DESCRIPTION_CHARS: usize = 600;

pub(crate) struct EmbeddedTools {
    embedder: Arc<dyn Embedder>,
    queries: Mutex<KnownQueries>,
}

#[derive(Default)]
struct KnownQueries {
    embeddings: HashMap<u64, Embedding>,
    /// The oldest first.
    order: VecDeque<u64>,
}

impl EmbeddedTools {
    /// Embeds all tools that there are, and again whenever that changes. None: there is no registry any more.
    pub(crate) fn start<C: Clone + Send + 'static>(
        embedder: Arc<dyn Embedder>,
        tools: impl Fn() -> Option<Vec<Arc<Tool>>> + Send + Sync + 'static,
        changes: broadcast::Receiver<C>,
    ) -> Arc<Self> {
        let embedded = Arc::new(Self {
            embedder,
            queries: Mutex::default(),
        });
        tokio::spawn(embedded.clone().follow(tools, changes));
        embedded
    }

    async fn follow<C: Clone>(
        self: Arc<Self>,
        tools: impl Fn() -> Option<Vec<Arc<Tool>>>,
        mut changes: broadcast::Receiver<C>,
    ) {
        let mut known = HashMap::new();
        while let Some(tools) = tools() {
            let is_done = self.embed_all(tools, &mut known).await;
            tokio::select! {
                change = changes.recv() => {
                    if matches!(change, Err(RecvError::Closed)) {
                        return;
                    }
                    sleep(DEBOUNCE).await;
                    changes = changes.resubscribe();
                }
                () = sleep(RETRY_INTERVAL), if !is_done => {}
            }
        }
    }

    /// Whether all have theirs.
    async fn embed_all(&self, tools: Vec<Arc<Tool>>, known: &mut HashMap<u64, Embedding>) -> bool {
        if tools.len() < MIN_TOOLS {
            return true;
        }
        let mut missing = Vec::new();
        let mut keys = HashSet::new();
        for tool in &tools {
            let text = tool_text(tool);
            let key = key_of(&text);
            keys.insert(key);
            match known.get(&key) {
                Some(embedding) => tool.set_embedding(embedding.clone()),
                None => missing.push((tool, text, key)),
            }
        }
        known.retain(|key, _| keys.contains(key));
        for batch in missing.chunks(BATCH) {
            let texts: Vec<String> = batch.iter().map(|(_, text, _)| text.clone()).collect();
            let made = timeout(BATCH_TIMEOUT, self.embedder.embed(&texts)).await;
            let Ok(Some(embeddings)) = made else {
                return false;
            };
            for ((tool, _, key), embedding) in batch.iter().zip(embeddings) {
                tool.set_embedding(embedding.clone());
                known.insert(*key, embedding);
            }
        }
        true
    }

    /// Embeds what will be looked for, if that is quick.
    pub(crate) async fn prepare(&self, texts: impl IntoIterator<Item = &str>) {
        let texts = texts.into_iter().map(query_text);
        let missing: Vec<String> = {
            let queries = self.queries();
            texts
                .filter(|text| !queries.embeddings.contains_key(&key_of(text)))
                .collect()
        };
        if missing.is_empty() {
            return;
        }
        let made = timeout(QUERY_TIMEOUT, self.embedder.embed(&missing)).await;
        let Ok(Some(embeddings)) = made else {
            return;
        };
        let mut queries = self.queries();
        for (text, embedding) in missing.iter().zip(embeddings) {
            queries.add(key_of(text), embedding);
        }
    }

    /// The embedding of a text that was prepared.
    pub(crate) fn query(&self, text: &str) -> Option<Embedding> {
        let key = key_of(&query_text(text));
        self.queries().embeddings.get(&key).cloned()
    }

    fn queries(&self) -> MutexGuard<'_, KnownQueries> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownQueries {
    fn add(&mut self, key: u64, embedding: Embedding) {
        if self.embeddings.insert(key, embedding).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MAX_QUERIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.embeddings.remove(&oldest);
        }
    }
}

/// What a tool does, as a person would say it.
fn tool_text(tool: &Tool) -> String {
    let (spec, source) = (&tool.spec, tool.source.info());
    let description = text::block(&spec.description, MAX_DESCRIPTION_CHARS);
    format!("{}: {}\n{description}", source.title, spec.title)
}

fn query_text(query: &str) -> String {
    text::block(query, MAX_QUERY_CHARS)
}

fn key_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl std::fmt::Debug for EmbeddedTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedTools").finish_non_exhaustive()
    }
}
