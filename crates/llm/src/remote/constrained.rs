//! Tools for a model that cannot call them by itself.
//!
//! Its server is told to let nothing through but JSON of a given form: one
//! branch for each tool, one for a plain reply. Weak models choose better that
//! way than by their own broken templates.

mod envelope;

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{Message, Part, StopReason, ToolAnswer};
use tenon_net::sse::SseEvent;

use crate::remote::Decode;
use crate::remote::compiled_tool::CompiledTool;
use crate::remote::provider_error::ProviderError;
use crate::tool_result::{ResultPart, arguments_object, result_parts};
use crate::{CallFragment, ModelDelta};

use envelope::ReplyEnvelope;

/// The tools as a list in the prompt, and how to use one.
pub(crate) fn prompt(tools: &[Arc<CompiledTool>]) -> String {
    let list: Vec<String> = tools.iter().map(|tool| describe(tool)).collect();
    format!(
        "\n\nAnswer with one JSON object and nothing else. To speak to the user: {{\"reply\": \"…\"}}. \
         To use a tool: {{\"tool\": \"name\", \"arguments\": {{…}}}}; its result comes with the next message. \
         The tools:\n{}",
        list.join("\n")
    )
}

/// A conversation in which what was called and answered is JSON of the form that is asked for.
pub(crate) fn calls_as_envelopes(messages: Vec<Message>) -> Vec<Message> {
    rewrite_calls(messages, as_envelope)
}

/// The same for a model that is shown no tools at all: servers whose templates
/// know none refuse a chat with calls in it.
pub(crate) fn calls_as_text(messages: Vec<Message>) -> Vec<Message> {
    rewrite_calls(messages, as_text)
}

/// The form every answer must have. Where a call is required, none has the form of a reply.
pub(crate) fn response_format(tools: &[Arc<CompiledTool>], requires_call: bool) -> Value {
    let reply = json!({
        "type": "object",
        "properties": {"reply": {"type": "string"}},
        "required": ["reply"],
        "additionalProperties": false,
    });
    let calls = tools.iter().map(|tool| {
        json!({
            "type": "object",
            "properties": {"tool": {"type": "string", "enum": [tool.id]}, "arguments": tool.schema},
            "required": ["tool", "arguments"],
            "additionalProperties": false,
        })
    });
    let reply = (!requires_call).then_some(reply);
    let branches: Vec<Value> = calls.chain(reply).collect();
    json!({"type": "json_schema", "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "anyOf": branches},
    }})
}

fn describe(tool: &CompiledTool) -> String {
    format!(
        "- {}: {} Arguments: {}",
        tool.id, tool.description, tool.schema
    )
}

fn rewrite_calls(messages: Vec<Message>, say: fn(&Part) -> Option<String>) -> Vec<Message> {
    let messages = messages.into_iter().map(|message| match message {
        Message::User { text } => Message::User { text },
        Message::Assistant { parts } => {
            let said: Vec<String> = parts.iter().filter_map(say).collect();
            Message::Assistant {
                parts: vec![Part::text(said.join("\n\n"))],
            }
        }
        Message::Tools { answers } => {
            let results: Vec<String> = answers.iter().map(result).collect();
            Message::User {
                text: results.join("\n\n"),
            }
        }
    });
    crate::history::repair(messages.collect())
}

fn as_text(part: &Part) -> Option<String> {
    match part {
        Part::Text { text, .. } => Some(text.clone()),
        Part::Call { call, .. } => {
            let input = arguments_object(&call.input);
            Some(format!("(I called {} with {input}.)", call.tool_id))
        }
        Part::Thinking { .. } | Part::Opaque { .. } => None,
    }
}

fn as_envelope(part: &Part) -> Option<String> {
    match part {
        Part::Text { text, .. } => Some(json!({ "reply": text }).to_string()),
        Part::Call { call, .. } => {
            let call = json!({"tool": call.tool_id, "arguments": arguments_object(&call.input)});
            Some(call.to_string())
        }
        Part::Thinking { .. } | Part::Opaque { .. } => None,
    }
}

fn result(answer: &ToolAnswer) -> String {
    let pieces = result_parts(&answer.result, false);
    let texts: Vec<String> = pieces
        .into_iter()
        .filter_map(|piece| match piece {
            ResultPart::Text(text) => Some(text),
            ResultPart::Image { .. } => None,
        })
        .collect();
    format!("Result of {}:\n{}", answer.tool_id, texts.join("\n"))
}

/// Reads the JSON that such a model says.
pub(crate) struct ConstrainedDecoder<D> {
    inner: D,
    envelope: ReplyEnvelope,
    heard: Vec<ModelDelta>,
}

impl<D: Decode> ConstrainedDecoder<D> {
    pub(crate) fn new(inner: D) -> Self {
        Self {
            inner,
            envelope: ReplyEnvelope::default(),
            heard: Vec::new(),
        }
    }

    fn forward_text(&mut self, out: &mut Vec<ModelDelta>) {
        for delta in self.heard.drain(..) {
            match delta {
                ModelDelta::Text(text) => {
                    let words = self.envelope.push(&text);
                    if !words.is_empty() {
                        out.push(ModelDelta::Text(words));
                    }
                }
                other => out.push(other),
            }
        }
    }
}

impl<D: Decode> Decode for ConstrainedDecoder<D> {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError> {
        let heard = self.inner.event(event, &mut self.heard);
        self.forward_text(out);
        heard
    }

    fn end(&mut self, out: &mut Vec<ModelDelta>) {
        self.inner.end(&mut self.heard);
        // The reason to stop comes last, after what the JSON turned out to be.
        let mut stop: Vec<ModelDelta> = self
            .heard
            .extract_if(.., |delta| matches!(delta, ModelDelta::Stop(_)))
            .collect();
        self.forward_text(out);
        match self.envelope.finish() {
            envelope::EnvelopeContent::Words(words) if words.is_empty() => {}
            envelope::EnvelopeContent::Words(words) => out.push(ModelDelta::Text(words)),
            envelope::EnvelopeContent::Call { tool, arguments } => {
                out.push(ModelDelta::Call(CallFragment {
                    name: Some(tool),
                    arguments: arguments.to_string(),
                    ..CallFragment::default()
                }));
                // For its server all was said; for us it waits for a result.
                if let [ModelDelta::Stop(stop @ StopReason::End)] = stop.as_mut_slice() {
                    *stop = StopReason::ToolCalls;
                }
            }
        }
        out.extend(stop);
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }
}
