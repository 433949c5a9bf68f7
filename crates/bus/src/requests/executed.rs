//! The requests of others that this server executes or has executed.

use std::collections::HashMap;
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
pub(super) struct ExecutedRequests(Mutex<HashMap<RequestKey, Execution>>);

#[derive(Debug)]
enum Execution {
    /// The handle comes a moment later.
    Running(Option<AbortHandle>),
    Done(Bytes, Instant),
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
        {
            let mut executed = lock(&self.0);
            executed.retain(|_, execution| !execution.is_stale());
            let running = executed.values().filter(|execution| !execution.is_done());
            if running.count() >= MAX_RUNNING {
                drop(executed);
                inner.answer(&from, MessageKind::Refused { id }, Bytes::new());
                return;
            }
            executed.insert(key.clone(), Execution::Running(None));
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
                lock(&requests.executed.0).remove(&(from.clone(), id));
                inner.answer(&from, MessageKind::Refused { id }, Bytes::new());
                return;
            };
            let note = Note {
                from: from.clone(),
                body,
            };
            let reply = Bytes::from(handler(note).await);
            requests.executed.finish((from.clone(), id), reply);
            if let Some((kind, body)) = requests.executed.answer(&from, id) {
                inner.answer(&from, kind, body);
            }
        });
        if let Some(Execution::Running(handle)) = lock(&self.0).get_mut(&key) {
            *handle = Some(task.abort_handle());
        }
    }

    fn finish(&self, key: RequestKey, reply: Bytes) {
        let mut executed = lock(&self.0);
        let kept: usize = executed.values().map(Execution::bytes).sum();
        if kept + reply.len() > MAX_REPLY_BYTES {
            executed.retain(|_, execution| !execution.is_done());
        }
        if let Some(execution) = executed.get_mut(&key) {
            *execution = Execution::Done(reply, Instant::now());
        }
    }

    /// What has become of a request; None: it is not known.
    pub(super) fn answer(&self, from: &Arc<str>, id: Uuid) -> Option<(MessageKind, Bytes)> {
        let executed = lock(&self.0);
        Some(match executed.get(&(from.clone(), id))? {
            Execution::Running(_) => (MessageKind::Pending { id }, Bytes::new()),
            Execution::Done(reply, _) => {
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
        match lock(&self.0).get(&(from.clone(), id))? {
            Execution::Done(reply, _) => Some(reply.clone()),
            Execution::Running(_) => None,
        }
    }

    /// The id stays for a while, in case the request comes once more.
    pub(super) fn forget(&self, from: &Arc<str>, id: Uuid) {
        if let Some(execution) = lock(&self.0).get_mut(&(from.clone(), id)) {
            execution.end();
        }
    }

    pub(super) fn cancel(&self, from: &Arc<str>, id: Uuid) {
        // Also one that has not come yet: it must not begin any more.
        let mut executed = lock(&self.0);
        let execution = executed
            .entry((from.clone(), id))
            .or_insert_with(|| Execution::Done(Bytes::new(), Instant::now()));
        execution.end();
    }
}

impl Execution {
    fn end(&mut self) {
        if let Self::Running(Some(task)) = self {
            task.abort();
        }
        *self = Self::Done(Bytes::new(), Instant::now());
    }

    fn is_done(&self) -> bool {
        matches!(self, Self::Done(..))
    }

    fn is_stale(&self) -> bool {
        matches!(self, Self::Done(_, since) if since.elapsed() > REPLY_MAX_AGE)
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Done(reply, _) => reply.len(),
            Self::Running(_) => 0,
        }
    }
}
