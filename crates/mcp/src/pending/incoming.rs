//! Messages of the server: responses, requests and notifications.

use std::fmt;
use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tenon_text as text;

use super::{
    ClientMethod, MessageOutcome, PendingRequests, ServerRequest, ServerRequestQueue, StreamOrigin,
};
use crate::entry::EntryKind;
use crate::error::{Error, ProtocolError};
use crate::handler::ProgressNotification;
use crate::jsonrpc::{self, IncomingMessage, RpcError, own_id};
use crate::session_log::SessionNotice;

/// How many messages that are none are logged.
const MAX_STRAY_MESSAGES: u64 = 20;

/// No id is longer. It would be sent back as it is.
const MAX_ID_BYTES: usize = 256;

const MAX_ELICITATION_BYTES: usize = 256 * 1024;

/// A whole conversation goes along.
const MAX_SAMPLING_BYTES: usize = 2 * 1024 * 1024;

/// Who sends more messages at once than these means no good.
const MAX_BATCH_MESSAGES: usize = 100;

impl PendingRequests {
    /// Takes in one message. `origin` says on whose stream it came.
    pub(crate) fn on_message(&self, text: &[u8], origin: Option<StreamOrigin>) -> MessageOutcome {
        let mut outcome = MessageOutcome::default();
        // Servers of 2025-03-26 may send a batch.
        let is_batch = text.trim_ascii_start().starts_with(b"[");
        let read = if is_batch {
            let handle = |message: IncomingMessage<'_>| self.handle(&message, origin, &mut outcome);
            serde_json::Deserializer::from_slice(text).deserialize_seq(Batch(handle))
        } else {
            serde_json::from_slice(text).map(|message| self.handle(&message, origin, &mut outcome))
        };
        if read.is_err() {
            self.on_stray_message(text);
        }
        outcome
    }

    /// A message came that is longer than any may be. Its ends may tell which request it answers.
    pub(crate) fn on_oversized_message(&self, head: &[u8], tail: &[u8]) {
        self.log.notice(SessionNotice::MessageTooLong);
        let ids: Vec<u64> = match jsonrpc::id_in(head).or_else(|| jsonrpc::id_in(tail)) {
            Some(id) => vec![id],
            // Better all of them than one that waits for ever.
            None => self.inner().requests.keys().copied().collect(),
        };
        for id in ids {
            self.resolve(id, Err(ProtocolError::MessageTooLong.into()));
        }
    }

    fn on_stray_message(&self, text: &[u8]) {
        let shown = String::from_utf8_lossy(&text[..text.len().min(500)]);
        let shown = text::line(&shown, 500);
        match self.stray_messages.fetch_add(1, Ordering::Relaxed) {
            0..MAX_STRAY_MESSAGES if !shown.is_empty() => self.log.stray_output(&shown),
            MAX_STRAY_MESSAGES => self.log.notice(SessionNotice::StrayOutputHidden),
            _ => {}
        }
    }

    fn handle(
        &self,
        message: &IncomingMessage<'_>,
        origin: Option<StreamOrigin>,
        outcome: &mut MessageOutcome,
    ) {
        match (&message.method, message.id) {
            (Some(_), Some(id)) if id.get().len() > MAX_ID_BYTES => {
                self.on_stray_message(id.get().as_bytes());
            }
            (Some(method), Some(id)) => {
                let reply = self.on_request(method, id, message.params, origin);
                outcome.replies.extend(reply);
            }
            (Some(method), None) => self.on_notification(method, message.params),
            (None, id) => {
                let result = match (message.result, message.error) {
                    (Some(result), _) => Ok(result.to_owned()),
                    (None, Some(error)) => Err(Error::Rpc(RpcError::read(error))),
                    (None, None) => return,
                };
                // An error about a message whose id could not be read is about the request
                // on whose stream it came.
                let answered = id.and_then(own_id).or(match &result {
                    Err(_) => origin.map(|origin| origin.request_id),
                    Ok(_) => None,
                });
                if let Some(id) = answered {
                    outcome.answered = Some(id);
                    self.resolve(id, result);
                }
            }
        }
    }

    /// The reply, unless an elicitation is passed on to the call it belongs to.
    fn on_request(
        &self,
        method: &str,
        id: &RawValue,
        params: Option<&RawValue>,
        origin: Option<StreamOrigin>,
    ) -> Option<String> {
        match method {
            "ping" => Some(jsonrpc::response(id, &json!({}))),
            "elicitation/create"
                if params.is_some_and(|params| params.get().len() > MAX_ELICITATION_BYTES) =>
            {
                self.log.notice(SessionNotice::ElicitationTooLong);
                Some(jsonrpc::response(id, &json!({ "action": "decline" })))
            }
            "elicitation/create" => {
                if self.pass_on(ClientMethod::Elicit, id, params, origin) {
                    return None;
                }
                self.log.notice(SessionNotice::ElicitationUnanswered);
                Some(jsonrpc::response(id, &json!({ "action": "decline" })))
            }
            "sampling/createMessage"
                if params.is_none_or(|params| params.get().len() <= MAX_SAMPLING_BYTES)
                    && self.pass_on(ClientMethod::Sample, id, params, origin) =>
            {
                None
            }
            "sampling/createMessage" => Some(jsonrpc::sampling_refusal(id)),
            other => {
                let (client, other) = (&self.client_title, text::line(other, 80));
                Some(jsonrpc::error(
                    id,
                    RpcError::METHOD_NOT_FOUND,
                    &format!("{client} does not offer {other}."),
                ))
            }
        }
    }

    /// Hands a request to the call it belongs to. False: there is none that could answer it.
    fn pass_on(
        &self,
        method: ClientMethod,
        id: &RawValue,
        params: Option<&RawValue>,
        origin: Option<StreamOrigin>,
    ) -> bool {
        let params: Option<Value> =
            params.and_then(|params| serde_json::from_str(params.get()).ok());
        let call = self.call_of(params.as_ref(), origin);
        let request = ServerRequest {
            id: id.to_owned(),
            method,
            params: params.unwrap_or_default(),
        };
        call.is_some_and(|call| call.push(request))
    }

    /// The call a request belongs to. Where nothing says which it is, it is the
    /// youngest, but never while another owner's call runs as well.
    fn call_of(
        &self,
        params: Option<&Value>,
        origin: Option<StreamOrigin>,
    ) -> Option<ServerRequestQueue> {
        let meta = params.and_then(|params| params.get("_meta"));
        let token = meta
            .and_then(|meta| meta.get("progressToken"))
            .and_then(Value::as_u64);
        let task = meta
            .and_then(|meta| meta.get("io.modelcontextprotocol/related-task"))
            .and_then(|task| task.get("taskId"))
            .and_then(Value::as_str);
        let inner = self.inner();
        let id = origin.and_then(|origin| origin.call_id).or(token);
        let by_id = id.and_then(|id| inner.calls.get(&id));
        let by_task = || task.and_then(|task| inner.calls.values().find(|call| call.is_task(task)));
        let youngest = || {
            let (_, youngest) = inner.calls.iter().max_by_key(|(id, _)| **id)?;
            let owner = youngest.handler.owner();
            let mut calls = inner.calls.values();
            let is_only_owner = calls.all(|call| call.handler.owner() == owner);
            is_only_owner.then_some(youngest)
        };
        let call = by_id.or_else(by_task).or_else(youngest)?;
        Some(call.requests.clone())
    }

    fn on_notification(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/progress" => {
                if let Some(params) = params {
                    self.on_progress(params);
                }
            }
            "notifications/tools/list_changed" => self.notify_tools_changed(),
            "notifications/resources/list_changed" => {
                self.notify_list_changed(EntryKind::Resources)
            }
            "notifications/prompts/list_changed" => self.notify_list_changed(EntryKind::Prompts),
            "notifications/resources/updated" => {
                #[derive(Deserialize)]
                struct UpdatedParams {
                    uri: String,
                }
                let updated = params.and_then(|raw| serde_json::from_str(raw.get()).ok());
                if let Some(UpdatedParams { uri }) = updated {
                    // An error only means that nobody is subscribed.
                    let _ = self.resource_updates.send(uri);
                }
            }
            "notifications/subscriptions/acknowledged" => {
                let mut is_renewed = false;
                self.set_stream_open(true);
                self.subscribed.send_modify(|times| {
                    is_renewed = *times > 0;
                    *times += 1;
                });
                if is_renewed {
                    // Changes between the two subscriptions were not notified, so the tools are
                    // listed again.
                    self.notify_tools_changed();
                    self.notify_list_changed(EntryKind::Resources);
                    self.notify_list_changed(EntryKind::Prompts);
                }
            }
            "notifications/message" => {
                if let Some(message) = params.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
                    self.log.output(&log_line(&message));
                }
            }
            // Cancelled requests time out.
            _ => {}
        }
    }

    fn on_progress(&self, params: &RawValue) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ProgressParams<'a> {
            #[serde(borrow)]
            progress_token: &'a RawValue,
            #[serde(default)]
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Ok(params) = serde_json::from_str::<ProgressParams<'_>>(params.get()) else {
            return;
        };
        let handler = {
            let inner = self.inner();
            own_id(params.progress_token)
                .and_then(|call| inner.calls.get(&call))
                .map(|entry| entry.handler.clone())
        };
        if let Some(handler) = handler {
            handler.progress(ProgressNotification {
                progress: params.progress,
                total: params.total,
                message: params.message.map(|message| text::line(&message, 500)),
            });
        }
    }
}

/// A JSON-RPC batch, each message handled before the next is read.
struct Batch<F>(F);

impl<'de, F: FnMut(IncomingMessage<'de>)> Visitor<'de> for Batch<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX_BATCH_MESSAGES} messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut messages: A) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(message) = messages.next_element()? {
            count += 1;
            if count > MAX_BATCH_MESSAGES {
                return Err(A::Error::invalid_length(count, &self));
            }
            (self.0)(message);
        }
        Ok(())
    }
}

/// `notifications/message` as one line of a log.
fn log_line(message: &Value) -> String {
    let level = message.get("level").and_then(Value::as_str);
    let data = match message.get("data") {
        Some(Value::String(data)) => data.clone(),
        Some(data) => data.to_string(),
        None => String::new(),
    };
    text::line(&format!("[{}] {data}", level.unwrap_or("log")), 2000)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::session_log::{SessionEvent, SessionLog, SessionObserver};

    #[derive(Debug, Default)]
    struct Events(Mutex<Vec<String>>);

    impl SessionObserver for Events {
        fn on_event(&self, event: SessionEvent<'_>) {
            self.0.lock().unwrap().push(format!("{event:?}"));
        }
    }

    fn pending() -> (Arc<PendingRequests>, Arc<Events>) {
        let events = Arc::new(Events::default());
        let log = SessionLog::new(Some(events.clone()));
        (PendingRequests::new(log, "Test"), events)
    }

    #[track_caller]
    fn check(message: &str, replies: usize, logged: usize) {
        let (pending, events) = pending();
        let outcome = pending.on_message(message.as_bytes(), None);
        assert_eq!(outcome.replies.len(), replies);
        assert_eq!(events.0.lock().unwrap().len(), logged);
    }

    #[test]
    fn a_batch_is_read_up_to_its_limit() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let batch = |count: usize| format!("[{}]", vec![ping; count].join(","));
        check(ping, 1, 0);
        check("[]", 0, 0);
        check(&batch(100), 100, 0);
        check(&batch(100_000), 100, 1);
        check(&format!("[{ping}, 7]"), 1, 1);
    }

    #[test]
    fn an_elicitation_that_is_too_long_is_declined() {
        let message = "x".repeat(300 * 1024);
        let params = json!({ "message": message });
        let request = json!({ "id": 1, "method": "elicitation/create", "params": params });
        let (pending, events) = pending();
        let outcome = pending.on_message(request.to_string().as_bytes(), None);
        assert_eq!(
            outcome.replies,
            [r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#]
        );
        assert_eq!(*events.0.lock().unwrap(), ["Notice(ElicitationTooLong)"]);
    }

    #[test]
    fn an_id_that_is_too_long_is_not_sent_back() {
        let id = "9".repeat(1000);
        check(&format!(r#"{{"id":"{id}","method":"ping"}}"#), 0, 1);
    }
}
