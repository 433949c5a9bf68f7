//! Tools for a model that cannot call them by itself.
//!
//! Its server is told to let nothing through but JSON of one form: `{"tool": …, "arguments": {…}}`.
//! Speaking is a tool like the others, so that a small model weighs it against them: a form of its
//! own for speaking, told before the tools, and it does nothing but speak.
//!
//! The prompt was chosen by measuring (Qwen2.5-Coder-1.5B on llama.cpp, temperature 0, five tools):
//! the ten first calls were right in every variant of this form, so what counts is that talk stays
//! talk. Of ten plain sentences 3 did where `reply` was for "when no tool is needed", 7 with a list
//! of what it is for, 9 with three examples (8 of ten others), and 10 (and 10) with `reply` listed
//! first. A field for deciding before the call (8 and 5) and other names for `reply` (7) did not
//! help. Signatures instead of schemas, and names without prefix, take a quarter fewer tokens at
//! the same score.

mod envelope;
mod short_names;
mod signature;

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{Message, Part, ToolAnswer};
use tenon_net::sse::SseEvent;

use crate::remote::Decode;
use crate::remote::compiled_tool::CompiledTool;
use crate::remote::provider_error::ProviderError;
use crate::remote::stop_deltas::StopDeltas;
use crate::tool_result::{ResultPart, arguments_object, result_parts};
use crate::{CallFragment, ModelDelta};

use envelope::{EnvelopeContent, ReplyEnvelope};
use short_names::ShortNames;
use signature::signature;

/// Explains the reply form with an example: without it, a small model always calls a tool.
const REPLY_DESCRIPTION: &str = "Says something to the user: greetings, small talk, jokes, writing, translating, explaining, \
                                 what you know yourself, and what the results of tools were.";
const REPLY_EXAMPLES: [(&str, &str); 3] = [
    ("Hello!", "Hello! How can I help you?"),
    ("What is the capital of Italy?", "Rome."),
    ("Write a line about rain.", "Rain hums softly on the roof."),
];

/// The tools as a list in the prompt, and how to use one. Where a call is required, no reply is
/// spoken of.
pub(crate) fn prompt(tools: &[Arc<CompiledTool>], requires_call: bool) -> String {
    let names = ShortNames::new(tools);
    let mut prompt = String::from("\n\nThe tools:");
    let mut list = |name: &str, description: &str, arguments: &Value| {
        let arguments = signature(arguments);
        prompt.push_str(&format!("\n- {name}: {description} Arguments: {arguments}"));
    };
    if !requires_call {
        list(names.reply(), REPLY_DESCRIPTION, &reply_arguments());
    }
    for tool in tools {
        list(names.name(&tool.id), &tool.description, &tool.schema);
    }
    prompt.push_str(
        "\n\nAnswer with one JSON object and nothing else: {\"tool\": \"name of one tool\", \"arguments\": {…}}. \
         The result of a tool comes with the next message.",
    );
    if requires_call {
        return prompt;
    }
    prompt.push_str("\nExamples:");
    for (question, answer) in REPLY_EXAMPLES {
        let answer = call_json(names.reply(), &json!({ "text": answer }));
        prompt.push_str(&format!("\n{question} → {answer}"));
    }
    prompt
}

/// A call as the model writes it, and is told back.
fn call_json(tool: &str, arguments: &Value) -> String {
    json!({"tool": tool, "arguments": arguments}).to_string()
}

/// The form every answer must have. Where a call is required, none has the form of a reply.
pub(crate) fn response_format(tools: &[Arc<CompiledTool>], requires_call: bool) -> Value {
    let names = ShortNames::new(tools);
    let call = |name: &str, arguments: &Value| {
        json!({
            "type": "object",
            "properties": {"tool": {"type": "string", "enum": [name]}, "arguments": arguments},
            "required": ["tool", "arguments"],
            "additionalProperties": false,
        })
    };
    let calls = tools
        .iter()
        .map(|tool| call(names.name(&tool.id), &closed(&tool.schema)));
    let reply = (!requires_call).then(|| call(names.reply(), &reply_arguments()));
    let branches: Vec<Value> = calls.chain(reply).collect();
    json!({"type": "json_schema", "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "anyOf": branches},
    }})
}

/// Small models are not told that there are no further arguments; their servers are.
fn closed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(keywords) = schema
        .as_object_mut()
        .filter(|keywords| keywords.contains_key("properties"))
    {
        keywords
            .entry("additionalProperties")
            .or_insert(Value::Bool(false));
    }
    schema
}

fn reply_arguments() -> Value {
    json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false,
    })
}

/// A conversation as if the model had said all of it in that form: one call at a time, each
/// followed by its result.
pub(crate) fn calls_as_envelopes(
    messages: Vec<Message>,
    tools: &[Arc<CompiledTool>],
) -> Vec<Message> {
    let names = ShortNames::new(tools);
    let mut out = Vec::new();
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        let Message::Assistant { parts } = message else {
            out.push(message);
            continue;
        };
        // A valid chat has the answers right behind their calls, in the same order.
        let answers = messages.next_if(|next| matches!(next, Message::Tools { .. }));
        let mut answers = match answers {
            Some(Message::Tools { answers }) => answers.into_iter(),
            _ => Vec::new().into_iter(),
        };
        for part in parts {
            match part {
                Part::Text { text, .. } => {
                    out.push(said(names.reply(), &json!({ "text": text })));
                }
                Part::Call { call, .. } => {
                    let name = names.name(&call.tool_id);
                    out.push(said(name, &arguments_object(&call.input)));
                    out.extend(
                        answers
                            .next()
                            .map(|answer| Message::user(result(name, &answer))),
                    );
                }
                Part::Thinking { .. }
                | Part::Image(_)
                | Part::File { .. }
                | Part::Opaque { .. } => {}
            }
        }
    }
    crate::history::repair(out)
}

fn said(tool: &str, arguments: &Value) -> Message {
    Message::Assistant {
        parts: vec![Part::text(call_json(tool, arguments))],
    }
}

/// A conversation in plain words, for a model that is shown no tools at all: servers whose
/// templates know none refuse a chat with calls in it.
pub(crate) fn calls_as_text(messages: Vec<Message>) -> Vec<Message> {
    let messages = messages.into_iter().map(|message| match message {
        user @ Message::User { .. } => user,
        Message::Assistant { parts } => {
            let said: Vec<String> = parts.iter().filter_map(as_text).collect();
            Message::Assistant {
                parts: vec![Part::text(said.join("\n\n"))],
            }
        }
        Message::Tools { answers } => {
            let results: Vec<String> = answers
                .iter()
                .map(|answer| result(answer.tool_id.as_str(), answer))
                .collect();
            Message::user(results.join("\n\n"))
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
        Part::Thinking { .. } | Part::Image(_) | Part::File { .. } | Part::Opaque { .. } => None,
    }
}

fn result(tool: &str, answer: &ToolAnswer) -> String {
    let pieces = result_parts(&answer.result, false);
    let texts: Vec<String> = pieces
        .into_iter()
        .filter_map(|piece| match piece {
            ResultPart::Text(text) => Some(text),
            ResultPart::Image { .. } => None,
        })
        .collect();
    format!("Result of {tool}:\n{}", texts.join("\n"))
}

/// Reads the JSON that such a model says.
pub(crate) struct ConstrainedDecoder<D> {
    inner: D,
    names: ShortNames,
    envelope: ReplyEnvelope,
    heard: Vec<ModelDelta>,
}

impl<D: Decode> ConstrainedDecoder<D> {
    pub(crate) fn new(inner: D, tools: &[Arc<CompiledTool>]) -> Self {
        let names = ShortNames::new(tools);
        Self {
            inner,
            envelope: ReplyEnvelope::new(names.reply()),
            names,
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
        let mut stop = StopDeltas::take(&mut self.heard);
        self.forward_text(out);
        match self.envelope.finish() {
            EnvelopeContent::Words(words) if words.is_empty() => {}
            EnvelopeContent::Words(words) => out.push(ModelDelta::Text(words)),
            EnvelopeContent::Call { tool, arguments } => {
                out.push(ModelDelta::Call(CallFragment {
                    name: Some(self.names.id_of(tool)),
                    arguments: arguments.to_string(),
                    ..CallFragment::default()
                }));
                stop.await_results();
            }
        }
        out.extend(stop.0);
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }
}
