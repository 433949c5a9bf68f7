//! Routes notes and requests to the receiver of each topic.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::envelope::Header;
use crate::lock::lock;
use crate::requests::ReplyFuture;
use crate::{IncomingRequest, Note};

pub(crate) type TopicHandler = Box<dyn Fn(IncomingRequest) -> ReplyFuture + Send + Sync>;

#[derive(Default)]
pub(crate) struct Inbox {
    notes: Mutex<HashMap<&'static str, mpsc::Sender<Note>>>,
    handlers: Mutex<HashMap<&'static str, Arc<TopicHandler>>>,
}

impl Inbox {
    pub(crate) fn take_notes(&self, topic: &'static str, receiver: mpsc::Sender<Note>) {
        lock(&self.notes).insert(topic, receiver);
    }

    pub(crate) fn take_requests(&self, topic: &'static str, handler: TopicHandler) {
        lock(&self.handlers).insert(topic, Arc::new(handler));
    }

    /// Delivers a note. If the receiver's queue is full it is dropped, like a message lost on the
    /// way.
    pub(crate) fn deliver(&self, header: &Header, body: Bytes) {
        let note = Note {
            from: header.from.clone(),
            body,
        };
        if let Some(receiver) = lock(&self.notes).get(&*header.topic)
            && receiver.try_send(note).is_err()
        {
            tracing::debug!(topic = &*header.topic, "a note of the bus was dropped");
        }
    }

    pub(crate) fn handler(&self, topic: &str) -> Option<Arc<TopicHandler>> {
        lock(&self.handlers).get(topic).cloned()
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").finish_non_exhaustive()
    }
}
