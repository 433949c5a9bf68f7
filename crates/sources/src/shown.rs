//! What is known about a server at this moment. Whoever looks after it writes
//! it, everybody reads it from memory.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// A status for those who show it, what is offered, and the door that calls come to.
pub(crate) struct Shown<S, O, D> {
    inner: Mutex<Inner<S, O>>,
    door: watch::Sender<D>,
    changes: watch::Sender<u64>,
}

pub(crate) struct Inner<S, O> {
    pub(crate) status: S,
    pub(crate) offer: Arc<O>,
}

impl<S: Clone + PartialEq, O, D: Clone> Shown<S, O, D> {
    pub(crate) fn of(status: S, offer: O, door: D) -> Self {
        let offer = Arc::new(offer);
        Self {
            inner: Mutex::new(Inner { status, offer }),
            door: watch::Sender::new(door),
            changes: watch::Sender::new(0),
        }
    }

    pub(crate) fn status(&self) -> S {
        self.look(S::clone)
    }

    /// A part of the status.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&S) -> T) -> T {
        self.with(|inner| at(&inner.status))
    }

    pub(crate) fn offer(&self) -> Arc<O> {
        self.with(|inner| inner.offer.clone())
    }

    /// Counts up whenever the status has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn door(&self) -> D {
        self.door.borrow().clone()
    }

    pub(crate) fn watch_door(&self) -> watch::Receiver<D> {
        self.door.subscribe()
    }

    /// The door turns after the status: who comes through finds the status true.
    pub(crate) fn turn(&self, door: D, change: impl FnOnce(&mut S)) {
        self.change(change);
        self.swing(door);
    }

    /// The door alone, where the status is what it was.
    pub(crate) fn swing(&self, door: D) {
        self.door.send_replace(door);
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut S)) {
        self.change_all(|inner| change(&mut inner.status));
    }

    /// What stays as it was is told to nobody.
    pub(crate) fn change_all(&self, change: impl FnOnce(&mut Inner<S, O>)) {
        let is_new = self.with(|inner| {
            let before = inner.status.clone();
            change(inner);
            inner.status != before
        });
        if is_new {
            self.changes.send_modify(|times| *times += 1);
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner<S, O>) -> T) -> T {
        work(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
