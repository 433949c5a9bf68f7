//! Chunks of a chat completion in, deltas out.
//!
//! Every server writes them its own way. Nothing here insists on more than it
//! needs; what is of another type than it should be is the business of `loose`.

use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::{StopReason, Usage};

use super::loose::{Content, Loose, count, is_error};
use super::think::Splitter;
use crate::assemble::Ending;
use crate::fault::{Complaint, Fault};
use crate::remote::Decode;
use crate::{CallFragment, Delta, Remote};
use tenon_net::sse::SseEvent;

/// Reads one streamed completion.
#[derive(Debug)]
pub(crate) struct Decoder {
    remote: Remote,
    splitter: Splitter,
    /// The field thinking came in: it goes back in the same.
    thinking_field: Option<&'static str>,
    is_thinking: bool,
    /// OpenRouter's thinking, to be told back as it came.
    details: Vec<Value>,
    ending: Ending,
}

/// What most chunks do not have. Apart, so that a chunk is small: there are
/// thousands of them, and each is moved about.
type Rare<T> = Option<Box<T>>;

#[derive(Debug, Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Rare<Value>,
    /// Where Groq counts.
    x_groq: Rare<Value>,
    error: Rare<Value>,
    /// Words where there should be choices: an error without its envelope.
    message: Rare<Loose>,
    detail: Rare<Loose>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    delta: Option<Speech>,
    /// A server that does not stream sends the whole message instead.
    message: Rare<Speech>,
    #[serde(default)]
    finish_reason: Loose,
    /// Where Moonshot counts.
    usage: Rare<Value>,
}

#[derive(Debug, Deserialize)]
struct Speech {
    #[serde(default)]
    content: Content,
    #[serde(default)]
    refusal: Loose,
    #[serde(default)]
    reasoning_content: Loose,
    #[serde(default)]
    reasoning: Loose,
    reasoning_details: Rare<Value>,
    tool_calls: Option<Vec<Call>>,
    /// What tools were called before they were called tools.
    function_call: Rare<Function>,
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

impl Decoder {
    pub(crate) fn new(remote: &Remote) -> Self {
        Self {
            remote: remote.clone(),
            splitter: Splitter::default(),
            thinking_field: None,
            is_thinking: false,
            details: Vec::new(),
            ending: Ending::default(),
        }
    }

    fn data(&mut self, data: &str, out: &mut Vec<Delta>) -> Result<(), Fault> {
        match data.trim() {
            "" => Ok(()),
            "[DONE]" => {
                self.ending.is_done = true;
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
        let mut words = [chunk.message, chunk.detail].into_iter().flatten();
        let is_complaint = chunk.choices.is_none() && words.any(|words| !words.is_empty());
        if chunk.error.is_some_and(|error| is_error(&error)) || is_complaint {
            return Err(self.failed(data));
        }
        let groq = || chunk.x_groq.as_ref().and_then(|groq| usage(&groq["usage"]));
        let mut figures = chunk.usage.as_deref().and_then(usage).or_else(groq);
        // Asked for one answer, a server gives one; should it give more, the first is ours.
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            if let Some(speech) = choice.delta.or(choice.message.map(|whole| *whole)) {
                self.speech(speech, out);
            }
            self.finish_reason(&choice.finish_reason.0)?;
            figures = figures.or_else(|| choice.usage.as_deref().and_then(usage));
        }
        out.extend(figures.map(Delta::Usage));
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
            self.splitter.finish(out);
            self.thinking_field = Some(field);
            self.is_thinking = true;
            out.push(Delta::Thinking(text));
        }
        if let Some(Value::Array(details)) = speech.reasoning_details.map(|details| *details) {
            self.details.extend(details);
        }
        for text in [speech.content.text, speech.refusal.0] {
            if !text.is_empty() {
                self.leave_thinking(out);
                self.splitter.push(text, out);
            }
        }
        for call in speech.tool_calls.into_iter().flatten() {
            self.call(call, out);
        }
        if let Some(function) = speech.function_call {
            let call = Call {
                index: Value::from(0),
                function: Some(*function),
                ..Call::default()
            };
            self.call(call, out);
        }
    }

    fn call(&mut self, call: Call, out: &mut Vec<Delta>) {
        self.leave_thinking(out);
        self.splitter.finish(out);
        self.ending.has_calls = true;
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
            kept: (!block.is_empty()).then(|| self.remote.kept(Value::Object(block))),
        }));
    }

    /// Thinking is over once anything else comes. It goes back in the field it
    /// came in; it is still the part that was begun last, which is what `Keep` is for.
    fn leave_thinking(&mut self, out: &mut Vec<Delta>) {
        if !std::mem::take(&mut self.is_thinking) {
            return;
        }
        if let Some(field) = self.thinking_field.filter(|field| !field.is_empty()) {
            out.push(Delta::Keep(self.remote.kept(json!({ "field": field }))));
        }
    }

    fn finish_reason(&mut self, reason: &str) -> Result<(), Fault> {
        self.ending.stop = match reason {
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
}

impl Decode for Decoder {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<Delta>) -> Result<(), Fault> {
        match event.name.as_str() {
            "error" => Err(self.failed(&event.data)),
            _ => self.data(&event.data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<Delta>) {
        self.leave_thinking(out);
        self.splitter.finish(out);
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            let block = json!({ "reasoning_details": details });
            out.push(Delta::Opaque(self.remote.kept(block)));
        }
        out.extend(self.ending.reason().map(Delta::Stop));
    }

    fn is_done(&self) -> bool {
        self.ending.is_done
    }
}

/// The figures of a chunk, if it has any.
fn usage(figures: &Value) -> Option<Usage> {
    figures.as_object().filter(|figures| !figures.is_empty())?;
    let input = count(&figures["prompt_tokens"]);
    let output = count(&figures["completion_tokens"]).unwrap_or(0);
    // xAI and Gemini count what was thought in the total alone.
    let beside = input.and_then(|input| count(&figures["total_tokens"])?.checked_sub(input));
    let cached = count(&figures["prompt_tokens_details"]["cached_tokens"])
        .or_else(|| count(&figures["prompt_cache_hit_tokens"]));
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.max(beside.unwrap_or(0)),
        cache_read_tokens: cached.unwrap_or(0),
        cache_write_tokens: 0,
    })
}
