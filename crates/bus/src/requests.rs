//! Requests to other servers, and those of others to this one.
//!
//! Whoever asks asks again, every two seconds, what has become of it: so a message that was lost
//! with a connection costs two seconds and nothing else. Whoever is asked keeps the id for two
//! minutes after it was executed, and the request is sent again within the first of them only: the
//! same id is never executed twice. What nobody asks for any more is ended.

mod bodies;
mod executed;

use std::collections::HashMap;
use std::future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout_at};
use uuid::Uuid;

use crate::envelope::{BodyOf, Header, MessageKind};
use crate::lock::lock;
use crate::{Inner, MAX_BODY_BYTES, MAX_NOTE_BYTES};
use bodies::BodyFetches;
use executed::ExecutedRequests;
pub(crate) use executed::POLL_TIMEOUT;

const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Half of the time for which an executed request is known by its id.
const RESEND_TIME: Duration = Duration::from_secs(60);

/// A server that is there answers the first of them.
const MAX_UNANSWERED_POLLS: u32 = 4;

/// Of one request: answers to polls that nobody reads are dropped.
const EVENT_QUEUE: usize = 16;

pub(crate) type ReplyFuture = Pin<Box<dyn Future<Output = Vec<u8>> + Send>>;

/// Why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    #[error("there is no bus, or it is away")]
    Away,
    #[error("the other server does not answer")]
    Gone,
    #[error("the other server answers no more such requests for now")]
    Refused,
    #[error("there was no reply in time")]
    TimedOut,
    #[error("it is too long for the bus")]
    TooLong,
}

#[derive(Debug, Default)]
pub(crate) struct Requests {
    pending: Mutex<HashMap<Uuid, PendingReply>>,
    executed: ExecutedRequests,
    fetches: BodyFetches,
}

#[derive(Debug)]
struct PendingReply {
    body: Bytes,
    events: mpsc::Sender<ReplyEvent>,
}

#[derive(Debug)]
enum ReplyEvent {
    Pending,
    Unknown,
    Over,
    Refused,
    Reply(Bytes),
}

/// Removes a request that nobody waits for any more.
struct PendingReplyGuard<'a> {
    inner: &'a Inner,
    server: &'a str,
    id: Uuid,
    is_done: bool,
}

pub(crate) async fn ask(
    inner: &Inner,
    server: &str,
    topic: &'static str,
    body: Bytes,
    deadline: Duration,
) -> Result<Bytes, BusError> {
    if body.len() > MAX_BODY_BYTES {
        return Err(BusError::TooLong);
    }
    let begun = Instant::now();
    let id = Uuid::new_v4();
    let (events, mut received) = mpsc::channel(EVENT_QUEUE);
    let (length, kept) = (body.len(), body.clone());
    lock(&inner.requests.pending).insert(id, PendingReply { body, events });
    let mut guard = PendingReplyGuard {
        inner,
        server,
        id,
        is_done: false,
    };
    let send = || {
        let header = inner.header(topic, MessageKind::Request { id, length });
        let first = if length <= MAX_NOTE_BYTES {
            kept.clone()
        } else {
            Bytes::new()
        };
        inner.send(inner.channels.of(server), header, first)
    };
    if !send() {
        guard.is_done = true;
        return Err(BusError::Away);
    }
    let mut polls = interval_at(begun + POLL_INTERVAL, POLL_INTERVAL);
    // Whoever was paused itself has not asked meanwhile.
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut unanswered, mut was_known) = (0, false);
    let waiting = async {
        loop {
            let event = tokio::select! {
                event = received.recv() => match event {
                    Some(event) => event,
                    // Its sender is in the map for as long as this waits.
                    None => future::pending().await,
                },
                _ = polls.tick() => {
                    if inner.answer(server, MessageKind::Poll { id }, Bytes::new()) {
                        unanswered += 1;
                    }
                    if unanswered > MAX_UNANSWERED_POLLS {
                        return Err(BusError::Gone);
                    }
                    continue;
                }
            };
            unanswered = 0;
            match event {
                ReplyEvent::Reply(body) => return Ok(body),
                ReplyEvent::Refused => return Err(BusError::Refused),
                ReplyEvent::Pending => was_known = true,
                // The request was executed and its reply is gone, or its state is unknown.
                ReplyEvent::Over => return Err(BusError::TimedOut),
                ReplyEvent::Unknown if was_known || begun.elapsed() > RESEND_TIME => {
                    return Err(BusError::TimedOut);
                }
                ReplyEvent::Unknown => drop(send()),
            }
        }
    };
    let replied = timeout_at(begun + deadline, waiting).await;
    match replied {
        Ok(Ok(body)) => {
            guard.is_done = true;
            inner.answer(server, MessageKind::Received { id }, Bytes::new());
            Ok(body)
        }
        Ok(Err(error)) => Err(error),
        Err(_late) => Err(BusError::TimedOut),
    }
}

impl Drop for PendingReplyGuard<'_> {
    fn drop(&mut self) {
        lock(&self.inner.requests.pending).remove(&self.id);
        if !self.is_done {
            let cancel = MessageKind::Cancel { id: self.id };
            self.inner.answer(self.server, cancel, Bytes::new());
        }
    }
}

impl Requests {
    pub(crate) fn receive(
        &self,
        inner: &Arc<Inner>,
        header: &Header,
        kind: MessageKind,
        body: Bytes,
    ) {
        let from = &header.from;
        match kind {
            MessageKind::Request { id, length } => {
                self.executed.begin(inner, header, (id, length), body);
            }
            MessageKind::Poll { id } => {
                let state = self.executed.poll(from, id);
                let (kind, body) = state.unwrap_or((MessageKind::Unknown { id }, Bytes::new()));
                inner.answer(from, kind, body);
            }
            MessageKind::Received { id } => self.executed.forget(from, id),
            MessageKind::Cancel { id } => self.executed.cancel(from, id),
            MessageKind::Pending { id } => self.tell(id, ReplyEvent::Pending),
            MessageKind::Unknown { id } => self.tell(id, ReplyEvent::Unknown),
            MessageKind::Over { id } => self.tell(id, ReplyEvent::Over),
            MessageKind::Refused { id } => self.tell(id, ReplyEvent::Refused),
            MessageKind::Reply { id, length } if length == body.len() => {
                self.tell(id, ReplyEvent::Reply(body));
            }
            MessageKind::Reply { id, length } => self.fetch_reply(inner, from.clone(), id, length),
            MessageKind::Fetch { id, of, offset } => {
                let body = match of {
                    BodyOf::Request => lock(&self.pending).get(&id).map(|asked| asked.body.clone()),
                    BodyOf::Reply => self.executed.reply(from, id),
                };
                if let Some(body) = body.filter(|body| offset < body.len()) {
                    let end = body.len().min(offset + MAX_NOTE_BYTES);
                    inner.answer(
                        from,
                        MessageKind::Part { id, of, offset },
                        body.slice(offset..end),
                    );
                }
            }
            MessageKind::Part { id, of, offset } => self.fetches.receive((id, of), offset, body),
            MessageKind::Note | MessageKind::Hello { .. } | MessageKind::Goodbye => {}
        }
    }

    /// Forgets replies that nobody fetched in time, also where nobody asks for anything any more.
    pub(crate) fn drop_old(&self) {
        self.executed.drop_old();
    }

    pub(crate) fn end_unpolled(&self) {
        self.executed.end_unpolled();
    }

    fn tell(&self, id: Uuid, event: ReplyEvent) {
        if let Some(asked) = lock(&self.pending).get(&id) {
            // A reply that finds the queue full is asked for again.
            let _ = asked.events.try_send(event);
        }
    }

    /// Once at a time: polls answer the same.
    fn fetch_reply(&self, inner: &Arc<Inner>, from: Arc<str>, id: Uuid, length: usize) {
        self.tell(id, ReplyEvent::Pending);
        if !lock(&self.pending).contains_key(&id) {
            return;
        }
        let Some(fetch) = self.fetches.begin((id, BodyOf::Reply)) else {
            return;
        };
        let inner = inner.clone();
        tokio::spawn(async move {
            if let Some(body) = fetch.run(&inner, &from, length).await {
                inner.requests.tell(id, ReplyEvent::Reply(body));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;
    use crate::BusState;

    #[tokio::test(start_paused = true)]
    async fn who_asks_and_is_paused_itself_still_waits_for_the_reply() {
        let (inner, mut outgoing) = Inner::new("test", "a");
        inner.state.send_replace(BusState::Connected);
        let asking = inner.clone();
        let asked = tokio::spawn(async move {
            let deadline = Duration::from_secs(120);
            ask(&asking, "b", "topic", Bytes::new(), deadline).await
        });
        assert!(outgoing.recv().await.is_some(), "the request");
        sleep(POLL_INTERVAL / 2).await;
        advance(POLL_INTERVAL * 10).await;
        sleep(POLL_INTERVAL / 2).await;
        let id = *lock(&inner.requests.pending).keys().next().unwrap();
        inner.requests.tell(id, ReplyEvent::Reply("there".into()));
        assert_eq!(asked.await.unwrap().unwrap(), "there");

        // A server that is not there does not answer however often it is asked.
        let asking = inner.clone();
        let asked = tokio::spawn(async move {
            let deadline = Duration::from_secs(120);
            ask(&asking, "b", "topic", Bytes::new(), deadline).await
        });
        assert_eq!(asked.await.unwrap(), Err(BusError::Gone));
    }
}
