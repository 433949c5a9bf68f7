//! What is underway on one connection: questions that wait for their answers,
//! and calls that can be told how far they are and asked what they lack.
//!
//! Whatever carries a connection hands every message to [`Board::hear`]. An
//! answer nobody waits for, a second one, or one with a made-up id is nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;
use tenon_tools::CallContext;
use tokio::sync::{mpsc, oneshot, watch};

use super::fault::Fault;
use super::logs::Logs;

mod hear;

/// More questions to a person than these, in one call and at once, nobody would answer.
const MAX_ASKED: usize = 8;

pub(super) type Answer = Result<Box<RawValue>, Fault>;

#[derive(Debug)]
pub(super) struct Board {
    next: AtomicU64,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
    /// How often the server has said that it will tell us.
    promised: watch::Sender<u64>,
    /// Whether a stream stands on which it can.
    streams: watch::Sender<bool>,
    /// Why, once it is over. Written and asked for under the lock of `inner`, so
    /// that nobody begins to wait after that.
    ended: watch::Sender<Option<String>>,
    noted: AtomicU64,
    logs: Logs,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
    calls: HashMap<u64, Ears>,
}

/// How a running call is reached.
#[derive(Debug)]
struct Ears {
    context: CallContext,
    asks: mpsc::Sender<Asked>,
    task: Option<String>,
}

/// A question of the server in the middle of a call, to be answered under its id.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: Box<RawValue>,
    pub(super) params: Value,
}

/// A call as long as this is kept. Its number is its progress token.
#[derive(Debug)]
pub(super) struct OnBoard {
    board: Arc<Board>,
    pub(super) number: u64,
    pub(super) asked: mpsc::Receiver<Asked>,
}

/// The stream of one question, where a transport has such streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct During {
    pub(super) question: u64,
    /// The call the question is part of.
    pub(super) call: Option<u64>,
}

/// What a message made necessary.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Heard {
    /// The question it answers.
    pub(super) answers: Option<u64>,
    /// To be sent back.
    pub(super) replies: Vec<String>,
}

impl Board {
    pub(super) fn new(logs: Logs) -> Arc<Self> {
        Arc::new(Self {
            next: AtomicU64::new(1),
            inner: Mutex::default(),
            changed: watch::channel(0).0,
            promised: watch::channel(0).0,
            streams: watch::channel(false).0,
            ended: watch::channel(None).0,
            noted: AtomicU64::new(0),
            logs,
        })
    }

    pub(super) fn logs(&self) -> &Logs {
        &self.logs
    }

    /// Counts up whenever the list of tools may have changed.
    pub(super) fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn change(&self) {
        self.changed.send_modify(|times| *times += 1);
    }

    /// Comes back when the server has said that it will tell us of changes.
    pub(super) async fn promised(&self) {
        let mut promised = self.promised.subscribe();
        // The sender is in this very board.
        let _ = promised.wait_for(|times| *times > 0).await;
    }

    /// Whether there is a stream on which the server tells of changes by itself, where a
    /// transport has such streams.
    pub(super) fn streams(&self) -> watch::Receiver<bool> {
        self.streams.subscribe()
    }

    pub(super) fn set_streams(&self, stands: bool) {
        self.streams.send_if_modified(|stood| {
            let is_new = *stood != stands;
            *stood = stands;
            is_new
        });
    }

    /// A new question: its id, and where its answer will come.
    pub(super) fn expect(&self) -> (u64, oneshot::Receiver<Answer>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let mut inner = self.inner();
        match &*self.ended.borrow() {
            Some(why) => drop(sender.send(Err(Fault::Unreached(why.clone())))),
            None => drop(inner.waiting.insert(id, sender)),
        }
        (id, receiver)
    }

    /// Nobody waits for this answer any longer. False: it has come already.
    pub(super) fn forget(&self, id: u64) -> bool {
        self.inner().waiting.remove(&id).is_some()
    }

    pub(super) fn answer(&self, id: u64, answer: Answer) {
        let waiting = self.inner().waiting.remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
    }

    /// A call begins.
    pub(super) fn enter(self: &Arc<Self>, context: &CallContext) -> OnBoard {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (asks, asked) = mpsc::channel(MAX_ASKED);
        let ears = Ears {
            context: context.clone(),
            asks,
            task: None,
        };
        self.inner().calls.insert(number, ears);
        OnBoard {
            board: self.clone(),
            number,
            asked,
        }
    }

    /// The connection is over: whoever waits hears why.
    pub(super) fn end(&self, why: String) {
        let waiting = {
            let mut inner = self.inner();
            if self.ended.borrow().is_some() {
                return;
            }
            self.ended.send_replace(Some(why.clone()));
            std::mem::take(&mut inner.waiting)
        };
        for sender in waiting.into_values() {
            let _ = sender.send(Err(Fault::Broken(why.clone())));
        }
    }

    /// Comes back when the connection is over, with why.
    pub(super) async fn ended(&self) -> String {
        let mut ended = self.ended.subscribe();
        let why = ended.wait_for(Option::is_some).await;
        // The sender is in this very board.
        why.ok().and_then(|why| why.clone()).unwrap_or_default()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OnBoard {
    /// The call goes on as this task of the server.
    pub(super) fn follows(&self, task: &str) {
        if let Some(ears) = self.board.inner().calls.get_mut(&self.number) {
            ears.task = Some(task.to_owned());
        }
    }
}

impl Drop for OnBoard {
    fn drop(&mut self) {
        self.board.inner().calls.remove(&self.number);
    }
}

impl Ears {
    fn is_about(&self, task: &str) -> bool {
        self.task.as_deref() == Some(task)
    }
}
