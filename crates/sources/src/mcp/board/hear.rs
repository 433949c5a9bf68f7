//! What becomes of a message that has come in.

use std::fmt;
use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tenon_tools::Progress;
use tokio::sync::mpsc;

use super::super::fault::Fault;
use super::super::message::{self, Incoming, Refusal, our_id};
use super::super::text;
use super::{Asked, Board, During, Heard};

/// How many messages that are none are written into the log.
const MAX_NOTED: u64 = 20;

/// No id is longer. It would be sent back as it is.
const MAX_ID: usize = 256;

/// A question to a person is not longer.
const MAX_QUESTION: usize = 256 * 1024;

/// Who sends more messages at once than these means no good.
const MAX_BATCH: usize = 100;

impl Board {
    /// Takes in one message. `during` says on whose stream it came.
    pub(in crate::mcp) fn hear(&self, text: &[u8], during: Option<During>) -> Heard {
        let mut heard = Heard::default();
        // Servers of 2025-03-26 may send several at once.
        let several = text.trim_ascii_start().starts_with(b"[");
        let read = match several {
            false => {
                serde_json::from_slice(text).map(|message| self.take(&message, during, &mut heard))
            }
            true => {
                let take = |message: Incoming<'_>| self.take(&message, during, &mut heard);
                serde_json::Deserializer::from_slice(text).deserialize_seq(Batch(take))
            }
        };
        if read.is_err() {
            self.note(text);
        }
        heard
    }

    /// A message came that is longer than any may be. Its ends may tell what it was to answer.
    pub(in crate::mcp) fn hear_too_long(&self, head: &[u8], tail: &[u8]) {
        let fault = Fault::too_long();
        self.logs.note(fault.to_string());
        let ids: Vec<u64> = match message::id_in(head).or_else(|| message::id_in(tail)) {
            Some(id) => vec![id],
            // Better all of them than one that waits for ever.
            None => self.inner().waiting.keys().copied().collect(),
        };
        for id in ids {
            self.answer(id, Err(fault.clone()));
        }
    }

    /// Something came that is no message.
    pub(in crate::mcp) fn note(&self, text: &[u8]) {
        let shown = String::from_utf8_lossy(&text[..text.len().min(500)]);
        let shown = text::line(&shown, 500);
        match self.noted.fetch_add(1, Ordering::Relaxed) {
            0..MAX_NOTED if !shown.is_empty() => {
                self.logs.heard_astray(&shown);
            }
            MAX_NOTED => self.logs.note("More that is no message is not shown."),
            _ => {}
        }
    }

    fn take(&self, message: &Incoming<'_>, during: Option<During>, heard: &mut Heard) {
        match (&message.method, message.id) {
            (Some(_), Some(id)) if id.get().len() > MAX_ID => self.note(id.get().as_bytes()),
            (Some(method), Some(id)) => {
                let reply = self.asked(method, id, message.params, during);
                heard.replies.extend(reply);
            }
            (Some(method), None) => self.told(method, message.params),
            (None, id) => {
                let result = match (message.result, message.error) {
                    (Some(result), _) => Ok(result.to_owned()),
                    (None, Some(error)) => Err(Fault::Refused(Refusal::read(error))),
                    (None, None) => return,
                };
                // An error about a message whose id could not be read concerns the question it came after.
                let ours = id.and_then(our_id).or(match &result {
                    Err(_) => during.map(|during| during.question),
                    Ok(_) => None,
                });
                if let Some(ours) = ours {
                    heard.answers = Some(ours);
                    self.answer(ours, result);
                }
            }
        }
    }

    /// The server asks. Questions to a person go to the call they belong to.
    fn asked(
        &self,
        method: &str,
        id: &RawValue,
        params: Option<&RawValue>,
        during: Option<During>,
    ) -> Option<String> {
        match method {
            "ping" => Some(message::answer(id, &json!({}))),
            "elicitation/create" if params.is_some_and(|said| said.get().len() > MAX_QUESTION) => {
                self.logs.note("It asked something too long to be shown.");
                Some(message::answer(id, &json!({ "action": "decline" })))
            }
            "elicitation/create" => {
                let params: Option<Value> =
                    params.and_then(|params| serde_json::from_str(params.get()).ok());
                let asks = self.whose(params.as_ref(), during);
                let asked = Asked {
                    id: id.to_owned(),
                    params: params.unwrap_or_default(),
                };
                match asks.map(|asks| asks.try_send(asked)) {
                    Some(Ok(())) => None,
                    _ => {
                        self.logs
                            .note("It asked something, and nobody was there to answer.");
                        Some(message::answer(id, &json!({ "action": "decline" })))
                    }
                }
            }
            other => Some(message::refusal(
                id,
                Refusal::METHOD_NOT_FOUND,
                &format!("Tenon does not offer {}.", text::line(other, 80)),
            )),
        }
    }

    /// The call a question belongs to. Where nothing says which it is, it is
    /// the youngest, but never when another person's call runs as well.
    fn whose(&self, params: Option<&Value>, during: Option<During>) -> Option<mpsc::Sender<Asked>> {
        let meta = params.and_then(|params| params.get("_meta"));
        let named = meta
            .and_then(|meta| meta.get("progressToken"))
            .and_then(Value::as_u64);
        let task = meta
            .and_then(|meta| meta.get("io.modelcontextprotocol/related-task"))
            .and_then(|task| task.get("taskId"))
            .and_then(Value::as_str);
        let inner = self.inner();
        let named = during.and_then(|during| during.call).or(named);
        let named = named.and_then(|call| inner.calls.get(&call));
        let by_task =
            || task.and_then(|task| inner.calls.values().find(|call| call.is_about(task)));
        let youngest = || {
            let (_, youngest) = inner.calls.iter().max_by_key(|(number, _)| **number)?;
            let mut calls = inner.calls.values();
            let user = &youngest.context.user;
            let alone = calls.all(|call| call.context.user == *user);
            alone.then_some(youngest)
        };
        let call = named.or_else(by_task).or_else(youngest)?;
        Some(call.asks.clone())
    }

    fn told(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/progress" => {
                if let Some(params) = params {
                    self.progress(params);
                }
            }
            "notifications/tools/list_changed" => self.change(),
            "notifications/subscriptions/acknowledged" => {
                let mut again = false;
                self.set_streams(true);
                self.promised.send_modify(|times| {
                    again = *times > 0;
                    *times += 1;
                });
                if again {
                    // What changed since the last promise was told to nobody.
                    self.change();
                }
            }
            "notifications/message" => {
                if let Some(said) = params.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
                    self.logs.heard(logged(&said));
                }
            }
            // Nothing here keeps resources or prompts, and cancelled questions time out.
            _ => {}
        }
    }

    fn progress(&self, params: &RawValue) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            progress_token: &'a RawValue,
            #[serde(default)]
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Ok(params) = serde_json::from_str::<Params<'_>>(params.get()) else {
            return;
        };
        let context = {
            let inner = self.inner();
            our_id(params.progress_token)
                .and_then(|call| inner.calls.get(&call))
                .map(|ears| ears.context.clone())
        };
        if let Some(context) = context {
            context.progress(Progress {
                progress: params.progress,
                total: params.total,
                message: params.message.map(|message| text::line(&message, 500)),
            });
        }
    }
}

/// Several messages in one, each handed on before the next is read.
struct Batch<F>(F);

impl<'de, F: FnMut(Incoming<'de>)> Visitor<'de> for Batch<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX_BATCH} messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut messages: A) -> Result<(), A::Error> {
        let mut count = 0;
        while let Some(message) = messages.next_element()? {
            count += 1;
            if count > MAX_BATCH {
                return Err(A::Error::invalid_length(count, &self));
            }
            (self.0)(message);
        }
        Ok(())
    }
}

/// A line of a server's log, as it came over the connection.
fn logged(said: &Value) -> String {
    let level = said.get("level").and_then(Value::as_str);
    let data = match said.get("data") {
        Some(Value::String(data)) => data.clone(),
        Some(data) => data.to_string(),
        None => String::new(),
    };
    text::line(&format!("[{}] {data}", level.unwrap_or("log")), 2000)
}

#[cfg(test)]
mod tests {
    use super::super::super::logs::Logs;
    use super::*;

    #[track_caller]
    fn check(message: &str, replies: usize, noted: usize) {
        let board = Board::new(Logs::default());
        let heard = board.hear(message.as_bytes(), None);
        assert_eq!(heard.replies.len(), replies);
        assert_eq!(board.logs().lines().len(), noted);
    }

    #[test]
    fn a_batch_is_read_as_far_as_anybody_means_it() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let batch = |count: usize| format!("[{}]", vec![ping; count].join(","));
        check(ping, 1, 0);
        check("[]", 0, 0);
        check(&batch(100), 100, 0);
        check(&batch(100_000), 100, 1);
        check(&format!("[{ping}, 7]"), 1, 1);
    }

    #[test]
    fn a_question_too_long_for_anybody_is_declined() {
        let message = "x".repeat(300 * 1024);
        let params = json!({ "message": message });
        let asked = json!({ "id": 1, "method": "elicitation/create", "params": params });
        let board = Board::new(Logs::default());
        let heard = board.hear(asked.to_string().as_bytes(), None);
        assert_eq!(
            heard.replies,
            [r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#]
        );
        let note = &board.logs().lines()[0].text;
        assert_eq!(note, "It asked something too long to be shown.");
    }

    #[test]
    fn an_id_that_is_no_id_is_not_sent_back() {
        let id = "9".repeat(1000);
        check(&format!(r#"{{"id":"{id}","method":"ping"}}"#), 0, 1);
    }
}
