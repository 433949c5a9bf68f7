//! One request while it is answered: what goes to the client before its result.
//!
//! A [`super::RequestContext`] writes into the queue, and whoever drives the request reads it: as
//! events of a stream, as messages on a pipe, or as what the client must bring along when it repeats
//! the request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::client_profile::{ClientProfile, LogLevel};
use crate::handler::ProgressNotification;
use crate::jsonrpc::{self, RpcError};

/// How many notifications wait for a client that does not read.
const MAX_NOTIFICATIONS: usize = 256;

/// How many questions to the client one request may have at the same time.
const MAX_INPUT_REQUESTS: usize = 8;

/// What a client answers to a request of the server.
pub(super) type ClientAnswer = Result<Value, RpcError>;

#[derive(Debug)]
pub(super) struct RequestExchange {
    pub(super) client: Arc<ClientProfile>,
    pub(super) cancellation: CancellationToken,
    /// The least level that is sent; none: no log at all.
    log_level: Option<LogLevel>,
    state: Mutex<ExchangeState>,
    queued: Notify,
}

#[derive(Debug, Default)]
struct ExchangeState {
    queue: VecDeque<ServerMessage>,
    progress_token: Option<Box<RawValue>>,
    /// Answers that the client sent before the question was asked, by key.
    early_answers: Map<String, Value>,
    /// How many questions there were.
    asked: usize,
}

/// What goes to the client before the result.
#[derive(Debug)]
pub(super) enum ServerMessage {
    /// A whole JSON-RPC message.
    Notification(String),
    Request(InputRequest),
    CloseStream,
}

/// Something that only the client can answer.
#[derive(Debug)]
pub(super) struct InputRequest {
    /// Names it among the questions of its request.
    pub(super) key: String,
    pub(super) method: &'static str,
    pub(super) params: Value,
    pub(super) answer: oneshot::Sender<ClientAnswer>,
}

impl RequestExchange {
    pub(super) fn new(
        client: Arc<ClientProfile>,
        progress_token: Option<Box<RawValue>>,
        log_level: Option<LogLevel>,
        early_answers: Map<String, Value>,
    ) -> Self {
        let state = ExchangeState {
            progress_token,
            early_answers,
            ..ExchangeState::default()
        };
        Self {
            client,
            cancellation: CancellationToken::new(),
            log_level,
            state: Mutex::new(state),
            queued: Notify::new(),
        }
    }

    pub(super) fn wants_progress(&self) -> bool {
        self.state().progress_token.is_some()
    }

    /// The client repeated the request: it may want to hear of its progress by another token.
    pub(super) fn set_progress_token(&self, token: Option<Box<RawValue>>) {
        self.state().progress_token = token;
    }

    pub(super) fn send_progress(&self, progress: &ProgressNotification) {
        let mut state = self.state();
        let Some(token) = &state.progress_token else {
            return;
        };
        if !progress.progress.is_finite() {
            return;
        }
        let mut params = format!(
            r#"{{"progressToken":{token},"progress":{}"#,
            progress.progress
        );
        if let Some(total) = progress.total.filter(|total| total.is_finite()) {
            params.push_str(&format!(r#","total":{total}"#));
        }
        if let Some(message) = &progress.message {
            params.push_str(&format!(r#","message":{}"#, json!(message)));
        }
        params.push('}');
        state.push_notification(jsonrpc::notification("notifications/progress", &params));
        drop(state);
        self.queued.notify_one();
    }

    pub(super) fn send_log(&self, level: LogLevel, logger: Option<&str>, data: &Value) {
        if self.log_level.is_none_or(|least| level < least) {
            return;
        }
        let mut params = json!({ "level": level, "data": data });
        if let Some(logger) = logger {
            params["logger"] = json!(logger);
        }
        let message = jsonrpc::notification("notifications/message", &params.to_string());
        self.state().push_notification(message);
        self.queued.notify_one();
    }

    /// Asks the client. None: too many questions wait already.
    pub(super) fn send_request(
        &self,
        key: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Option<oneshot::Receiver<ClientAnswer>> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        let waiting = state
            .queue
            .iter()
            .filter(|message| matches!(message, ServerMessage::Request(_)))
            .count();
        if waiting >= MAX_INPUT_REQUESTS {
            return None;
        }
        state.asked += 1;
        let key = key.map_or_else(|| format!("input_{}", state.asked), str::to_owned);
        if let Some(answer) = state.early_answers.remove(&key) {
            // An error only means that the asking task is gone.
            let _ = sender.send(Ok(answer));
            return Some(receiver);
        }
        state.queue.push_back(ServerMessage::Request(InputRequest {
            key,
            method,
            params,
            answer: sender,
        }));
        drop(state);
        self.queued.notify_one();
        Some(receiver)
    }

    pub(super) fn close_stream(&self) {
        self.state().queue.push_back(ServerMessage::CloseStream);
        self.queued.notify_one();
    }

    pub(super) fn take_message(&self) -> Option<ServerMessage> {
        self.state().queue.pop_front()
    }

    pub(super) fn take_requests(&self) -> Vec<InputRequest> {
        let mut state = self.state();
        let (requests, others): (Vec<_>, Vec<_>) = state
            .queue
            .drain(..)
            .partition(|message| matches!(message, ServerMessage::Request(_)));
        state.queue.extend(others);
        let requests = requests.into_iter().filter_map(|message| match message {
            ServerMessage::Request(request) => Some(request),
            ServerMessage::Notification(_) | ServerMessage::CloseStream => None,
        });
        requests.collect()
    }

    /// Waits until something may have been queued. One task at a time may.
    pub(super) async fn queued(&self) {
        self.queued.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, ExchangeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExchangeState {
    fn push_notification(&mut self, message: String) {
        // The oldest notifications are dropped, because newer ones supersede them.
        let is_notification =
            |message: &ServerMessage| matches!(message, ServerMessage::Notification(_));
        if self.queue.len() >= MAX_NOTIFICATIONS
            && let Some(oldest) = self.queue.iter().position(is_notification)
        {
            self.queue.remove(oldest);
        }
        self.queue.push_back(ServerMessage::Notification(message));
    }
}
