//! Cache of facts about model servers, such as the context size. They are read again now and then,
//! because a server may be restarted with other settings.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tenon_llm::{Remote, ServerFacts};

use crate::lock::lock;

/// The steps of a turn ask once. A server that was started anew is noticed with the next turn.
const MAX_AGE: Duration = Duration::from_secs(10);

/// By address and model.
const MAX_ENTRIES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct ServerFactsCache {
    entries: Mutex<HashMap<(String, String), CachedFacts>>,
}

#[derive(Debug, Clone, Copy)]
struct CachedFacts {
    facts: ServerFacts,
    read_at: Instant,
}

impl ServerFactsCache {
    /// With what its server says: a context that somebody set counts where it is the smaller one.
    pub(super) async fn complete(&self, remote: Remote) -> Remote {
        let facts = self.get(&remote).await;
        let context = [facts.context_tokens, remote.context_tokens];
        Remote {
            context_tokens: context.into_iter().flatten().min(),
            reports_progress: facts.reports_progress,
            ..remote
        }
    }

    /// Reads the facts of a model's server. If it does not answer now, the last known facts are
    /// used.
    async fn get(&self, remote: &Remote) -> ServerFacts {
        let key = (remote.base_url.clone(), remote.model.clone());
        let known = self.lock().get(&key).copied();
        if let Some(known) = known
            && known.read_at.elapsed() < MAX_AGE
        {
            return known.facts;
        }
        let facts = ServerFacts::read(remote).await;
        let facts = facts.or(known.map(|known| known.facts)).unwrap_or_default();
        let mut entries = self.lock();
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        let read_at = Instant::now();
        entries.insert(key, CachedFacts { facts, read_at });
        facts
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), CachedFacts>> {
        lock(&self.entries)
    }
}
