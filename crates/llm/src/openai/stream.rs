//! Chunks of a chat completion in, deltas out.
//!
//! Every server writes them its own way. Nothing here insists on more than it
//! needs, and what is of another type than it should be is taken for what it
//! most likely means.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tenon_domain::{Kept, StopReason, Usage};

use super::think::{Piece, Splitter};
use crate::fault::{Complaint, Fault};
use crate::remote::Decode;
use crate::sse::Event;
use crate::{CallFragment, Delta, Remote};

/// Reads one streamed completion.
#[derive(Debug)]
pub struct Decoder {
    remote: Remote,
    splitter: Splitter,
    /// The field thinking came in: it goes back in the same.
    thinking_field: Option<&'static str>,
    is_thinking: bool,
    /// OpenRouter's thinking, to be told back as it came.
    details: Vec<Value>,
    stop: Option<StopReason>,
    has_calls: bool,
    is_done: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Count>,
    /// Where Groq counts.
    x_groq: Option<Groq>,
    error: Option<Value>,
    /// Words where there should be choices: an error without its envelope.
    message: Loose,
    detail: Loose,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    delta: Option<Speech>,
    /// A server that does not stream sends the whole message instead.
    message: Option<Speech>,
    finish_reason: Loose,
    /// Where Moonshot counts.
    usage: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Groq {
    usage: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Speech {
    content: Content,
    refusal: Loose,
    reasoning_content: Loose,
    reasoning: Loose,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<Call>>,
    /// What tools were called before they were called tools.
    function_call: Option<Function>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call {
    index: Value,
    id: Loose,
    function: Option<Function>,
    /// Gemini's signature of the thought behind a call.
    extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function {
    name: Loose,
    arguments: Loose,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Count {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    prompt_tokens_details: Option<Details>,
    prompt_cache_hit_tokens: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<f64>,
}

impl Decoder {
    pub fn new(remote: &Remote) -> Self {
        Self {
            remote: remote.clone(),
            splitter: Splitter::default(),
            thinking_field: None,
            is_thinking: false,
            details: Vec::new(),
            stop: None,
            has_calls: false,
            is_done: false,
        }
    }

    fn data(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Fault> {
        match data.trim() {
            "" => Ok(()),
            "[DONE]" => {
                self.is_done = true;
                Ok(())
            }
            data => self.chunk(data, out),
        }
    }

    fn chunk(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let chunk: Chunk = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            // A server that forgets the blank line between its events.
            Err(_) if data.contains('\n') => {
                return data.lines().try_for_each(|line| self.data(line, out));
            }
            // Gemini puts its errors into a list.
            Err(_) if data.starts_with('[') && data.contains("\"error\"") => {
                return Err(self.failed(data));
            }
            Err(_) => return Err(Fault::nonsense(&self.remote, data)),
        };
        let is_complaint =
            chunk.choices.is_none() && !(chunk.message.is_empty() && chunk.detail.is_empty());
        if chunk.error.is_some_and(|error| !error.is_null()) || is_complaint {
            return Err(self.failed(data));
        }
        let mut count = chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage));
        // Asked for one answer, a server gives one; should it give more, the first is ours.
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            if let Some(speech) = choice.delta.or(choice.message) {
                self.speech(speech, out);
            }
            self.finish_reason(&choice.finish_reason.0)?;
            count = count.or(choice.usage);
        }
        if let Some(count) = count {
            out.push(Delta::Usage(count.usage()));
        }
        Ok(())
    }

    /// An error inside a stream.
    fn failed(&self, data: &str) -> Fault {
        Complaint::read(200, data).fault(&self.remote)
    }

    fn speech(&mut self, speech: Speech, out: &mut Vec<Delta>) {
        for (field, text) in [
            ("reasoning_content", speech.reasoning_content.0),
            ("reasoning", speech.reasoning.0),
            ("", speech.content.thinking),
        ] {
            // Some servers send the same thought in both fields.
            if text.is_empty() || self.thinking_field.is_some_and(|known| known != field) {
                continue;
            }
            self.splitter.finish(|piece| out.push(piece.into()));
            self.thinking_field = Some(field);
            self.is_thinking = true;
            out.push(Delta::Thinking(text));
        }
        self.details
            .extend(speech.reasoning_details.into_iter().flatten());
        for text in [speech.content.text, speech.refusal.0] {
            if !text.is_empty() {
                self.leave_thinking(out);
                self.splitter.push(text, |piece| out.push(piece.into()));
            }
        }
        for call in speech.tool_calls.into_iter().flatten() {
            self.call(call, out);
        }
        if let Some(function) = speech.function_call {
            let call = Call {
                index: Value::from(0),
                function: Some(function),
                ..Call::default()
            };
            self.call(call, out);
        }
    }

    fn call(&mut self, call: Call, out: &mut Vec<Delta>) {
        self.leave_thinking(out);
        self.splitter.finish(|piece| out.push(piece.into()));
        self.has_calls = true;
        let function = call.function.unwrap_or_default();
        let id = call.id.some();
        let mut block = serde_json::Map::new();
        if let Some(id) = &id {
            block.insert("id".into(), json!(id));
        }
        if let Some(extra) = call.extra_content {
            block.insert("extra_content".into(), extra);
        }
        out.push(Delta::Call(CallFragment {
            index: call.index.as_u64(),
            id,
            name: function.name.some(),
            arguments: function.arguments.0,
            kept: (!block.is_empty()).then(|| self.kept(Value::Object(block))),
        }));
    }

    /// Thinking is over once anything else comes. It goes back in the field it came in.
    fn leave_thinking(&mut self, out: &mut Vec<Delta>) {
        if !std::mem::take(&mut self.is_thinking) {
            return;
        }
        if let Some(field) = self.thinking_field.filter(|field| !field.is_empty()) {
            out.push(Delta::Keep(self.kept(json!({ "field": field }))));
        }
    }

    fn finish_reason(&mut self, reason: &str) -> Result<(), Fault> {
        self.stop = match reason {
            "" => return Ok(()),
            "tool_calls" | "function_call" | "tool_use" => Some(StopReason::ToolCalls),
            "length" | "max_tokens" | "model_length" => Some(StopReason::Length),
            "content_filter" | "safety" | "SAFETY" => Some(StopReason::Filtered),
            "error" => {
                return Err(Fault::Busy {
                    message: format!("{} broke off this answer. Try again.", self.remote.host()),
                    retry_after: None,
                });
            }
            _ => Some(StopReason::End),
        };
        Ok(())
    }

    fn kept(&self, block: Value) -> Kept {
        Kept {
            maker: self.remote.maker(),
            block,
        }
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Fault> {
        match event.name.as_str() {
            "error" => Err(self.failed(&event.data)),
            _ => self.data(&event.data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<Delta>) {
        self.leave_thinking(out);
        self.splitter.finish(|piece| out.push(piece.into()));
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            let block = json!({ "reasoning_details": details });
            out.push(Delta::Opaque(self.kept(block)));
        }
        let stop = match self.stop {
            // Some say "stop" although they wait for their calls.
            Some(StopReason::End) if self.has_calls => Some(StopReason::ToolCalls),
            // They said that they were done, only not why.
            None if self.is_done && self.has_calls => Some(StopReason::ToolCalls),
            None if self.is_done => Some(StopReason::End),
            stop => stop,
        };
        out.extend(stop.map(Delta::Stop));
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl From<Piece> for Delta {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Text(text) => Self::Text(text),
            Piece::Thinking(text) => Self::Thinking(text),
        }
    }
}

impl Count {
    fn usage(&self) -> Usage {
        let whole = |count: Option<f64>| count.unwrap_or_default().max(0.0) as u64;
        let details = self.prompt_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens);
        Usage {
            input_tokens: whole(self.prompt_tokens),
            output_tokens: whole(self.completion_tokens),
            cache_read_tokens: whole(cached.or(self.prompt_cache_hit_tokens)),
            cache_write_tokens: 0,
        }
    }
}

/// A string, or what stands where one should: null is empty, all else is its JSON.
#[derive(Debug, Default)]
struct Loose(String);

impl Loose {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn some(self) -> Option<String> {
        Some(self.0).filter(|text| !text.is_empty())
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything;

        impl<'de> Visitor<'de> for Anything {
            type Value = Loose;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
                Ok(Loose(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Loose, E> {
                Ok(Loose(text))
            }

            fn visit_unit<E>(self) -> Result<Loose, E> {
                Ok(Loose::default())
            }

            fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Loose, A::Error> {
                let value = Value::deserialize(serde::de::value::SeqAccessDeserializer::new(seq))?;
                Ok(Loose(value.to_string()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loose, A::Error> {
                let value = Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Loose(value.to_string()))
            }
        }

        deserializer.deserialize_any(Anything)
    }
}

/// Text, or a list of parts that are text or thinking.
#[derive(Debug, Default)]
struct Content {
    text: String,
    thinking: String,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;

        impl<'de> Visitor<'de> for Parts {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a list of parts")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Content, E> {
                self.visit_string(text.to_owned())
            }

            fn visit_string<E>(self, text: String) -> Result<Content, E> {
                Ok(Content {
                    text,
                    ..Content::default()
                })
            }

            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(part) = seq.next_element::<Value>()? {
                    match part["type"].as_str() {
                        Some("thinking") => content.thinking.push_str(&words(&part["thinking"])),
                        _ => content.text.push_str(&words(&part)),
                    }
                }
                Ok(content)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
                let part = Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                self.visit_string(words(&part))
            }
        }

        deserializer.deserialize_any(Parts)
    }
}

/// The text in a part, or in a list of parts.
fn words(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(words).collect(),
        Value::Object(part) => part.get("text").map(words).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
