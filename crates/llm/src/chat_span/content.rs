//! What is said, in the JSON that the conventions ask for in attributes. Pictures and files are
//! named only.

use std::borrow::Cow;

use serde_json::{Value, json};
use tenon_domain::{Message, Part, ToolAnswer, text};

use crate::ModelDelta;

/// An attribute holds this much; whoever exports cuts the rest.
const MAX_BYTES: usize = 15 * 1024;

/// One text of many.
const MAX_PART_BYTES: usize = 4 * 1024;

pub(super) fn system_instructions(system: &str) -> String {
    let system = text::shorten_to_bytes(system, MAX_BYTES);
    json!([{"type": "text", "content": system}]).to_string()
}

/// As many of the newest as there is room for, in their order.
pub(super) fn input_messages(messages: &[Message]) -> String {
    let mut newest = Vec::new();
    let mut bytes = 0;
    for said in messages.iter().rev() {
        let said = message(said).to_string();
        bytes += said.len();
        if bytes > MAX_BYTES && !newest.is_empty() {
            break;
        }
        newest.push(said);
    }
    newest.reverse();
    format!("[{}]", newest.join(","))
}

fn cut(text: &str) -> Cow<'_, str> {
    text::shorten_to_bytes(text, MAX_PART_BYTES)
}

fn message(message: &Message) -> Value {
    match message {
        Message::User {
            text,
            images,
            files,
        } => {
            let mut parts = vec![json!({"type": "text", "content": cut(text)})];
            parts.extend(images.iter().map(
                |image| json!({"type": "blob", "modality": "image", "mime_type": image.media_type}),
            ));
            parts.extend(files.iter().map(|_| json!({"type": "file"})));
            json!({"role": "user", "parts": parts})
        }
        Message::Assistant { parts } => {
            let parts: Vec<Value> = parts.iter().filter_map(part).collect();
            json!({"role": "assistant", "parts": parts})
        }
        Message::Tools { answers } => {
            let parts: Vec<Value> = answers.iter().map(tool_answer).collect();
            json!({"role": "tool", "parts": parts})
        }
    }
}

fn part(part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text { text, .. } => json!({"type": "text", "content": cut(text)}),
        Part::Thinking { text, .. } => json!({"type": "reasoning", "content": cut(text)}),
        Part::Call { call, .. } => json!({
            "type": "tool_call", "id": call.id, "name": call.tool_id, "arguments": call.input,
        }),
        Part::Image(_) | Part::File { .. } | Part::Opaque { .. } => return None,
    })
}

fn tool_answer(answer: &ToolAnswer) -> Value {
    let result = match &answer.result {
        Ok(output) => output.to_text(),
        Err(error) => error.message.clone(),
    };
    json!({"type": "tool_call_response", "id": answer.call_id, "result": cut(&result)})
}

/// What a model has said so far.
#[derive(Debug, Default)]
pub(super) struct OutputText {
    text: String,
    thinking: String,
    calls: Vec<String>,
}

impl OutputText {
    pub(super) fn push(&mut self, delta: &ModelDelta) {
        let add = |to: &mut String, text: &str| {
            if to.len() < MAX_BYTES / 2 {
                to.push_str(text);
            }
        };
        match delta {
            ModelDelta::Text(text) => add(&mut self.text, text),
            ModelDelta::Thinking(text) => add(&mut self.thinking, text),
            // Inputs are whole in the spans of the calls.
            ModelDelta::Call(call) => self.calls.extend(call.name.clone()),
            _ => {}
        }
    }

    pub(super) fn messages(&self, finish_reason: Option<&str>) -> String {
        let mut parts = Vec::new();
        for (kind, text) in [("reasoning", &self.thinking), ("text", &self.text)] {
            if !text.is_empty() {
                parts.push(json!({"type": kind, "content": text}));
            }
        }
        let calls = self.calls.iter();
        parts.extend(calls.map(|name| json!({"type": "tool_call", "name": name})));
        json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}]).to_string()
    }
}
