//! The requests of others that this server executes or has executed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use uuid::Uuid;

use super::lock;
use crate::envelope::{BodyOf, Header, MessageKind};
use crate::{Inner, MAX_NOTE_BYTES, Note};

/// How many run at once, of all servers together.
const MAX_RUNNING: usize = 1024;

/// A reply that nobody fetched is kept for so long, and so many bytes of them.
const REPLY_MAX_AGE: Duration = Duration::from_secs(120);
const MAX_REPLY_BYTES: usize = 256 * 1024 * 1024;

type RequestKey = (Arc<str>, Uuid);

#[derive(Debug, Default)]
pub(super) struct ExecutedRequests(Mutex<Executions>);

/// Counts along, so that a request costs the same however many there were.
#[derive(Debug, Default)]
struct Executions {
    all: HashMap<RequestKey, Execution>,
    /// How many are not done.
    running: usize,
    /// Those that are done, the oldest first.
    done: VecDeque<(Instant, RequestKey)>,
    /// Of replies that are kept.
    reply_bytes: usize,
}

#[derive(Debug)]
enum Execution {
    /// The handle comes a moment later.
    Running(Option<AbortHandle>),
    /// None: it was received, nobody waited for it, or there were too many to keep.
    Done(Option<Bytes>),
}

impl ExecutedRequests {
    pub(super) fn begin(
        &self,
        inner: &Arc<Inner>,
        header: &Header,
        (id, length): (Uuid, usize),
        body: Bytes,
    ) {
        let (from, key) = (header.from.clone(), (header.from.clone(), id));
        let known = self.answer(&from, id);
        if let Some((kind, body)) = known {
            inner.answer(&from, kind, body);
            return;
        }
        let Some(handler) = inner.inbox.handler(&header.topic) else {
            inner.answer(&from, MessageKind::Refused { id }, Bytes::new());
            return;
        };
        if !lock(&self.0).begin(key.clone()) {
            inner.answer(&from, MessageKind::Refused { id }, Bytes::new());
            return;
        }
        inner.answer(&from, MessageKind::Pending { id }, Bytes::new());
        let executing = inner.clone();
        let task = tokio::spawn(async move {
            let inner = executing;
            let requests = &inner.requests;
            let body = if length == body.len() {
                Some(body)
            } else {
                let fetch = (id, BodyOf::Request);
                match requests.fetches.begin(fetch) {
                    true => requests.fetches.fetch(&inner, &from, fetch, length).await,
                    false => None,
                }
            };
            let Some(body) = body else {
                lock(&requests.executed.0).finish(&(from.clone(), id), None);
                inner.answer(&from, MessageKind::Refused { id }, Bytes::new());
                return;
            };
            let note = Note {
                from: from.clone(),
                body,
            };
            let reply = Bytes::from(handler(note).await);
            lock(&requests.executed.0).finish(&(from.clone(), id), Some(reply));
            if let Some((kind, body)) = requests.executed.answer(&from, id) {
                inner.answer(&from, kind, body);
            }
        });
        if let Some(Execution::Running(handle)) = lock(&self.0).all.get_mut(&key) {
            *handle = Some(task.abort_handle());
        }
    }

    /// What has become of a request; None: it is not known.
    pub(super) fn answer(&self, from: &Arc<str>, id: Uuid) -> Option<(MessageKind, Bytes)> {
        let executed = lock(&self.0);
        Some(match executed.all.get(&(from.clone(), id))? {
            Execution::Running(_) => (MessageKind::Pending { id }, Bytes::new()),
            Execution::Done(None) => (MessageKind::Over { id }, Bytes::new()),
            Execution::Done(Some(reply)) => {
                let length = reply.len();
                let first = if length <= MAX_NOTE_BYTES {
                    reply.clone()
                } else {
                    Bytes::new()
                };
                (MessageKind::Reply { id, length }, first)
            }
        })
    }

    pub(super) fn reply(&self, from: &Arc<str>, id: Uuid) -> Option<Bytes> {
        match lock(&self.0).all.get(&(from.clone(), id))? {
            Execution::Done(reply) => reply.clone(),
            Execution::Running(_) => None,
        }
    }

    /// The id stays for a while, in case the request comes once more.
    pub(super) fn forget(&self, from: &Arc<str>, id: Uuid) {
        lock(&self.0).finish(&(from.clone(), id), None);
    }

    pub(super) fn cancel(&self, from: &Arc<str>, id: Uuid) {
        let (key, mut executed) = ((from.clone(), id), lock(&self.0));
        // Also one that has not come yet: it must not begin any more.
        executed.begin(key.clone());
        executed.finish(&key, None);
    }
}

impl Executions {
    /// False: too many run.
    fn begin(&mut self, key: RequestKey) -> bool {
        self.drop_old();
        if self.all.contains_key(&key) {
            return true;
        }
        if self.running >= MAX_RUNNING {
            return false;
        }
        self.running += 1;
        self.all.insert(key, Execution::Running(None));
        true
    }

    fn finish(&mut self, key: &RequestKey, reply: Option<Bytes>) {
        let Some(execution) = self.all.get_mut(key) else {
            return;
        };
        match execution {
            Execution::Running(task) => {
                // It ends itself where it has a reply.
                if let (Some(task), None) = (task, &reply) {
                    task.abort();
                }
                self.running -= 1;
                self.done.push_back((Instant::now(), key.clone()));
            }
            // Cancelled meanwhile.
            Execution::Done(None) => return,
            Execution::Done(Some(kept)) => self.reply_bytes -= kept.len(),
        }
        let length = reply.as_ref().map_or(0, Bytes::len);
        let fits = self.reply_bytes + length <= MAX_REPLY_BYTES;
        let kept = reply.filter(|_| fits);
        self.reply_bytes += kept.as_ref().map_or(0, Bytes::len);
        *execution = Execution::Done(kept);
    }

    fn drop_old(&mut self) {
        let is_old = |(since, _): &(Instant, RequestKey)| since.elapsed() > REPLY_MAX_AGE;
        while self.done.front().is_some_and(is_old) {
            let Some((_, key)) = self.done.pop_front() else {
                return;
            };
            if let Some(Execution::Done(Some(reply))) = self.all.remove(&key) {
                self.reply_bytes -= reply.len();
            }
        }
    }
}
