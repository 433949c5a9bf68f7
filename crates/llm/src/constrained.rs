//! Tools for a model that cannot call them by itself.
//!
//! Its server is told to let nothing through but JSON of a given form: one
//! branch for each tool, one for a plain reply. Weak models choose better that
//! way than by their own broken templates.

mod reply;

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{Message, Part, StopReason, ToolAnswer};

use crate::fault::Fault;
use crate::openai;
use crate::remote::{Decode, Offered, Plan};
use crate::result::{Piece, object, pieces};
use crate::{CallFragment, Delta};
use tenon_net::sse::SseEvent;

use reply::Envelope;

/// Turns a plan with tools into one that needs none: what was called and
/// answered becomes words, and the tools a list in the prompt.
pub(crate) fn prepare(plan: &mut Plan) {
    if plan.tools.is_empty() {
        return tell_plainly(plan);
    }
    let list: Vec<String> = plan.tools.iter().map(|tool| describe(tool)).collect();
    plan.system.push_str(&format!(
        "\n\nAnswer with one JSON object and nothing else. To speak to the user: {{\"reply\": \"…\"}}. \
         To use a tool: {{\"tool\": \"name\", \"arguments\": {{…}}}}; its result comes with the next message. \
         The tools:\n{}",
        list.join("\n")
    ));
    put_in_words(plan, in_the_form);
}

/// The same for a model that is shown no tools at all: servers whose templates
/// know none refuse a chat with calls in it.
pub(crate) fn tell_plainly(plan: &mut Plan) {
    put_in_words(plan, plainly);
}

/// The form every answer must have.
pub(crate) fn response_format(tools: &[Arc<Offered>]) -> Value {
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
    let branches: Vec<Value> = calls.chain([reply]).collect();
    json!({"type": "json_schema", "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "anyOf": branches},
    }})
}

fn describe(tool: &Offered) -> String {
    format!(
        "- {}: {} Arguments: {}",
        tool.id, tool.description, tool.schema
    )
}

fn put_in_words(plan: &mut Plan, say: fn(&Part) -> Option<String>) {
    let messages = std::mem::take(&mut plan.messages).into_iter();
    let messages = messages.map(|message| match message {
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
    plan.messages = crate::history::mend(messages.collect());
}

fn plainly(part: &Part) -> Option<String> {
    match part {
        Part::Text { text, .. } => Some(text.clone()),
        Part::Call { call, .. } => {
            let input = object(&call.input);
            Some(format!("(I called {} with {input}.)", call.tool_id))
        }
        Part::Thinking { .. } | Part::Opaque { .. } => None,
    }
}

fn in_the_form(part: &Part) -> Option<String> {
    match part {
        Part::Text { text, .. } => Some(json!({ "reply": text }).to_string()),
        Part::Call { call, .. } => {
            let call = json!({"tool": call.tool_id, "arguments": object(&call.input)});
            Some(call.to_string())
        }
        Part::Thinking { .. } | Part::Opaque { .. } => None,
    }
}

fn result(answer: &ToolAnswer) -> String {
    let pieces = pieces(&answer.result, false);
    let texts: Vec<String> = pieces
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Image { .. } => None,
        })
        .collect();
    format!("Result of {}:\n{}", answer.tool_id, texts.join("\n"))
}

/// Reads the JSON that such a model says.
pub(crate) struct Decoder {
    inner: openai::Decoder,
    envelope: Envelope,
    heard: Vec<Delta>,
}

impl Decoder {
    pub(crate) fn new(inner: openai::Decoder) -> Self {
        Self {
            inner,
            envelope: Envelope::default(),
            heard: Vec::new(),
        }
    }

    fn pass_on(&mut self, out: &mut Vec<Delta>) {
        for delta in self.heard.drain(..) {
            match delta {
                Delta::Text(text) => {
                    let words = self.envelope.push(&text);
                    if !words.is_empty() {
                        out.push(Delta::Text(words));
                    }
                }
                other => out.push(other),
            }
        }
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let heard = self.inner.event(event, &mut self.heard);
        self.pass_on(out);
        heard
    }

    fn end(&mut self, out: &mut Vec<Delta>) {
        self.inner.end(&mut self.heard);
        // The reason to stop comes last, after what the JSON turned out to be.
        let mut stop: Vec<Delta> = self
            .heard
            .extract_if(.., |delta| matches!(delta, Delta::Stop(_)))
            .collect();
        self.pass_on(out);
        match self.envelope.finish() {
            reply::End::Words(words) if words.is_empty() => {}
            reply::End::Words(words) => out.push(Delta::Text(words)),
            reply::End::Call { tool, arguments } => {
                out.push(Delta::Call(CallFragment {
                    name: Some(tool),
                    arguments: arguments.to_string(),
                    ..CallFragment::default()
                }));
                // For its server all was said; for us it waits for a result.
                if let [Delta::Stop(stop @ StopReason::End)] = stop.as_mut_slice() {
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
