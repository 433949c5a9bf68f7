//! A cache of rows that is valid while nothing of its topic has changed.
//!
//! The version is noted before the rows are read: what was read while somebody wrote is never
//! found again. While the version is not known every value is read anew. Two generations bound it:
//! what is asked for survives, however many keys that nobody has are tried meanwhile.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Result;
use crate::changes::{ChangeTopic, Changes};

pub(crate) struct VersionedCache<K, V> {
    topic: ChangeTopic,
    /// Entries per generation; two generations are kept.
    capacity: usize,
    generations: Mutex<Generations<K, V>>,
}

struct Generations<K, V> {
    /// The version that all entries were read at.
    version: u64,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Eq + Hash, V: Clone> VersionedCache<K, V> {
    pub(crate) fn new(topic: ChangeTopic, capacity: usize) -> Self {
        Self {
            topic,
            capacity,
            generations: Mutex::new(Generations {
                version: 0,
                young: HashMap::new(),
                old: HashMap::new(),
            }),
        }
    }

    /// Returns the cached value, or loads it. The query's future is boxed, because it takes
    /// kilobytes and callers that hit the cache should not carry it.
    pub(crate) async fn get_or_load<F: Future<Output = Result<V>>>(
        &self,
        changes: &Changes,
        key: K,
        load: impl FnOnce() -> F,
    ) -> Result<V> {
        let Some(version) = changes.version(self.topic) else {
            return Box::pin(load()).await;
        };
        let key = match self.get(version, key) {
            Ok(value) => return Ok(value),
            Err(key) => key,
        };
        let value = Box::pin(load()).await?;
        self.insert(version, key, value.clone());
        Ok(value)
    }

    /// Gives the key back where there is no value.
    fn get(&self, version: u64, key: K) -> std::result::Result<V, K> {
        let mut generations = self.lock();
        if generations.version != version {
            return Err(key);
        }
        if let Some(value) = generations.young.get(&key) {
            return Ok(value.clone());
        }
        match generations.old.remove(&key) {
            Some(value) => {
                generations.put(self.capacity, key, value.clone());
                Ok(value)
            }
            None => Err(key),
        }
    }

    fn insert(&self, version: u64, key: K, value: V) {
        let mut generations = self.lock();
        if generations.version < version {
            generations.version = version;
            generations.young.clear();
            generations.old.clear();
        }
        // Otherwise it was read before something changed.
        if generations.version == version {
            generations.put(self.capacity, key, value);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Generations<K, V>> {
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, V> Generations<K, V> {
    fn put(&mut self, capacity: usize, key: K, value: V) {
        if self.young.len() >= capacity {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

impl<K, V> fmt::Debug for VersionedCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the entries: they are of people's credentials.
        f.debug_struct("VersionedCache")
            .field("topic", &self.topic)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::StoreChange;

    struct Reads {
        cache: VersionedCache<u32, u32>,
        changes: Changes,
        count: AtomicUsize,
    }

    impl Reads {
        fn new() -> Self {
            Self {
                cache: VersionedCache::new(ChangeTopic::Accounts, 2),
                changes: Changes::default(),
                count: AtomicUsize::new(0),
            }
        }

        async fn read(&self, key: u32) -> usize {
            let load = || async {
                self.count.fetch_add(1, Ordering::SeqCst);
                Ok(key * 10)
            };
            let value = self.cache.get_or_load(&self.changes, key, load).await;
            assert_eq!(value.unwrap(), key * 10);
            self.count.load(Ordering::SeqCst)
        }
    }

    #[tokio::test]
    async fn a_value_is_read_once_for_each_version() {
        let reads = Reads::new();
        assert_eq!(reads.read(1).await, 1);
        assert_eq!(reads.read(1).await, 1);
        reads.changes.publish(StoreChange::Models);
        assert_eq!(reads.read(1).await, 1);
        reads.changes.publish(StoreChange::Accounts(None));
        assert_eq!(reads.read(1).await, 2);
        assert_eq!(reads.read(1).await, 2);
    }

    #[tokio::test]
    async fn a_value_is_read_every_time_while_changes_of_others_do_not_arrive() {
        let reads = Reads::new();
        assert_eq!(reads.read(1).await, 1);
        reads.changes.set_connected(false);
        assert_eq!(reads.read(1).await, 2);
        assert_eq!(reads.read(1).await, 3);
        reads.changes.publish(StoreChange::Accounts(None));
        reads.changes.set_connected(true);
        assert_eq!(reads.read(1).await, 4);
        assert_eq!(reads.read(1).await, 4);
    }

    #[tokio::test]
    async fn what_was_read_while_somebody_wrote_is_read_again() {
        let reads = Reads::new();
        let load = || async {
            reads.changes.publish(StoreChange::Accounts(None));
            Ok(1)
        };
        let raced = reads.cache.get_or_load(&reads.changes, 1, load).await;
        assert_eq!(raced.unwrap(), 1);
        assert_eq!(reads.read(1).await, 1);
    }

    #[tokio::test]
    async fn what_is_asked_for_survives_a_flood_of_other_keys() {
        let reads = Reads::new();
        reads.read(0).await;
        for key in 1..100 {
            assert_eq!(reads.read(key).await as u32, key + 1);
            assert_eq!(reads.read(0).await as u32, key + 1);
        }
        let generations = reads.cache.lock();
        assert!(generations.young.len() + generations.old.len() <= 4);
    }
}
