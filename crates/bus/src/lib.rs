//! Messages between the servers of one cluster, over the publish/subscribe of Redis or Valkey.
//!
//! Each server has one channel of its own and all have one together. A *note* is sent once: it
//! arrives, or the connection was away. A *request* goes to one server by its name and is executed
//! at most once: it is asked for again until there is a reply, and whoever executes it knows it by
//! its id. Nothing is stored in Redis, so nothing is lost with it; what must not be missed is in
//! the database.
//!
//! Everything has a bound: the queue of what goes out, how many requests run, and how long a
//! message may be. A body that is longer than one message is fetched in parts by its receiver, so
//! that nobody is sent more than it reads.

mod address;
mod connection;
mod envelope;
mod inbox;
mod json_batches;
mod lock;
mod peers;
mod requests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

pub use address::{BusAddress, BusAddressError};
pub use json_batches::json_batches;
pub use requests::BusError;

use connection::OutgoingMessage;
use envelope::{Header, MessageKind};
use inbox::Inbox;
use peers::Peers;
use requests::Requests;

/// The longest body of one message.
pub const MAX_NOTE_BYTES: usize = 256 * 1024;

/// The longest body of a request or a reply, in parts.
pub const MAX_BODY_BYTES: usize = 48 * 1024 * 1024;

/// How many messages wait to be sent, and how many bytes of them, before more are dropped.
const OUTBOX_MESSAGES: usize = 4096;
const OUTBOX_BYTES: usize = 64 * 1024 * 1024;

/// Whether messages go out and come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusState {
    /// There is none: this server is alone.
    Alone,
    /// Notes sent now may be lost, and so may those of others.
    Away,
    Connected,
}

/// A message that is sent once.
#[derive(Debug, Clone)]
pub struct Note {
    /// The server that sent it.
    pub from: Arc<str>,
    pub body: Bytes,
}

/// What another server asks for.
#[derive(Debug, Clone)]
pub struct IncomingRequest {
    pub from: Arc<str>,
    pub body: Bytes,
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bus(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    name: Arc<str>,
    channels: ChannelNames,
    state: watch::Sender<BusState>,
    outbox: mpsc::Sender<OutgoingMessage>,
    /// What of [`OUTBOX_BYTES`] is free.
    outbox_room: Arc<Semaphore>,
    inbox: Inbox,
    requests: Requests,
    peers: Peers,
}

/// The names of the channels.
#[derive(Debug)]
struct ChannelNames {
    prefix: String,
}

impl ChannelNames {
    fn all(&self) -> String {
        format!("{}:all", self.prefix)
    }

    fn of(&self, server: &str) -> String {
        format!("{}:to:{server}", self.prefix)
    }
}

impl Bus {
    /// For a server that is the only one.
    pub fn alone() -> Self {
        Self(None)
    }

    /// Connects in the background, and again whenever the connection is lost. `cluster` keeps those apart who
    /// share a Redis; `name` is this server's, and nobody else's ever.
    pub fn start(address: &BusAddress, cluster: &str, name: &str) -> Self {
        let (inner, outgoing) = Inner::new(cluster, name);
        tokio::spawn(connection::run(
            address.clone(),
            Arc::downgrade(&inner),
            outgoing,
        ));
        tokio::spawn(peers::run_heartbeats(Arc::downgrade(&inner)));
        Self(Some(inner))
    }

    pub fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    pub fn is_connected(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.is_connected())
    }

    pub fn state(&self) -> watch::Receiver<BusState> {
        match &self.0 {
            Some(inner) => inner.state.subscribe(),
            None => watch::channel(BusState::Alone).1,
        }
    }

    /// The other servers that were heard of lately.
    pub fn peers(&self) -> watch::Receiver<BTreeSet<Arc<str>>> {
        match &self.0 {
            Some(inner) => inner.peers.watch(),
            None => watch::channel(BTreeSet::new()).1,
        }
    }

    /// Sends a note to one server. False: it is certain that it does not arrive.
    pub fn notify(&self, server: &str, topic: &'static str, body: Vec<u8>) -> bool {
        match &self.0 {
            Some(inner) if body.len() <= MAX_NOTE_BYTES => {
                let channel = inner.channels.of(server);
                inner.send(channel, inner.header(topic, MessageKind::Note), body.into())
            }
            Some(_) | None => false,
        }
    }

    /// Sends a note to all other servers.
    pub fn broadcast(&self, topic: &'static str, body: Vec<u8>) -> bool {
        match &self.0 {
            Some(inner) if body.len() <= MAX_NOTE_BYTES => {
                let channel = inner.channels.all();
                inner.send(channel, inner.header(topic, MessageKind::Note), body.into())
            }
            Some(_) | None => false,
        }
    }

    /// The notes of a topic from now on, none where there is no bus; there is one receiver for each
    /// topic. What it does not read in time is dropped.
    pub fn notes(&self, topic: &'static str, queue: usize) -> mpsc::Receiver<Note> {
        let (sender, receiver) = mpsc::channel(queue);
        if let Some(inner) = &self.0 {
            inner.inbox.take_notes(topic, sender);
        }
        receiver
    }

    /// Answers the requests of a topic. Whoever asked may go away: then the future is dropped. The
    /// bus keeps the handler, so that it must not own what owns the bus.
    pub fn serve<F>(
        &self,
        topic: &'static str,
        handler: impl Fn(IncomingRequest) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Vec<u8>> + Send + 'static,
    {
        if let Some(inner) = &self.0 {
            let handler = Box::new(move |request| {
                let answer: requests::ReplyFuture = Box::pin(handler(request));
                answer
            });
            inner.inbox.take_requests(topic, handler);
        }
    }

    /// Asks one server and waits for its reply. Dropping the future tells it that nobody waits any more.
    pub async fn request(
        &self,
        server: &str,
        topic: &'static str,
        body: Vec<u8>,
        deadline: Duration,
    ) -> Result<Bytes, BusError> {
        let inner = self.0.as_ref().ok_or(BusError::Away)?;
        requests::ask(inner, server, topic, body.into(), deadline).await
    }

    /// Tells the others that this server ends.
    pub async fn leave(&self) {
        if let Some(inner) = &self.0 {
            let header = inner.header("", MessageKind::Goodbye);
            inner.send(inner.channels.all(), header, Bytes::new());
            connection::flush(inner).await;
        }
    }
}

impl Inner {
    fn new(cluster: &str, name: &str) -> (Arc<Self>, mpsc::Receiver<OutgoingMessage>) {
        let (outbox, outgoing) = mpsc::channel(OUTBOX_MESSAGES);
        let inner = Self {
            name: name.into(),
            channels: ChannelNames {
                prefix: format!("tenon:{cluster}"),
            },
            state: watch::Sender::new(BusState::Away),
            outbox,
            outbox_room: Arc::new(Semaphore::new(OUTBOX_BYTES)),
            inbox: Inbox::default(),
            requests: Requests::default(),
            peers: Peers::default(),
        };
        (Arc::new(inner), outgoing)
    }

    fn is_connected(&self) -> bool {
        *self.state.borrow() == BusState::Connected
    }

    fn header(&self, topic: &str, kind: MessageKind) -> Header {
        Header {
            from: self.name.clone(),
            topic: topic.into(),
            kind,
        }
    }

    fn send(&self, channel: String, header: Header, body: Bytes) -> bool {
        if !self.is_connected() {
            return false;
        }
        let Some(message) = envelope::write(&header, &body) else {
            return false;
        };
        let is_sent = self.room_for(&message).is_some_and(|room| {
            let publish = OutgoingMessage::Publish {
                channel,
                message,
                room,
            };
            self.outbox.try_send(publish).is_ok()
        });
        if !is_sent {
            tracing::warn!("the bus takes no more messages for now; one was dropped");
        }
        is_sent
    }

    /// Reserves a message's bytes of the outbox, until it is sent. None: the outbox is full.
    fn room_for(&self, message: &Bytes) -> Option<OwnedSemaphorePermit> {
        let length = u32::try_from(message.len()).ok()?;
        let room = self.outbox_room.clone().try_acquire_many_owned(length);
        room.ok()
    }

    fn answer(&self, to: &str, kind: MessageKind, body: Bytes) -> bool {
        self.send(self.channels.of(to), self.header("", kind), body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_to_be_sent_is_bounded_by_its_bytes() {
        let (inner, mut outgoing) = Inner::new("test", "a");
        inner.state.send_replace(BusState::Connected);
        let send = || inner.answer("b", MessageKind::Note, vec![0; MAX_NOTE_BYTES].into());
        let mut sent = 0;
        while send() {
            sent += 1;
        }
        assert_eq!(sent, OUTBOX_BYTES / MAX_NOTE_BYTES - 1, "each has a header");
        drop(outgoing.try_recv().unwrap());
        assert!(send());
        assert!(!send());
        while outgoing.try_recv().is_ok() {}
        assert_eq!(inner.outbox_room.available_permits(), OUTBOX_BYTES);
    }
}
