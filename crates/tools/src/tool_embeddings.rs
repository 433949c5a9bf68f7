//! The embeddings of the tools that everybody has, and of what was looked for last.
//!
//! Tools are embedded in the background, batch after batch, and kept for as long as there is one with that
//! text. Those of one person are not: nobody else decides where their texts go.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tenon_domain::{ToolId, text};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, broadcast};
use tokio::time::{sleep, timeout};

use crate::catalog::Tool;
use crate::embedding::{Embedder, EmbedderError, Embedding};

/// Fewer tools than this are all told to a model; nothing is searched.
const MIN_TOOLS: usize = 64;

/// How many texts go into one request.
const BATCH_TEXTS: usize = 64;

/// Where so many texts are refused one after the other and none is taken, they are not to blame.
const MAX_REFUSALS: usize = 8;

/// A small machine embeds a batch in this time.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Sources that start together change the catalog many times.
const DEBOUNCE: Duration = Duration::from_secs(1);

/// How soon it is tried again where no vectors come, or not in time.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// A turn and a search wait so long for the vector of what is looked for; without it words must do. It may
/// come a little later, for the next time.
const QUERY_WAIT: Duration = Duration::from_millis(1500);
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// How many requests are under way at once; others make do with words.
const MAX_RUNNING_QUERIES: usize = 16;

/// How many are remembered.
const MAX_QUERIES: usize = 512;

/// How much is embedded of each: models read a few hundred words.
const MAX_QUERY_CHARS: usize = 1_000;
const MAX_TITLE_CHARS: usize = 100;
const MAX_DESCRIPTION_CHARS: usize = 600;

/// How many of the nearest tools are kept.
const MAX_NEAREST: usize = 100;

/// A tool is near whose similarity stands out of all others' by so many standard deviations. The
/// rest is in an order, too, that means nothing.
const MIN_DEVIATIONS: f32 = 2.5;

pub(crate) struct ToolEmbeddings {
    embedder: Arc<dyn Embedder>,
    tools: ArcSwap<EmbeddedTools>,
    queries: Mutex<KnownQueries>,
    running: Semaphore,
}

/// The tools that have theirs.
#[derive(Default)]
struct EmbeddedTools {
    /// Another one means other embeddings.
    generation: u64,
    embeddings: Vec<(ToolId, Embedding)>,
}

#[derive(Default)]
struct KnownQueries {
    entries: HashMap<u64, KnownQuery>,
    /// The oldest first.
    order: VecDeque<u64>,
    /// Nobody waits before: the model was away or slow.
    paused_until: Option<Instant>,
}

#[derive(Clone)]
struct KnownQuery {
    /// None: the model does not take it.
    embedding: Option<Embedding>,
    /// Of which generation of tools.
    generation: u64,
    /// The best first.
    nearest: Arc<[ToolId]>,
}

/// By the hash of the text. None: the model does not take it.
type KnownTexts = HashMap<u64, Option<Embedding>>;

impl ToolEmbeddings {
    /// Embeds the tools that there are, and again whenever that changes. None: there is no registry any more.
    pub(crate) fn start<C: Clone + Send + 'static>(
        embedder: Arc<dyn Embedder>,
        tools: impl Fn() -> Option<Vec<Arc<Tool>>> + Send + Sync + 'static,
        changes: broadcast::Receiver<C>,
    ) -> Arc<Self> {
        let embeddings = Arc::new(Self {
            embedder,
            tools: ArcSwap::default(),
            queries: Mutex::default(),
            running: Semaphore::new(MAX_RUNNING_QUERIES),
        });
        tokio::spawn(embeddings.clone().follow(tools, changes));
        embeddings
    }

    async fn follow<C: Clone>(
        self: Arc<Self>,
        tools: impl Fn() -> Option<Vec<Arc<Tool>>>,
        mut changes: broadcast::Receiver<C>,
    ) {
        let mut known = KnownTexts::new();
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

    /// Whether all were tried.
    async fn embed_all(&self, tools: Vec<Arc<Tool>>, known: &mut KnownTexts) -> bool {
        if tools.len() < MIN_TOOLS {
            return true;
        }
        let mut missing = Vec::new();
        let mut keys = HashSet::new();
        let mut tool_keys = Vec::new();
        for tool in &tools {
            let text = tool_text(tool);
            let key = key_of(&text);
            tool_keys.push((&tool.spec.id, key));
            if keys.insert(key) && !known.contains_key(&key) {
                missing.push((key, text));
            }
        }
        known.retain(|key, _| keys.contains(key));
        self.publish(&tool_keys, known);
        let mut batches: Vec<&[(u64, String)]> = missing.chunks(BATCH_TEXTS).rev().collect();
        let mut refused = Vec::new();
        let mut has_any = false;
        while let Some(batch) = batches.pop() {
            let texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            let made = timeout(BATCH_TIMEOUT, self.embedder.embed_tools(&texts)).await;
            match made.unwrap_or(Err(EmbedderError::Away)) {
                Ok(made) => {
                    has_any = true;
                    let keys = batch.iter().map(|(key, _)| *key);
                    known.extend(keys.zip(made.into_iter().map(Some)));
                    self.publish(&tool_keys, known);
                }
                // One of them is to blame: the others have theirs without it.
                Err(EmbedderError::Refused) if batch.len() > 1 => {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    batches.extend([second, first]);
                }
                Err(EmbedderError::Refused) => {
                    refused.extend(batch.iter().map(|(key, _)| *key));
                    if !has_any && refused.len() >= MAX_REFUSALS {
                        return false;
                    }
                }
                Err(EmbedderError::Away) => return false,
            }
        }
        known.extend(refused.into_iter().map(|key| (key, None)));
        true
    }

    fn publish(&self, tools: &[(&ToolId, u64)], known: &KnownTexts) {
        let embeddings = tools
            .iter()
            .filter_map(|(id, key)| Some(((*id).clone(), known.get(key)?.clone()?)));
        let embeddings: Vec<(ToolId, Embedding)> = embeddings.collect();
        let before = self.tools.load();
        if before.embeddings != embeddings {
            self.tools.store(Arc::new(EmbeddedTools {
                generation: before.generation + 1,
                embeddings,
            }));
        }
    }

    /// Looks which tools are near a text, if that is quick.
    pub(crate) async fn prepare(self: &Arc<Self>, text: &str) {
        let text = query_text(text);
        let tools = self.tools.load_full();
        if tools.embeddings.is_empty() || text.is_empty() {
            return;
        }
        let known = self.queries().entries.get(&key_of(&text)).cloned();
        let known = match known {
            Some(known) if known.generation == tools.generation => return,
            Some(KnownQuery { embedding, .. }) => match embedding {
                Some(embedding) => Some(embedding),
                None => return,
            },
            None if self.queries().is_paused() => return,
            None => None,
        };
        // It ends even where nobody waits so long: its model is paid for it.
        let search = tokio::spawn(self.clone().search(text, known, tools));
        if timeout(QUERY_WAIT, search).await.is_err() {
            self.queries().pause();
        }
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
        let embedding = match known {
            Some(known) => Ok(known),
            None => {
                let made = timeout(QUERY_TIMEOUT, self.embedder.embed_query(&text)).await;
                made.unwrap_or(Err(EmbedderError::Away))
            }
        };
        let embedding = match embedding {
            Ok(embedding) => Some(embedding),
            Err(EmbedderError::Refused) => None,
            Err(EmbedderError::Away) => return self.queries().pause(),
        };
        let searched = tokio::task::spawn_blocking(move || KnownQuery {
            nearest: embedding
                .as_ref()
                .map(|embedding| tools.nearest(embedding))
                .unwrap_or_default(),
            generation: tools.generation,
            embedding,
        });
        if let Ok(found) = searched.await {
            self.queries().add(key_of(&text), found);
        }
    }

    /// The tools that are near a text, best first, as far as that is known.
    pub(crate) fn nearest(&self, text: &str) -> Option<Arc<[ToolId]>> {
        let key = key_of(&query_text(text));
        let queries = self.queries();
        queries.entries.get(&key).map(|known| known.nearest.clone())
    }

    fn queries(&self) -> MutexGuard<'_, KnownQueries> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EmbeddedTools {
    fn nearest(&self, query: &Embedding) -> Arc<[ToolId]> {
        let similarities = self
            .embeddings
            .iter()
            .filter_map(|(id, embedding)| Some((embedding.similarity(query)?, id)));
        let mut near: Vec<(f32, &ToolId)> = similarities.collect();
        let threshold = threshold(near.iter().map(|(similarity, _)| *similarity));
        near.retain(|(similarity, _)| *similarity > threshold);
        near.sort_by(|left, right| right.0.total_cmp(&left.0));
        near.truncate(MAX_NEAREST);
        near.into_iter().map(|(_, id)| id.clone()).collect()
    }
}

fn threshold(values: impl ExactSizeIterator<Item = f32> + Clone) -> f32 {
    let count = values.len().max(1) as f32;
    let mean = values.clone().sum::<f32>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f32>() / count;
    mean + MIN_DEVIATIONS * variance.sqrt()
}

impl KnownQueries {
    fn is_paused(&self) -> bool {
        self.paused_until
            .is_some_and(|until| Instant::now() < until)
    }

    fn pause(&mut self) {
        self.paused_until = Some(Instant::now() + RETRY_INTERVAL);
    }

    fn add(&mut self, key: u64, query: KnownQuery) {
        if self.entries.insert(key, query).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MAX_QUERIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }
}

/// What a tool does, as a person would say it.
fn tool_text(tool: &Tool) -> String {
    let (spec, source) = (&tool.spec, tool.source.info());
    let source = text::line(&source.title, MAX_TITLE_CHARS);
    let title = text::line(&spec.title, MAX_TITLE_CHARS);
    let description = text::block(&spec.description, MAX_DESCRIPTION_CHARS);
    format!("{source}: {title}\n{description}")
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
