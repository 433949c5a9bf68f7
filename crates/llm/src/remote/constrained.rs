//! Tools for a model that cannot call them by itself.
//!
//! Its server is told to let nothing through but JSON of one form: `{"tool": …, "arguments": {…}}`.
//! Speaking is a tool like the others and comes last. A form of its own for it, or rules before the tools, and a
//! small model does nothing but speak.

mod envelope;
mod form_names;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{CallId, Message, Part, StopReason, ToolAnswer};
use tenon_net::sse::SseEvent;

use crate::remote::Decode;
use crate::remote::compiled_tool::CompiledTool;
use crate::remote::provider_error::ProviderError;
use crate::tool_result::{ResultPart, arguments_object, result_parts};
use crate::{CallFragment, ModelDelta};

use envelope::{EnvelopeContent, ReplyEnvelope};
use form_names::FormNames;

/// The tools as a list in the prompt, and how to use one.
pub(crate) fn prompt(tools: &[Arc<CompiledTool>]) -> String {
    let names = FormNames::new(tools);
    let list = tools.iter().map(|tool| {
        let name = names.name(&tool.id);
        format!(
            "- {name}: {} Arguments: {}\n",
            tool.description, tool.schema
        )
    });
    let list: String = list.collect();
    let reply = names.reply();
    format!(
        "\n\nThe tools:\n{list}- {reply}: Speaks to the user: when no tool is needed, or when the results answer the question. \
         Arguments: {}\n\n\
         Answer with one JSON object and nothing else: {{\"tool\": \"name of one tool\", \"arguments\": {{…}}}}. \
         The result of a tool comes with the next message.",
        reply_arguments()
    )
}

/// The form every answer must have. Where a call is required, none has the form of a reply.
pub(crate) fn response_format(tools: &[Arc<CompiledTool>], requires_call: bool) -> Value {
    let names = FormNames::new(tools);
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
        .map(|tool| call(names.name(&tool.id), &tool.schema));
    let reply = (!requires_call).then(|| call(names.reply(), &reply_arguments()));
    let branches: Vec<Value> = calls.chain(reply).collect();
    json!({"type": "json_schema", "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "anyOf": branches},
    }})
}

fn reply_arguments() -> Value {
    json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false,
    })
}

/// A conversation as if the model had said all of it in that form: one call at a time, each followed by its result.
pub(crate) fn calls_as_envelopes(
    messages: Vec<Message>,
    tools: &[Arc<CompiledTool>],
) -> Vec<Message> {
    let names = FormNames::new(tools);
    let answers: HashMap<CallId, ToolAnswer> = messages
        .iter()
        .flat_map(|message| match message {
            Message::Tools { answers } => answers.as_slice(),
            Message::User { .. } | Message::Assistant { .. } => &[],
        })
        .map(|answer| (answer.call_id.clone(), answer.clone()))
        .collect();
    let mut out = Vec::new();
    for message in messages {
        match message {
            Message::User { .. } => out.push(message),
            Message::Assistant { parts } => {
                for part in &parts {
                    push_envelope(&mut out, part, &names, &answers);
                }
            }
            // Told behind their calls.
            Message::Tools { .. } => {}
        }
    }
    crate::history::repair(out)
}

fn push_envelope(
    out: &mut Vec<Message>,
    part: &Part,
    names: &FormNames,
    answers: &HashMap<CallId, ToolAnswer>,
) {
    let mut say = |tool: &str, arguments: &Value| {
        let envelope = json!({"tool": tool, "arguments": arguments});
        out.push(Message::Assistant {
            parts: vec![Part::text(envelope.to_string())],
        });
    };
    match part {
        Part::Text { text, .. } => say(names.reply(), &json!({ "text": text })),
        Part::Call { call, .. } => {
            say(names.name(&call.tool_id), &arguments_object(&call.input));
            if let Some(answer) = answers.get(&call.id) {
                out.push(Message::User {
                    text: result(names.name(&call.tool_id), answer),
                });
            }
        }
        Part::Thinking { .. } | Part::Opaque { .. } => {}
    }
}

/// A conversation in plain words, for a model that is shown no tools at all: servers whose templates
/// know none refuse a chat with calls in it.
pub(crate) fn calls_as_text(messages: Vec<Message>) -> Vec<Message> {
    let messages = messages.into_iter().map(|message| match message {
        Message::User { text } => Message::User { text },
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
    names: FormNames,
    envelope: ReplyEnvelope,
    heard: Vec<ModelDelta>,
}

impl<D: Decode> ConstrainedDecoder<D> {
    pub(crate) fn new(inner: D, tools: &[Arc<CompiledTool>]) -> Self {
        let names = FormNames::new(tools);
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
        let mut stop: Vec<ModelDelta> = self
            .heard
            .extract_if(.., |delta| matches!(delta, ModelDelta::Stop(_)))
            .collect();
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
