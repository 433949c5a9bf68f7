//! The resources that clients subscribed to.
//!
//! Clients do not always say that they are gone, so a resource is watched until it is the oldest of
//! too many.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use tenon_tools::ResourceWatch;

/// For all clients of one user, or of one server of the bridge.
const MAX_WATCHED: usize = 64;

/// By whom clients belong to.
#[derive(Debug)]
pub(crate) struct ResourceWatches<K>(Mutex<HashMap<K, VecDeque<(String, ResourceWatch)>>>);

impl<K> Default for ResourceWatches<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq> ResourceWatches<K> {
    pub(crate) fn add(&self, owner: K, uri: &str, watch: ResourceWatch) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = owners.entry(owner).or_default();
        watched.retain(|(known, _)| known != uri);
        watched.push_back((uri.to_owned(), watch));
        if watched.len() > MAX_WATCHED {
            watched.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_resource_is_watched_once_and_never_too_many_are() {
        let watching = Arc::new(AtomicUsize::new(0));
        let watch = || {
            watching.fetch_add(1, Ordering::Relaxed);
            let ended = watching.clone();
            ResourceWatch::new(move || {
                ended.fetch_sub(1, Ordering::Relaxed);
            })
        };
        let count = || watching.load(Ordering::Relaxed);
        let (watches, ada) = (ResourceWatches::default(), "ada");
        watches.add(ada, "a:1", watch());
        watches.add(ada, "a:1", watch());
        assert_eq!(count(), 1);
        for number in 0..100 {
            watches.add(ada, &format!("a:{number}"), watch());
        }
        assert_eq!(count(), MAX_WATCHED);
    }
}
