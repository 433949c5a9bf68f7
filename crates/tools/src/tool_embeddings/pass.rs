//! One pass over the tools: texts that have no embedding yet get one, batch after batch.
//!
//! A batch that the model does not take, or breaks on, is halved until the text that is to blame
//! stands alone, and that one is skipped. One that it does not take is never sent again; one that
//! it broke on is tried in the next pass.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tenon_domain::{ToolId, text};
use tokio::time::timeout;

use super::{EmbeddedTools, MIN_TOOLS, ToolEmbeddings, key_of};
use crate::catalog::Tool;
use crate::embedding::{EmbedderError, Embedding};

/// How many texts go into one request.
const BATCH_TEXTS: usize = 64;

/// Where so many texts in a row get no embedding, they are not to blame.
const MAX_FAILURES: usize = 8;

/// A small machine embeds a batch in this time.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// How much is embedded of each tool: models read a few hundred words.
const MAX_TITLE_CHARS: usize = 100;
const MAX_DESCRIPTION_CHARS: usize = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// All have an embedding, but for texts that the model does not take.
    Complete,
    /// Some may get theirs later.
    Incomplete,
}

/// What is known of texts, by their hashes.
#[derive(Default)]
pub(super) struct KnownTexts {
    /// None: the model does not take it.
    embeddings: HashMap<u64, Option<Embedding>>,
    /// Hashes of texts that made the model fail when they were last sent.
    failed: HashSet<u64>,
}

pub(super) struct ToolText {
    id: ToolId,
    key: u64,
    text: String,
}

impl ToolEmbeddings {
    pub(super) async fn embed_all(&self, tools: &[ToolText], known: &mut KnownTexts) -> PassEnd {
        // A few tools are all offered, and never searched for.
        let tools = if tools.len() < MIN_TOOLS { &[] } else { tools };
        known.retain(tools);
        self.publish(tools, known);
        let end = self.embed_missing(tools, known).await;
        self.publish(tools, known);
        end
    }

    async fn embed_missing(&self, tools: &[ToolText], known: &mut KnownTexts) -> PassEnd {
        let (failed, fresh) = known.missing(tools);
        // Texts that failed before come last, so that they do not delay the others.
        let batches = fresh.chunks(BATCH_TEXTS).chain(failed.chunks(BATCH_TEXTS));
        let mut batches: Vec<&[&ToolText]> = batches.rev().collect();
        let mut rejected = Vec::new();
        let (mut failures, mut has_any) = (0, known.has_any());
        let mut published = known.embeddings.len();
        while let Some(batch) = batches.pop() {
            let texts: Vec<String> = batch.iter().map(|tool| tool.text.clone()).collect();
            let made = timeout(BATCH_TIMEOUT, self.embedder.embed_tools(&texts)).await;
            let error = match made.unwrap_or(Err(EmbedderError::Failed)) {
                Ok(made) => {
                    (failures, has_any) = (0, true);
                    known.add(batch, made);
                    // All are gone through each time: not for each of many batches.
                    if known.embeddings.len() >= 2 * published {
                        published = known.embeddings.len();
                        self.publish(tools, known);
                    }
                    continue;
                }
                Err(error) => error,
            };
            match (error, batch) {
                (EmbedderError::Unavailable, _) => return PassEnd::Incomplete,
                (EmbedderError::Rejected, [tool]) => rejected.push(tool.key),
                (EmbedderError::Failed, [tool]) => {
                    known.failed.insert(tool.key);
                }
                // One text of the batch is to blame, so the batch is split to find it.
                (EmbedderError::Rejected | EmbedderError::Failed, batch) => {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    batches.extend([second, first]);
                    continue;
                }
            }
            failures += 1;
            if failures >= MAX_FAILURES {
                if has_any {
                    known.reject(rejected);
                } else {
                    known.failed.extend(rejected);
                }
                return PassEnd::Incomplete;
            }
        }
        known.reject(rejected);
        if known.failed.is_empty() {
            PassEnd::Complete
        } else {
            PassEnd::Incomplete
        }
    }

    fn publish(&self, tools: &[ToolText], known: &KnownTexts) {
        let embeddings = tools.iter().filter_map(|tool| {
            let embedding = known.embeddings.get(&tool.key)?.clone()?;
            Some((tool.id.clone(), embedding))
        });
        let embeddings: Vec<(ToolId, Embedding)> = embeddings.collect();
        let before = self.tools.load();
        if before.embeddings != embeddings {
            self.tools.store(Arc::new(EmbeddedTools {
                generation: before.generation + 1,
                embeddings,
            }));
        }
    }
}

impl KnownTexts {
    fn retain(&mut self, tools: &[ToolText]) {
        let keys: HashSet<u64> = tools.iter().map(|tool| tool.key).collect();
        self.embeddings.retain(|key, _| keys.contains(key));
        self.failed.retain(|key| keys.contains(key));
    }

    fn has_any(&self) -> bool {
        self.embeddings.values().any(Option::is_some)
    }

    /// One of each text that has no embedding: those that failed, and the others.
    fn missing<'a>(&self, tools: &'a [ToolText]) -> (Vec<&'a ToolText>, Vec<&'a ToolText>) {
        let mut seen = HashSet::new();
        let missing = tools
            .iter()
            .filter(|tool| !self.embeddings.contains_key(&tool.key) && seen.insert(tool.key));
        missing.partition(|tool| self.failed.contains(&tool.key))
    }

    fn add(&mut self, batch: &[&ToolText], made: Vec<Embedding>) {
        for (tool, embedding) in batch.iter().zip(made) {
            self.failed.remove(&tool.key);
            self.embeddings.insert(tool.key, Some(embedding));
        }
    }

    fn reject(&mut self, keys: Vec<u64>) {
        for key in keys {
            self.failed.remove(&key);
            self.embeddings.insert(key, None);
        }
    }
}

pub(super) fn tool_texts(tools: &[Arc<Tool>]) -> Vec<ToolText> {
    let texts = tools.iter().map(|tool| {
        let text = tool_text(tool);
        ToolText {
            id: tool.spec.id.clone(),
            key: key_of(&text),
            text,
        }
    });
    texts.collect()
}

/// What a tool does, as a person would say it.
fn tool_text(tool: &Tool) -> String {
    let (spec, source) = (&tool.spec, tool.source.info());
    let source = text::line(&source.title, MAX_TITLE_CHARS);
    let title = text::line(&spec.title, MAX_TITLE_CHARS);
    let description = text::block(&spec.description, MAX_DESCRIPTION_CHARS);
    format!("{source}: {title}\n{description}")
}
