//! The requests of others that this server executes or has executed.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use uuid::Uuid;

use crate::envelope::{BodyOf, Header, MessageKind};
use crate::lock::lock;
use crate::{IncomingRequest, Inner, MAX_NOTE_BYTES};

/// How many run at once, of all servers together.
const MAX_RUNNING: usize = 1024;

/// Who waits asks every two seconds.
pub(crate) const POLL_TIMEOUT: Duration = Duration::from_secs(30);

/// Limits of replies that were not fetched: age and total bytes.
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
    Running {
        /// Set right after the task is spawned.
        task: Option<AbortHandle>,
        /// When it was last asked for.
        polled: Instant,
    },
    /// None if the reply was delivered, was not wanted, or did not fit.
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
                match requests.fetches.begin((id, BodyOf::Request)) {
                    Some(fetch) => fetch.run(&inner, &from, length).await,
                    None => None,
                }
            };
            let Some(body) = body else {
                lock(&requests.executed.0).finish(&(from.clone(), id), None);
                inner.answer(&from, MessageKind::Refused { id }, Bytes::new());
                return;
            };
            let request = IncomingRequest {
                from: from.clone(),
                body,
            };
            let executed = AssertUnwindSafe(async { handler(request).await }).catch_unwind();
            // A panic becomes "no reply", so that the caller does not wait for one.
            let reply = executed.await.ok().map(Bytes::from);
            lock(&requests.executed.0).finish(&(from.clone(), id), reply);
            if let Some((kind, body)) = requests.executed.answer(&from, id) {
                inner.answer(&from, kind, body);
            }
        });
        if let Some(Execution::Running { task: handle, .. }) = lock(&self.0).all.get_mut(&key) {
            *handle = Some(task.abort_handle());
        }
    }

    /// Answers a poll from the caller that waits for this request.
    pub(super) fn poll(&self, from: &Arc<str>, id: Uuid) -> Option<(MessageKind, Bytes)> {
        let key = (from.clone(), id);
        if let Some(Execution::Running { polled, .. }) = lock(&self.0).all.get_mut(&key) {
            *polled = Instant::now();
        }
        self.answer(from, id)
    }

    /// Aborts requests that were not polled for a while, because their callers are gone.
    pub(super) fn end_unpolled(&self) {
        let mut executed = lock(&self.0);
        let is_abandoned = |execution: &Execution| matches!(execution, Execution::Running { polled, .. } if polled.elapsed() > POLL_TIMEOUT);
        let abandoned = executed
            .all
            .iter()
            .filter(|(_, execution)| is_abandoned(execution));
        let abandoned: Vec<RequestKey> = abandoned.map(|(key, _)| key.clone()).collect();
        abandoned.iter().for_each(|key| executed.finish(key, None));
    }

    pub(super) fn drop_old(&self) {
        lock(&self.0).drop_old();
    }

    /// The state of a request as a message; None if it is unknown.
    pub(super) fn answer(&self, from: &Arc<str>, id: Uuid) -> Option<(MessageKind, Bytes)> {
        let executed = lock(&self.0);
        Some(match executed.all.get(&(from.clone(), id))? {
            Execution::Running { .. } => (MessageKind::Pending { id }, Bytes::new()),
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
            Execution::Running { .. } => None,
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
        let begun = Execution::Running {
            task: None,
            polled: Instant::now(),
        };
        self.all.insert(key, begun);
        true
    }

    fn finish(&mut self, key: &RequestKey, reply: Option<Bytes>) {
        let Some(execution) = self.all.get_mut(key) else {
            return;
        };
        match execution {
            Execution::Running { task, .. } => {
                // With a reply, the task ends by itself.
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

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reply_that_nobody_fetches_is_forgotten_though_nobody_asks_again() {
        let executed = ExecutedRequests::default();
        let (from, id) = (Arc::from("a"), Uuid::new_v4());
        let key = (Arc::clone(&from), id);
        assert!(lock(&executed.0).begin(key.clone()));
        lock(&executed.0).finish(&key, Some("long".into()));
        advance(REPLY_MAX_AGE / 2).await;
        executed.drop_old();
        assert!(executed.reply(&from, id).is_some());
        advance(REPLY_MAX_AGE).await;
        executed.drop_old();
        assert!(executed.answer(&from, id).is_none());
        assert_eq!(lock(&executed.0).reply_bytes, 0);
    }
}
