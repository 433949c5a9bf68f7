//! How many programs of skills run at once: of all users together, and of each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tenon_domain::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lock::lock;

/// Of all users together. The next waits; its call has a deadline.
const MAX_PROGRAMS: usize = 32;

/// Limit of one user, so that they cannot block others.
const MAX_OF_USER: usize = 8;

pub(super) struct ProgramSlots {
    all: Arc<Semaphore>,
    users: Mutex<HashMap<UserId, Arc<Semaphore>>>,
}

/// A program may run for as long as this is held.
pub(super) struct ProgramSlot {
    _of_user: Option<OwnedSemaphorePermit>,
    _of_all: Option<OwnedSemaphorePermit>,
}

impl ProgramSlots {
    pub(super) fn new() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MAX_PROGRAMS)),
            users: Mutex::default(),
        }
    }

    pub(super) async fn take(&self, user: &UserId) -> ProgramSlot {
        let own = self.of_user(user);
        // They are never closed.
        let of_user = own.acquire_owned().await.ok();
        let of_all = self.all.clone().acquire_owned().await.ok();
        ProgramSlot {
            _of_user: of_user,
            _of_all: of_all,
        }
    }

    fn of_user(&self, user: &UserId) -> Arc<Semaphore> {
        let mut users = lock(&self.users);
        // Those whose programs have all ended.
        users.retain(|_, own| Arc::strong_count(own) > 1);
        let own = users.entry(user.clone());
        own.or_insert_with(|| Arc::new(Semaphore::new(MAX_OF_USER)))
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn whoever_has_many_programs_keeps_nobody_else_waiting() {
        let slots = ProgramSlots::new();
        let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
        let mut held = Vec::new();
        for _ in 0..MAX_OF_USER {
            held.push(slots.take(&ada).await);
        }
        assert!(slots.take(&ada).now_or_never().is_none());
        assert!(slots.take(&bob).now_or_never().is_some());
        held.pop();
        assert!(slots.take(&ada).now_or_never().is_some());
    }
}
