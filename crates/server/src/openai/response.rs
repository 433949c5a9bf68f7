//! The chat completion response, whole or streamed in chunks.

use std::convert::Infallible;

use axum::Json;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tenon_agent::{CompletionPart, CompletionStream};
use tenon_domain::{StopReason, TurnOutcome, Usage};
use tenon_store::{fresh_id, now};

use super::client_tools::ClientTools;
use super::stop_sequences::StopSequences;
use crate::api_fault::ApiFault;
use crate::error::ApiError;
use tenon_app::budget::BudgetShare;

/// What stands at the head of every piece.
pub(super) struct ResponseHeader {
    id: String,
    created: i64,
    model: String,
}

impl ResponseHeader {
    pub(super) fn new(model: String) -> Self {
        Self {
            id: format!("chatcmpl-{}", fresh_id()),
            created: now() / 1000,
            model,
        }
    }

    fn object(&self, object: &str) -> Value {
        json!({"id": self.id, "object": object, "created": self.created, "model": self.model})
    }

    fn chunk(&self, delta: Value, finish: Option<&str>) -> Value {
        let mut chunk = self.object("chat.completion.chunk");
        chunk["choices"] =
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        chunk
    }
}

pub(super) async fn whole(
    header: ResponseHeader,
    mut from: CompletionStream,
    mut stops: StopSequences,
    client_tools: ClientTools,
) -> Result<Json<Value>, ApiError> {
    let (mut text, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    // Only a runtime that is going away ends it without a last piece.
    let (finish, counted) = loop {
        match from.next().await.ok_or(tenon_agent::Error::Closing)? {
            CompletionPart::Text(more) => {
                let (more, is_over) = stops.next(&more);
                text.push_str(&more);
                if is_over {
                    // Stopped by a stop sequence before the end, so the usage is unknown.
                    break ("stop", Usage::default());
                }
            }
            CompletionPart::Thinking(more) => thought.push_str(&more),
            CompletionPart::Calls(made) => calls = made,
            CompletionPart::End {
                outcome,
                stop,
                usage,
            } => {
                // Half an answer is none: nothing would tell it from a whole one.
                if let Some(message) = trouble(&outcome, stop) {
                    return Err(ApiError::bad_gateway(ApiFault::Upstream { message }));
                }
                text.push_str(&stops.rest());
                break (finish(&outcome, stop, !calls.is_empty()), usage);
            }
        }
    };
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if !thought.is_empty() {
        message["reasoning_content"] = thought.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(|made| client_tools.call(made)).collect();
    }
    let mut answer = header.object("chat.completion");
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish});
    answer["choices"] = json!([choice]);
    answer["usage"] = usage(counted);
    Ok(Json(answer))
}

pub(super) fn stream(
    header: ResponseHeader,
    from: CompletionStream,
    stops: StopSequences,
    client_tools: ClientTools,
    with_usage: bool,
    memory: Option<BudgetShare>,
) -> impl IntoResponse {
    let first = header.chunk(json!({"role": "assistant", "content": ""}), None);
    let writer = ChunkWriter {
        header,
        stops,
        client_tools,
        with_usage,
        has_calls: false,
        _memory: memory,
    };
    let rest = stream::unfold(Some((writer, from)), |state| async move {
        let (mut writer, mut from) = state?;
        let (chunks, is_over) = writer.chunks(from.next().await?);
        Some((chunks, (!is_over).then_some((writer, from))))
    });
    let events = stream::once(async move { vec![first.to_string()] }).chain(rest);
    let events = events.flat_map(|chunks| {
        stream::iter(chunks).map(|chunk| Ok::<_, Infallible>(Event::default().data(chunk)))
    });
    // While a tool runs there is nothing to say, and proxies are impatient.
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    // Some proxies buffer responses unless this header is set.
    ([("x-accel-buffering", "no")], events)
}

/// An answer as it comes.
struct ChunkWriter {
    header: ResponseHeader,
    stops: StopSequences,
    client_tools: ClientTools,
    with_usage: bool,
    /// Whether the client was given calls to make.
    has_calls: bool,
    /// Memory share of the request, held until it is answered.
    _memory: Option<BudgetShare>,
}

impl ChunkWriter {
    /// What to say about a piece, and whether that was all.
    fn chunks(&mut self, piece: CompletionPart) -> (Vec<String>, bool) {
        let mut chunks = Vec::new();
        match piece {
            CompletionPart::Text(more) => {
                let (text, is_over) = self.stops.next(&more);
                chunks.extend(self.text(text));
                if is_over {
                    chunks.extend(self.end("stop", Usage::default()));
                }
                return (chunks, is_over);
            }
            CompletionPart::Thinking(text) => {
                chunks.push(self.delta(json!({"reasoning_content": text})));
            }
            CompletionPart::Calls(calls) => {
                self.has_calls = true;
                let calls = calls.iter().enumerate().map(|(index, made)| {
                    let mut made = self.client_tools.call(made);
                    made["index"] = index.into();
                    made
                });
                let calls: Vec<Value> = calls.collect();
                chunks.extend(self.held());
                chunks.push(self.delta(json!({"tool_calls": calls})));
            }
            CompletionPart::End {
                outcome,
                stop,
                usage,
            } => {
                chunks.extend(self.held());
                match trouble(&outcome, stop) {
                    Some(message) => {
                        let error = json!({
                            "message": message, "type": "server_error", "param": null, "code": "unreachable",
                        });
                        chunks.push(json!({"error": error}).to_string());
                        chunks.push("[DONE]".to_owned());
                    }
                    None => chunks.extend(self.end(finish(&outcome, stop, self.has_calls), usage)),
                }
                return (chunks, true);
            }
        }
        (chunks, false)
    }

    fn delta(&self, delta: Value) -> String {
        self.header.chunk(delta, None).to_string()
    }

    fn text(&self, text: String) -> Option<String> {
        (!text.is_empty()).then(|| self.delta(json!({"content": text})))
    }

    /// Flushes text held back for a stop sequence.
    fn held(&mut self) -> Option<String> {
        let text = self.stops.rest();
        self.text(text)
    }

    fn end(&self, finish: &str, counted: Usage) -> Vec<String> {
        let mut chunks = vec![self.header.chunk(json!({}), Some(finish)).to_string()];
        if self.with_usage {
            let mut last = self.header.object("chat.completion.chunk");
            last["choices"] = json!([]);
            last["usage"] = usage(counted);
            chunks.push(last.to_string());
        }
        chunks.push("[DONE]".to_owned());
        chunks
    }
}

/// The error of an outcome that is not a regular end. Reaching the length limit is regular:
/// `finish_reason` says so.
fn trouble(outcome: &TurnOutcome, stop: Option<StopReason>) -> Option<String> {
    match outcome {
        TurnOutcome::Interrupted(_) if stop == Some(StopReason::Length) => None,
        TurnOutcome::Failed(why) | TurnOutcome::Interrupted(why) => Some(why.message.clone()),
        TurnOutcome::Stopped => Some("The answer was stopped.".to_owned()),
        TurnOutcome::Done | TurnOutcome::StepLimit => None,
    }
}

/// Calls that Tenon made itself are nothing a client waits for.
fn finish(outcome: &TurnOutcome, stop: Option<StopReason>, has_calls: bool) -> &'static str {
    match (outcome, stop) {
        _ if has_calls => "tool_calls",
        (TurnOutcome::StepLimit, _) | (_, Some(StopReason::Length)) => "length",
        (_, Some(StopReason::Filtered)) => "content_filter",
        _ => "stop",
    }
}

fn usage(counted: Usage) -> Value {
    json!({
        "prompt_tokens": counted.input_tokens,
        "completion_tokens": counted.output_tokens,
        "total_tokens": counted.input_tokens.saturating_add(counted.output_tokens),
        "prompt_tokens_details": {"cached_tokens": counted.cache_read_tokens},
    })
}
