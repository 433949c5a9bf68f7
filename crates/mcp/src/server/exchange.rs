//! One request while it is answered: what goes to the client before its result.
//!
//! A [`super::RequestContext`] writes into the queue, and whoever drives the request reads it: as
//! events of a stream, as messages on a pipe, or as what the client must bring along when it repeats
//! the request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::context::{ClientProfile, LogLevel};
use crate::handler::ProgressNotification;
use crate::jsonrpc::{self, RpcError};

/// How many notifications wait for a client that does not read.
const MAX_NOTIFICATIONS: usize = 256;

/// How many questions to the client one request may have at the same time.
const MAX_INPUT_REQUESTS: usize = 8;

/// What a client answers to a request of the server.
pub(super) type ClientAnswer = Result<Value, RpcError>;

#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) client: Arc<ClientProfile>,
    pub(super) cancellation: CancellationToken,
    pub(super) progress_token: Option<Box<RawValue>>,
    /// The least level that is sent; none: no log at all.
    log_level: Option<LogLevel>,
    queue: Mutex<VecDeque<ServerMessage>>,
    queued: Notify,
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
    pub(super) method: &'static str,
    pub(super) params: Value,
    pub(super) answer: oneshot::Sender<ClientAnswer>,
}

impl InputRequest {
    pub(super) fn new(
        method: &'static str,
        params: Value,
    ) -> (Self, oneshot::Receiver<ClientAnswer>) {
        let (answer, receiver) = oneshot::channel();
        let request = Self {
            method,
            params,
            answer,
        };
        (request, receiver)
    }
}

impl Exchange {
    pub(super) fn new(
        client: Arc<ClientProfile>,
        progress_token: Option<Box<RawValue>>,
        log_level: Option<LogLevel>,
    ) -> Self {
        Self {
            client,
            cancellation: CancellationToken::new(),
            progress_token,
            log_level,
            queue: Mutex::default(),
            queued: Notify::new(),
        }
    }

    pub(super) fn send_progress(&self, progress: &ProgressNotification) {
        let Some(token) = &self.progress_token else {
            return;
        };
        let mut params = json!({ "progressToken": token, "progress": progress.progress });
        if let Some(total) = progress.total {
            params["total"] = json!(total);
        }
        if let Some(message) = &progress.message {
            params["message"] = json!(message);
        }
        self.notify("notifications/progress", &params);
    }

    pub(super) fn send_log(&self, level: LogLevel, logger: Option<&str>, data: &Value) {
        if self.log_level.is_none_or(|least| level < least) {
            return;
        }
        let mut params = json!({ "level": level, "data": data });
        if let Some(logger) = logger {
            params["logger"] = json!(logger);
        }
        self.notify("notifications/message", &params);
    }

    fn notify(&self, method: &str, params: &Value) {
        let message = jsonrpc::notification(method, &params.to_string());
        let mut queue = self.queue();
        // The oldest go: what is newer says more about how far a request is.
        if queue.len() >= MAX_NOTIFICATIONS
            && let Some(oldest) = queue
                .iter()
                .position(|message| matches!(message, ServerMessage::Notification(_)))
        {
            queue.remove(oldest);
        }
        queue.push_back(ServerMessage::Notification(message));
        drop(queue);
        self.queued.notify_one();
    }

    /// Whether there is room for it.
    pub(super) fn send_request(&self, request: InputRequest) -> bool {
        let mut queue = self.queue();
        let waiting = queue
            .iter()
            .filter(|message| matches!(message, ServerMessage::Request(_)))
            .count();
        if waiting >= MAX_INPUT_REQUESTS {
            return false;
        }
        queue.push_back(ServerMessage::Request(request));
        drop(queue);
        self.queued.notify_one();
        true
    }

    pub(super) fn close_stream(&self) {
        self.queue().push_back(ServerMessage::CloseStream);
        self.queued.notify_one();
    }

    pub(super) fn take_message(&self) -> Option<ServerMessage> {
        self.queue().pop_front()
    }

    /// Waits for the next message. One task at a time may.
    pub(super) async fn next_message(&self) -> ServerMessage {
        loop {
            if let Some(message) = self.take_message() {
                return message;
            }
            self.queued.notified().await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<ServerMessage>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
