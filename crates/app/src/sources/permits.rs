//! Semaphores for starting servers and parsing documents, one for each user.
//!
//! Either costs a second or more of a processor, so only some run at once. But nobody waits behind
//! somebody else, who may have many that hang.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use tenon_domain::UserId;
use tokio::sync::Semaphore;

use super::lock;

pub(super) struct UserPermits {
    shared: Arc<Semaphore>,
    /// How many one person has.
    limit: usize,
    own: Mutex<BTreeMap<UserId, Weak<Semaphore>>>,
}

impl UserPermits {
    /// To start servers: as many at once as there are cores. More would come up no sooner,
    /// and each of them later.
    pub(super) fn for_starts() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(cores.max(2), cores.div_ceil(2))
    }

    /// To read documents into tools.
    pub(super) fn for_parses() -> Self {
        Self::new(1, 1)
    }

    /// How many there are for what all people share, and how many for each person.
    fn new(shared: usize, own: usize) -> Self {
        Self {
            shared: Arc::new(Semaphore::new(shared)),
            limit: own,
            own: Mutex::default(),
        }
    }

    /// The semaphore of a user; None: of what everybody shares.
    pub(super) fn of(&self, user: Option<&UserId>) -> Arc<Semaphore> {
        let Some(user) = user else {
            return self.shared.clone();
        };
        let mut own = lock(&self.own);
        if let Some(permits) = own.get(user).and_then(Weak::upgrade) {
            return permits;
        }
        // Those whose servers are gone are forgotten.
        own.retain(|_, permits| permits.strong_count() > 0);
        let permits = Arc::new(Semaphore::new(self.limit));
        own.insert(user.clone(), Arc::downgrade(&permits));
        permits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_the_servers_of_somebody_else() {
        let turns = UserPermits::new(4, 2);
        let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
        let hers = turns.of(Some(&ada));
        let taken = hers.clone().try_acquire_many_owned(2).unwrap();
        assert_eq!(turns.of(Some(&ada)).available_permits(), 0);
        assert_eq!(turns.of(Some(&bob)).available_permits(), 2);
        assert_eq!(turns.of(None).available_permits(), 4);
        drop((hers, taken));
        turns.of(Some(&bob));
        assert!(!lock(&turns.own).contains_key(&ada));
    }
}
