//! The status of a server: its supervisor writes it, everybody reads it from memory.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// A status for those who show it, the tools it offers, and whether calls can be made.
pub(crate) struct StatusCell<S, O, A> {
    inner: Mutex<Inner<S, O>>,
    availability: watch::Sender<A>,
    changes: watch::Sender<u64>,
}

pub(crate) struct Inner<S, O> {
    pub(crate) status: S,
    pub(crate) offer: Arc<O>,
}

impl<S: Clone + PartialEq, O, A: Clone> StatusCell<S, O, A> {
    pub(crate) fn from_parts(status: S, offer: O, availability: A) -> Self {
        let offer = Arc::new(offer);
        Self {
            inner: Mutex::new(Inner { status, offer }),
            availability: watch::Sender::new(availability),
            changes: watch::Sender::new(0),
        }
    }

    pub(crate) fn status(&self) -> S {
        self.read(S::clone)
    }

    /// A part of the status.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&S) -> T) -> T {
        self.with(|inner| read(&inner.status))
    }

    pub(crate) fn offer(&self) -> Arc<O> {
        self.with(|inner| inner.offer.clone())
    }

    /// Counts up whenever the status has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn availability(&self) -> A {
        self.availability.borrow().clone()
    }

    pub(crate) fn watch_availability(&self) -> watch::Receiver<A> {
        self.availability.subscribe()
    }

    /// The status first: a call that becomes possible finds the status true.
    pub(crate) fn set(&self, availability: A, change: impl FnOnce(&mut S)) {
        self.update(change);
        self.set_availability(availability);
    }

    pub(crate) fn set_availability(&self, availability: A) {
        self.availability.send_replace(availability);
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut S)) {
        self.update_all(|inner| change(&mut inner.status));
    }

    /// Nobody is notified of what stays as it was.
    pub(crate) fn update_all(&self, change: impl FnOnce(&mut Inner<S, O>)) {
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
