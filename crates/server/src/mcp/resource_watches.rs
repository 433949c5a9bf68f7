//! The resources that clients of each user subscribed to.
//!
//! A session may end without a word, so a subscription counts until it is the oldest of too many.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tenon_domain::UserId;
use tenon_tools::ResourceWatch;

/// For all clients of one user.
const MAX_WATCHED: usize = 256;

#[derive(Debug, Default)]
pub(super) struct ResourceWatches(Mutex<HashMap<UserId, VecDeque<WatchedResource>>>);

#[derive(Debug)]
struct WatchedResource {
    uri: String,
    subscribers: usize,
    _watch: ResourceWatch,
}

impl ResourceWatches {
    pub(super) fn subscribe(&self, user: &UserId, uri: &str, watch: ResourceWatch) {
        let mut users = self.users();
        let watched = users.entry(user.clone()).or_default();
        let known = watched.iter().position(|watched| watched.uri == uri);
        let known = known.and_then(|index| watched.remove(index));
        let subscribers = known.map_or(0, |known| known.subscribers) + 1;
        watched.push_back(WatchedResource {
            uri: uri.to_owned(),
            subscribers,
            _watch: watch,
        });
        if watched.len() > MAX_WATCHED {
            watched.pop_front();
        }
    }

    pub(super) fn unsubscribe(&self, user: &UserId, uri: &str) {
        let mut users = self.users();
        let Some(watched) = users.get_mut(user) else {
            return;
        };
        watched.retain_mut(|watched| {
            if watched.uri == uri {
                watched.subscribers -= 1;
            }
            watched.subscribers > 0
        });
        if watched.is_empty() {
            users.remove(user);
        }
    }

    fn users(&self) -> MutexGuard<'_, HashMap<UserId, VecDeque<WatchedResource>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_resource_is_watched_while_anybody_subscribes_and_never_too_many() {
        let watching = Arc::new(AtomicUsize::new(0));
        let watch = || {
            watching.fetch_add(1, Ordering::Relaxed);
            let ended = watching.clone();
            ResourceWatch::new(move || drop(ended.fetch_sub(1, Ordering::Relaxed)))
        };
        let count = || watching.load(Ordering::Relaxed);
        let (watches, ada) = (ResourceWatches::default(), UserId::new("ada"));
        watches.subscribe(&ada, "a:1", watch());
        watches.subscribe(&ada, "a:1", watch());
        watches.unsubscribe(&ada, "a:1");
        assert_eq!(count(), 1);
        watches.unsubscribe(&ada, "a:1");
        watches.unsubscribe(&ada, "a:1");
        assert_eq!(count(), 0);
        for number in 0..300 {
            watches.subscribe(&ada, &format!("a:{number}"), watch());
        }
        assert_eq!(count(), MAX_WATCHED);
    }
}
