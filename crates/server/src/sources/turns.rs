//! Who may start servers now: everybody has turns of their own.
//!
//! A start costs a second or more of a processor, so only some are under way at once. But
//! nobody's servers stand in line behind those of somebody else, who may have many that hang.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use tenon_domain::UserId;
use tokio::sync::Semaphore;

use super::lock;

/// Of the servers that all people share.
const SHARED: usize = 4;

/// Of one person's.
const OWN: usize = 2;

pub(super) struct Turns {
    shared: Arc<Semaphore>,
    own: Mutex<BTreeMap<UserId, Weak<Semaphore>>>,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            shared: Arc::new(Semaphore::new(SHARED)),
            own: Mutex::default(),
        }
    }
}

impl Turns {
    /// Where a server of theirs waits. None: it is everybody's.
    pub(super) fn of(&self, user: Option<&UserId>) -> Arc<Semaphore> {
        let Some(user) = user else {
            return self.shared.clone();
        };
        let mut own = lock(&self.own);
        if let Some(turns) = own.get(user).and_then(Weak::upgrade) {
            return turns;
        }
        // Those whose servers are gone are forgotten.
        own.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(OWN));
        own.insert(user.clone(), Arc::downgrade(&turns));
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_the_servers_of_somebody_else() {
        let turns = Turns::default();
        let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
        let hers = turns.of(Some(&ada));
        let taken = hers.clone().try_acquire_many_owned(OWN as u32).unwrap();
        assert_eq!(turns.of(Some(&ada)).available_permits(), 0);
        assert_eq!(turns.of(Some(&bob)).available_permits(), OWN);
        assert_eq!(turns.of(None).available_permits(), SHARED);
        drop((hers, taken));
        turns.of(Some(&bob));
        assert!(!lock(&turns.own).contains_key(&ada));
    }
}
