//! Requests of one connection that wait for their responses, and running calls, which
//! progress notifications and elicitations are for.
//!
//! Every transport hands each message to [`PendingRequests::on_message`]. A response
//! nobody waits for, a second one, or one with a made-up id is ignored.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, oneshot, watch};

use crate::entry::{EntryKind, ListVersions};
use crate::error::{ConnectionError, Error};
use crate::handler::CallHandler;
use crate::session_log::SessionLog;

mod incoming;
mod server_request_queue;

use server_request_queue::ServerRequestQueue;

/// How many updates of resources a subscriber may be behind.
const MAX_UNREAD_UPDATES: usize = 256;

pub(crate) type RpcResult = Result<Box<RawValue>, Error>;

#[derive(Debug)]
pub(crate) struct PendingRequests {
    next_id: AtomicU64,
    inner: Mutex<Inner>,
    tools_changed: watch::Sender<u64>,
    list_versions: watch::Sender<ListVersions>,
    resource_updates: broadcast::Sender<String>,
    /// How often the server has acknowledged a subscription to its notifications.
    subscribed: watch::Sender<u64>,
    stream_open: watch::Sender<bool>,
    /// Why, once it is over. Written and read under the lock of `inner`, so that no
    /// request is added after that.
    closed: watch::Sender<Option<ConnectionError>>,
    stray_messages: AtomicU64,
    log: SessionLog,
    /// Whose client this is, for replies.
    client_title: String,
}

#[derive(Debug, Default)]
struct Inner {
    requests: HashMap<u64, oneshot::Sender<RpcResult>>,
    calls: HashMap<u64, CallEntry>,
}

/// How a running call is reached.
#[derive(Debug)]
struct CallEntry {
    handler: Arc<dyn CallHandler>,
    requests: ServerRequestQueue,
    task_id: Option<String>,
}

/// A request of the server in the middle of a call, to be answered under its id.
#[derive(Debug)]
pub(crate) struct ServerRequest {
    pub(crate) id: Box<RawValue>,
    pub(crate) method: ClientMethod,
    pub(crate) params: Value,
}

/// A method of the client that whoever made the call answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientMethod {
    Elicit,
    Sample,
}

/// A call while this is kept. Its id is its progress token.
#[derive(Debug)]
pub(crate) struct ActiveCall {
    pending: Arc<PendingRequests>,
    pub(crate) id: u64,
    pub(crate) requests: ServerRequestQueue,
}

/// The stream that a message arrived on, for transports with one stream per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamOrigin {
    pub(crate) request_id: u64,
    /// The call the request is part of.
    pub(crate) call_id: Option<u64>,
}

/// The effect of a received message.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MessageOutcome {
    /// The request it answers.
    pub(crate) answered: Option<u64>,
    /// Messages to be sent back.
    pub(crate) replies: Vec<String>,
}

impl PendingRequests {
    pub(crate) fn new(log: SessionLog, client_title: &str) -> Arc<Self> {
        Arc::new(Self {
            next_id: AtomicU64::new(1),
            inner: Mutex::default(),
            tools_changed: watch::channel(0).0,
            list_versions: watch::channel(ListVersions::default()).0,
            resource_updates: broadcast::Sender::new(MAX_UNREAD_UPDATES),
            subscribed: watch::channel(0).0,
            stream_open: watch::channel(false).0,
            closed: watch::channel(None).0,
            stray_messages: AtomicU64::new(0),
            log,
            client_title: client_title.to_owned(),
        })
    }

    pub(crate) fn log(&self) -> &SessionLog {
        &self.log
    }

    /// Counts up whenever the list of tools may have changed.
    pub(crate) fn tools_changed(&self) -> watch::Receiver<u64> {
        self.tools_changed.subscribe()
    }

    pub(crate) fn notify_tools_changed(&self) {
        self.tools_changed.send_modify(|times| *times += 1);
    }

    pub(crate) fn list_versions(&self) -> watch::Receiver<ListVersions> {
        self.list_versions.subscribe()
    }

    pub(crate) fn notify_list_changed(&self, kind: EntryKind) {
        self.list_versions.send_modify(|versions| match kind {
            EntryKind::Resources | EntryKind::ResourceTemplates => versions.resources += 1,
            EntryKind::Prompts => versions.prompts += 1,
        });
    }

    /// The URIs of resources that were updated, from now on.
    pub(crate) fn resource_updates(&self) -> broadcast::Receiver<String> {
        self.resource_updates.subscribe()
    }

    /// Returns when the server has acknowledged a subscription.
    pub(crate) async fn subscribed(&self) {
        let mut subscribed = self.subscribed.subscribe();
        // The sender is in `self`.
        let _ = subscribed.wait_for(|times| *times > 0).await;
    }

    /// Whether a stream is open on which the server sends notifications, where a transport has
    /// such streams.
    pub(crate) fn stream_open(&self) -> watch::Receiver<bool> {
        self.stream_open.subscribe()
    }

    pub(crate) fn set_stream_open(&self, is_open: bool) {
        self.stream_open
            .send_if_modified(|was_open| std::mem::replace(was_open, is_open) != is_open);
    }

    /// A new request: its id, and where its response will come.
    pub(crate) fn add(&self) -> (u64, oneshot::Receiver<RpcResult>) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let mut inner = self.inner();
        match &*self.closed.borrow() {
            Some(why) => drop(sender.send(Err(Error::NotSent(why.clone())))),
            None => drop(inner.requests.insert(id, sender)),
        }
        (id, receiver)
    }

    /// Removes a pending request. False if its response has already arrived.
    pub(crate) fn remove(&self, id: u64) -> bool {
        self.inner().requests.remove(&id).is_some()
    }

    pub(crate) fn resolve(&self, id: u64, result: RpcResult) {
        let waiting = self.inner().requests.remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(result);
        }
    }

    pub(crate) fn begin_call(self: &Arc<Self>, handler: &Arc<dyn CallHandler>) -> ActiveCall {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let requests = ServerRequestQueue::default();
        let entry = CallEntry {
            handler: handler.clone(),
            requests: requests.clone(),
            task_id: None,
        };
        self.inner().calls.insert(id, entry);
        ActiveCall {
            pending: self.clone(),
            id,
            requests,
        }
    }

    /// The connection is over: every pending request fails.
    pub(crate) fn close(&self, why: ConnectionError) {
        let requests = {
            let mut inner = self.inner();
            if self.closed.borrow().is_some() {
                return;
            }
            self.closed.send_replace(Some(why.clone()));
            std::mem::take(&mut inner.requests)
        };
        for sender in requests.into_values() {
            let _ = sender.send(Err(Error::ConnectionLost(why.clone())));
        }
    }

    /// Returns when the connection is over, with why.
    pub(crate) async fn closed(&self) -> ConnectionError {
        let mut closed = self.closed.subscribe();
        let why = closed.wait_for(Option::is_some).await;
        // The sender is in `self`.
        let why = why.ok().and_then(|why| why.clone());
        why.unwrap_or(ConnectionError::Closed)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveCall {
    /// The call goes on as this task of the server.
    pub(crate) fn set_task(&self, task_id: &str) {
        if let Some(entry) = self.pending.inner().calls.get_mut(&self.id) {
            entry.task_id = Some(task_id.to_owned());
        }
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.pending.inner().calls.remove(&self.id);
    }
}

impl CallEntry {
    fn is_task(&self, task_id: &str) -> bool {
        self.task_id.as_deref() == Some(task_id)
    }
}
