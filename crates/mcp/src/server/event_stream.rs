//! A response as server-sent events, which its client may lose and come back for (`Last-Event-ID`).

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, Stream};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// Often enough that proxies do not take a stream for dead.
pub(super) const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// How long a client that lost a stream may take to come back for it.
const RESUME_TIME: Duration = Duration::from_secs(60);

/// How soon it should.
const RETRY_MILLIS: u32 = 500;

/// Events kept for a stream without a reader.
const MAX_EVENTS: usize = 512;
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct EventStream {
    number: u64,
    log: Mutex<EventLog>,
    changed: Notify,
    is_attached: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct EventLog {
    /// Events kept for resuming, and the number of the first.
    events: VecDeque<Bytes>,
    first: u64,
    bytes: usize,
    is_finished: bool,
    /// Number of the latest reader: an earlier one ends.
    reader: u64,
}

/// What a reader finds.
enum LogEntry {
    Event { number: u64, bytes: Bytes },
    NothingYet,
    End,
}

impl EventStream {
    /// With priming, a client has an id to come back with before anything has happened.
    pub(super) fn new(number: u64, has_priming: bool) -> Self {
        let stream = Self {
            number,
            log: Mutex::default(),
            changed: Notify::new(),
            is_attached: watch::Sender::new(false),
        };
        if has_priming {
            stream.log().push(&format!(
                "id: {number}-0\nretry: {RETRY_MILLIS}\ndata: \n\n"
            ));
        }
        stream
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// `message` is JSON on one line.
    pub(super) fn push(&self, message: &str) {
        let mut log = self.log();
        let number = log.first + log.events.len() as u64;
        let mut event = String::with_capacity(message.len() + 64);
        writeln!(event, "id: {}-{number}", self.number).expect("a String takes everything");
        push_message(&mut event, message);
        log.push(&event);
        drop(log);
        self.changed.notify_waiters();
    }

    pub(super) fn finish(&self) {
        self.log().is_finished = true;
        self.changed.notify_waiters();
    }

    /// Ends what the client reads now. It may come back for the rest.
    pub(super) fn detach(&self) {
        self.log().reader += 1;
        self.is_attached.send_replace(false);
        self.changed.notify_waiters();
    }

    /// Waits until the client has been away for too long.
    pub(super) async fn abandoned(&self) {
        let mut attached = self.is_attached.subscribe();
        loop {
            if attached.wait_for(|is_attached| !is_attached).await.is_err() {
                return;
            }
            let back = attached.wait_for(|is_attached| *is_attached);
            if !matches!(timeout(RESUME_TIME, back).await, Ok(Ok(_))) {
                return;
            }
        }
    }

    /// Waits until the client has read everything, or has been away for too long.
    pub(super) async fn delivered(&self) {
        loop {
            let changed = self.changed.notified();
            if self.log().events.is_empty() {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = self.abandoned() => return,
            }
        }
    }

    /// The events after the given one; of two readers the later one gets them.
    pub(super) fn read(
        self: Arc<Self>,
        after: Option<u64>,
    ) -> impl Stream<Item = Bytes> + Send + 'static {
        let reader = {
            let mut log = self.log();
            log.reader += 1;
            log.reader
        };
        self.changed.notify_waiters();
        self.is_attached.send_replace(true);
        let guard = EventReader {
            stream: self,
            reader,
        };
        let next = after.map_or(0, |after| after + 1);
        stream::unfold((guard, next), |(guard, next)| async move {
            let (bytes, next) = guard.next(next).await?;
            Some((bytes, (guard, next)))
        })
    }

    fn log(&self) -> MutexGuard<'_, EventLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One response that carries the stream; dropped with it.
struct EventReader {
    stream: Arc<EventStream>,
    reader: u64,
}

impl EventReader {
    /// The next event and the number after it; none at the end.
    async fn next(&self, next: u64) -> Option<(Bytes, u64)> {
        loop {
            let changed = self.stream.changed.notified();
            let entry = self.stream.log().entry(next, self.reader);
            match entry {
                LogEntry::Event { number, bytes } => return Some((bytes, number + 1)),
                LogEntry::End => {
                    self.stream.log().forget_all(self.reader);
                    self.stream.changed.notify_waiters();
                    return None;
                }
                LogEntry::NothingYet => {}
            }
            if timeout(KEEP_ALIVE_INTERVAL, changed).await.is_err() {
                return Some((KEEP_ALIVE, next));
            }
        }
    }
}

impl Drop for EventReader {
    fn drop(&mut self) {
        if self.stream.log().reader == self.reader {
            self.stream.is_attached.send_replace(false);
        }
    }
}

impl EventLog {
    fn push(&mut self, event: &str) {
        let event = Bytes::copy_from_slice(event.as_bytes());
        self.bytes += event.len();
        self.events.push_back(event);
        while self.events.len() > MAX_EVENTS
            || (self.bytes > MAX_EVENT_BYTES && self.events.len() > 1)
        {
            let Some(oldest) = self.events.pop_front() else {
                return;
            };
            self.bytes -= oldest.len();
            self.first += 1;
        }
    }

    fn entry(&self, next: u64, reader: u64) -> LogEntry {
        if self.reader != reader {
            return LogEntry::End;
        }
        let number = next.max(self.first);
        match self.events.get((number - self.first) as usize) {
            Some(bytes) => LogEntry::Event {
                number,
                bytes: bytes.clone(),
            },
            None if self.is_finished => LogEntry::End,
            None => LogEntry::NothingYet,
        }
    }

    /// Once the last reader has everything.
    fn forget_all(&mut self, reader: u64) {
        if self.is_finished && self.reader == reader {
            self.first += self.events.len() as u64;
            self.events.clear();
        }
    }
}

/// A message as an event, without an id.
pub(super) fn message_event(message: &str) -> Bytes {
    let mut event = String::with_capacity(message.len() + 32);
    push_message(&mut event, message);
    Bytes::from(event)
}

fn push_message(event: &mut String, message: &str) {
    event.push_str("event: message\ndata: ");
    event.push_str(message);
    event.push_str("\n\n");
}

/// Stream and event out of a `Last-Event-ID`.
pub(super) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, event) = id.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}
