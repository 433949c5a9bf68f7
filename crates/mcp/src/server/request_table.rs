//! Requests under way between a server and one client, in both directions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::exchange::{ClientAnswer, InputRequest};
use crate::jsonrpc::{self, RpcError};

/// How many requests one client may have under way.
const MAX_RUNNING: usize = 1000;

/// Beyond this, questions that nobody waits for any more are forgotten.
const MAX_QUESTIONS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct RequestTable {
    state: Mutex<TableState>,
}

#[derive(Debug, Default)]
struct TableState {
    /// Of the client, by their ids as they were written.
    running: HashMap<Box<str>, CancellationToken>,
    /// Of the server.
    questions: HashMap<u64, oneshot::Sender<ClientAnswer>>,
    last_question: u64,
}

/// A request of the client; dropped when it is answered.
#[derive(Debug)]
pub(super) struct TableEntry {
    table: Arc<RequestTable>,
    /// None: another request has the same id, and keeps it.
    id: Option<Box<str>>,
}

impl RequestTable {
    pub(super) fn insert(
        self: &Arc<Self>,
        id: &RawValue,
        cancellation: &CancellationToken,
    ) -> Result<TableEntry, RpcError> {
        let mut state = self.state();
        if state.running.len() >= MAX_RUNNING {
            return Err(too_many_requests());
        }
        let key: Box<str> = id.get().into();
        let is_free = !state.running.contains_key(&key);
        if is_free {
            state.running.insert(key.clone(), cancellation.clone());
        }
        Ok(TableEntry {
            table: Arc::clone(self),
            id: is_free.then_some(key),
        })
    }

    pub(super) fn cancel(&self, id: &RawValue) {
        let token = self.state().running.get(id.get()).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    pub(super) fn cancel_all(&self) {
        let mut state = self.state();
        state.questions.clear();
        let running: Vec<_> = state.running.values().cloned().collect();
        drop(state);
        running.iter().for_each(CancellationToken::cancel);
    }

    /// Gives a question its id: the message to send.
    pub(super) fn ask(&self, input: InputRequest) -> String {
        let mut state = self.state();
        if state.questions.len() >= MAX_QUESTIONS {
            state.questions.retain(|_, answer| !answer.is_closed());
        }
        state.last_question += 1;
        let id = state.last_question;
        state.questions.insert(id, input.answer);
        drop(state);
        jsonrpc::request(id, input.method, &input.params.to_string())
    }

    pub(super) fn on_answer(&self, id: &RawValue, answer: ClientAnswer) {
        let question = jsonrpc::own_id(id).and_then(|id| self.state().questions.remove(&id));
        if let Some(question) = question {
            // Whoever asked may have given up.
            let _ = question.send(answer);
        }
    }

    fn state(&self) -> MutexGuard<'_, TableState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn too_many_requests() -> RpcError {
    RpcError::new(
        RpcError::INTERNAL_ERROR,
        "Too many requests at once. Try again when some are answered.",
    )
}

impl Drop for TableEntry {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.table.state().running.remove(id);
        }
    }
}
