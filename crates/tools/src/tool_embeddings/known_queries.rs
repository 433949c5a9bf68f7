//! Cache of recent queries, by the hash of their text, and the tools near them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::RETRY_INTERVAL;
use super::embedded_tools::NearTools;
use crate::embedding::Embedding;

/// How many are remembered.
const MAX_QUERIES: usize = 512;

/// How long words decide once they had to: longer than providers keep a prompt that begins with
/// the list of tools which they chose.
const WORDS_PERIOD: Duration = Duration::from_secs(60 * 60);

#[derive(Default)]
pub(super) struct KnownQueries {
    entries: HashMap<u64, KnownQuery>,
    /// The oldest first.
    order: VecDeque<u64>,
    /// Until then no search waits for the embedding model, because it was unreachable or slow.
    paused_until: Option<Instant>,
}

#[derive(Default)]
struct KnownQuery {
    /// None: it did not come, or not yet.
    result: Option<QueryResult>,
    /// Until then it is ranked by words alone, even if its embedding arrives: all steps of a turn are
    /// offered the same tools.
    words_until: Option<Instant>,
}

pub(super) enum QueryResult {
    /// The model does not take the text.
    Rejected,
    Compared {
        embedding: Embedding,
        /// Of the tools that it was compared with.
        generation: u64,
        near: Arc<NearTools>,
    },
}

/// What is left to do for a text.
pub(super) enum Lookup {
    /// Nothing: it was compared, rejected, or is ranked by words.
    Settled,
    /// Its embedding is known, but the tools have changed since it was compared.
    Compare(Embedding),
    /// The model has to be asked.
    Embed,
    /// It would have to be embedded, but the model failed or was slow lately: searches do not wait
    /// for it.
    Paused,
}

impl KnownQueries {
    pub(super) fn look_up(&self, key: u64, generation: u64) -> Lookup {
        let known = self.entries.get(&key);
        match known.and_then(|known| known.result.as_ref()) {
            _ if known.is_some_and(KnownQuery::is_by_words) => Lookup::Settled,
            Some(QueryResult::Compared {
                embedding,
                generation: compared_with,
                ..
            }) if *compared_with != generation => Lookup::Compare(embedding.clone()),
            Some(QueryResult::Compared { .. } | QueryResult::Rejected) => Lookup::Settled,
            None if self.is_paused() => Lookup::Paused,
            None => Lookup::Embed,
        }
    }

    pub(super) fn near(&self, key: u64) -> Option<Arc<NearTools>> {
        let known = self
            .entries
            .get(&key)
            .filter(|known| !known.is_by_words())?;
        match &known.result {
            Some(QueryResult::Compared { near, .. }) => Some(near.clone()),
            Some(QueryResult::Rejected) | None => None,
        }
    }

    /// A result that comes late counts once words have decided for long enough.
    pub(super) fn add(&mut self, key: u64, result: QueryResult) {
        self.entry(key).result = Some(result);
    }

    /// Ranks it by words for [`WORDS_PERIOD`], unless its embedding has arrived.
    pub(super) fn decide_by_words(&mut self, key: u64) {
        let known = self.entry(key);
        if known.result.is_none() {
            known.words_until = Some(Instant::now() + WORDS_PERIOD);
        }
    }

    pub(super) fn pause(&mut self) {
        self.paused_until = Some(Instant::now() + RETRY_INTERVAL);
    }

    fn is_paused(&self) -> bool {
        let until = self.paused_until;
        until.is_some_and(|until| Instant::now() < until)
    }

    fn entry(&mut self, key: u64) -> &mut KnownQuery {
        if !self.entries.contains_key(&key) {
            self.order.push_back(key);
        }
        if self.order.len() > MAX_QUERIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
        self.entries.entry(key).or_default()
    }
}

impl KnownQuery {
    fn is_by_words(&self) -> bool {
        let until = self.words_until;
        until.is_some_and(|until| Instant::now() < until)
    }
}
