//! Chunks of a chat completion in, deltas out.
//!
//! Every server writes them its own way. Nothing here insists on more than it
//! needs; what is of another type than it should be is the business of `lenient`.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tenon_domain::{StopReason, Usage};
use tenon_net::sse::SseEvent;

use super::lenient::{LenientContent, LenientString, count, is_error};
use super::think_tags::ThinkTagSplitter;
use crate::assemble::StopTracker;
use crate::remote::Decode;
use crate::remote::provider_error::{ProviderError, ProviderErrorBody};
use crate::{CallFragment, ModelDelta, ModelFault, Remote, chat_span};

/// Reads one streamed completion.
#[derive(Debug)]
pub(crate) struct OpenaiDecoder {
    remote: Remote,
    splitter: ThinkTagSplitter,
    /// The field thinking came in: it goes back in the same.
    thinking_field: Option<&'static str>,
    is_thinking: bool,
    /// OpenRouter's thinking, to be told back as it came.
    details: Vec<Value>,
    stop: StopTracker,
    /// The server has said which model answers.
    has_model: bool,
}

/// What most chunks do not have. Apart, so that a chunk is small: there are
/// thousands of them, and each is moved about.
type BoxedOption<T> = Option<Box<T>>;

#[derive(Debug, Deserialize)]
struct Chunk<'a> {
    /// In every chunk, and looked at in the first one alone.
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    choices: Option<Vec<ChunkChoice>>,
    usage: BoxedOption<Value>,
    /// Where Groq counts.
    x_groq: BoxedOption<Value>,
    /// How far llama.cpp has read the prompt.
    prompt_progress: BoxedOption<ChunkProgress>,
    error: BoxedOption<Value>,
    /// Words where there should be choices: an error without its envelope.
    message: BoxedOption<LenientString>,
    detail: BoxedOption<LenientString>,
}

#[derive(Debug, Deserialize)]
struct ChunkProgress {
    #[serde(default)]
    processed: u64,
    #[serde(default)]
    total: u64,
}

#[derive(Debug, Deserialize)]
struct ChunkChoice {
    delta: Option<ChunkDelta>,
    /// A server that does not stream sends the whole message instead.
    message: BoxedOption<ChunkDelta>,
    #[serde(default)]
    finish_reason: LenientString,
    /// Where Moonshot counts.
    usage: BoxedOption<Value>,
}

#[derive(Debug, Deserialize)]
struct ChunkDelta {
    #[serde(default)]
    content: LenientContent,
    #[serde(default)]
    refusal: LenientString,
    #[serde(default)]
    reasoning_content: LenientString,
    #[serde(default)]
    reasoning: LenientString,
    reasoning_details: BoxedOption<Value>,
    tool_calls: Option<Vec<ChunkCall>>,
    /// What tools were called before they were called tools.
    function_call: BoxedOption<ChunkFunction>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChunkCall {
    index: Value,
    id: LenientString,
    function: Option<ChunkFunction>,
    /// Gemini's signature of the thought behind a call.
    extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChunkFunction {
    name: LenientString,
    arguments: LenientString,
}

impl OpenaiDecoder {
    pub(crate) fn new(remote: &Remote) -> Self {
        Self {
            remote: remote.clone(),
            splitter: ThinkTagSplitter::default(),
            thinking_field: None,
            is_thinking: false,
            details: Vec::new(),
            stop: StopTracker::default(),
            has_model: false,
        }
    }

    fn data(&mut self, data: &str, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError> {
        match data.trim() {
            "" => Ok(()),
            "[DONE]" => {
                self.stop.is_done = true;
                Ok(())
            }
            data => self.apply_chunk(data, out),
        }
    }

    fn apply_chunk(&mut self, data: &str, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError> {
        let chunk: Chunk<'_> = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            // A server that forgets the blank line between its events.
            Err(_) if data.contains('\n') => {
                return data.lines().try_for_each(|line| self.data(line, out));
            }
            // Gemini puts its errors into a list.
            Err(_) if data.starts_with('[') && data.contains("\"error\"") => {
                return Err(self.failed(data));
            }
            Err(_) => return Err(ProviderError::unexpected_response(&self.remote, data)),
        };
        let mut words = [chunk.message, chunk.detail].into_iter().flatten();
        let is_error_text = chunk.choices.is_none() && words.any(|words| !words.is_empty());
        if chunk.error.is_some_and(|error| is_error(&error)) || is_error_text {
            return Err(self.failed(data));
        }
        if let Some(model) = chunk.model.filter(|_| !self.has_model) {
            self.has_model = true;
            if let Ok(LenientString(model)) = serde_json::from_str(model.get()) {
                chat_span::record_response_model(&model);
            }
        }
        if let Some(ChunkProgress { processed, total }) = chunk.prompt_progress.as_deref() {
            out.push(ModelDelta::PromptProgress {
                processed: *processed,
                total: *total,
            });
        }
        let groq = || chunk.x_groq.as_ref().and_then(|groq| usage(&groq["usage"]));
        let mut figures = chunk.usage.as_deref().and_then(usage).or_else(groq);
        // Only the first choice is read: one is requested, and some servers send more.
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            if let Some(delta) = choice.delta.or(choice.message.map(|whole| *whole)) {
                self.apply_delta(delta, out);
            }
            self.finish_reason(&choice.finish_reason.0)?;
            figures = figures.or_else(|| choice.usage.as_deref().and_then(usage));
        }
        out.extend(figures.map(ModelDelta::Usage));
        Ok(())
    }

    /// An error inside a stream.
    fn failed(&self, data: &str) -> ProviderError {
        ProviderErrorBody::read(200, data).into_error(&self.remote)
    }

    fn apply_delta(&mut self, delta: ChunkDelta, out: &mut Vec<ModelDelta>) {
        for (field, text) in [
            ("reasoning_content", delta.reasoning_content.0),
            ("reasoning", delta.reasoning.0),
            ("", delta.content.thinking),
        ] {
            // Some servers send the same thought in both fields.
            if text.is_empty() || self.thinking_field.is_some_and(|known| known != field) {
                continue;
            }
            self.splitter.finish(out);
            self.thinking_field = Some(field);
            self.is_thinking = true;
            out.push(ModelDelta::Thinking(text));
        }
        if let Some(Value::Array(details)) = delta.reasoning_details.map(|details| *details) {
            self.details.extend(details);
        }
        for text in [delta.content.text, delta.refusal.0] {
            if !text.is_empty() {
                self.leave_thinking(out);
                self.splitter.push(text, out);
            }
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.push_call(call, out);
        }
        if let Some(function) = delta.function_call {
            let call = ChunkCall {
                index: Value::from(0),
                function: Some(*function),
                ..ChunkCall::default()
            };
            self.push_call(call, out);
        }
    }

    fn push_call(&mut self, call: ChunkCall, out: &mut Vec<ModelDelta>) {
        self.leave_thinking(out);
        self.splitter.finish(out);
        self.stop.has_calls = true;
        let function = call.function.unwrap_or_default();
        let id = call.id.some();
        let mut block = serde_json::Map::new();
        if let Some(id) = &id {
            block.insert("id".into(), json!(id));
        }
        if let Some(extra) = call.extra_content {
            block.insert("extra_content".into(), extra);
        }
        out.push(ModelDelta::Call(CallFragment {
            index: call.index.as_u64(),
            id,
            name: function.name.some(),
            arguments: function.arguments.0,
            provider_block: (!block.is_empty())
                .then(|| self.remote.provider_block(Value::Object(block))),
        }));
    }

    /// Thinking is over once anything else comes. It goes back in the field it
    /// came in; it is still the part that was begun last, which is what `Keep` is for.
    fn leave_thinking(&mut self, out: &mut Vec<ModelDelta>) {
        if !std::mem::take(&mut self.is_thinking) {
            return;
        }
        if let Some(field) = self.thinking_field.filter(|field| !field.is_empty()) {
            out.push(ModelDelta::Keep(
                self.remote.provider_block(json!({ "field": field })),
            ));
        }
    }

    fn finish_reason(&mut self, reason: &str) -> Result<(), ProviderError> {
        self.stop.reported = match reason {
            "" => return Ok(()),
            "tool_calls" | "function_call" | "tool_use" => Some(StopReason::ToolCalls),
            "length" | "max_tokens" | "model_length" => Some(StopReason::Length),
            "content_filter" | "safety" | "SAFETY" => Some(StopReason::Filtered),
            "error" => {
                return Err(ProviderError::Busy {
                    fault: ModelFault::BrokeOff {
                        host: self.remote.host().into(),
                    },
                    retry_after: None,
                });
            }
            _ => Some(StopReason::End),
        };
        Ok(())
    }
}

impl Decode for OpenaiDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError> {
        match event.name.as_str() {
            "error" => Err(self.failed(&event.data)),
            _ => self.data(&event.data, out),
        }
    }

    fn end(&mut self, out: &mut Vec<ModelDelta>) {
        self.leave_thinking(out);
        self.splitter.finish(out);
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            let block = json!({ "reasoning_details": details });
            out.push(ModelDelta::Opaque(self.remote.provider_block(block)));
        }
        out.extend(self.stop.reason().map(ModelDelta::Stop));
    }

    fn is_done(&self) -> bool {
        self.stop.is_done
    }
}

/// The figures of a chunk, if it has any.
fn usage(figures: &Value) -> Option<Usage> {
    figures.as_object().filter(|figures| !figures.is_empty())?;
    let input = count(&figures["prompt_tokens"]);
    let output = count(&figures["completion_tokens"]).unwrap_or(0);
    // xAI and Gemini include thinking tokens only in the total.
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
