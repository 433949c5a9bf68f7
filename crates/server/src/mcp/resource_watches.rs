//! The resources that clients of each user subscribed to.
//!
//! Clients do not always say that they are gone, so a resource is watched until it is the oldest of
//! too many.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use tenon_domain::UserId;
use tenon_tools::ResourceWatch;

/// For all clients of one user.
const MAX_WATCHED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct ResourceWatches(Mutex<HashMap<UserId, VecDeque<(String, ResourceWatch)>>>);

impl ResourceWatches {
    pub(super) fn add(&self, user: &UserId, uri: &str, watch: ResourceWatch) {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = users.entry(user.clone()).or_default();
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
        let (watches, ada) = (ResourceWatches::default(), UserId::new("ada"));
        watches.add(&ada, "a:1", watch());
        watches.add(&ada, "a:1", watch());
        assert_eq!(count(), 1);
        for number in 0..100 {
            watches.add(&ada, &format!("a:{number}"), watch());
        }
        assert_eq!(count(), MAX_WATCHED);
    }
}
