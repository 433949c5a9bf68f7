//! Events of Anthropic's messages in, deltas out.
//!
//! What has to be told back exactly — signed thoughts, citations, blocks of
//! the provider's own tools — is put together again here, block by block.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tenon_domain::{StopReason, Usage};
use tenon_net::sse::SseEvent;

use crate::assemble::StopTracker;
use crate::remote::Decode;
use crate::remote::provider_error::{ProviderError, ProviderErrorBody};
use crate::{CallFragment, ModelDelta, Remote, chat_span};

/// Reads one streamed message.
#[derive(Debug)]
pub(crate) struct AnthropicDecoder {
    remote: Remote,
    /// By the server's number, which is a key and not a position.
    open: BTreeMap<u64, ContentBlock>,
    /// The open block that is not a call: there is at most one.
    aloud: Option<u64>,
    /// How many blocks were begun: their number for everybody else.
    begun: u64,
    /// The text block that was closed last, as long as nothing has come after it.
    last_text: Option<String>,
    usage: TokenCount,
    stop: StopTracker,
}

/// A block that is being said.
#[derive(Debug)]
struct ContentBlock {
    kind: BlockKind,
    number: u64,
    /// As it began.
    raw: Map<String, Value>,
    /// All its text, thinking or JSON.
    text: String,
    signature: String,
    citations: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thinking,
    Call,
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StreamFrame {
    r#type: String,
    index: Option<u64>,
    message: Option<MessageStart>,
    content_block: Option<Map<String, Value>>,
    delta: Option<BlockDelta>,
    usage: Option<TokenCount>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageStart {
    model: Option<Value>,
    usage: Option<TokenCount>,
    /// A server that does not stream sends all of it at once.
    content: Option<Vec<Map<String, Value>>>,
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BlockDelta {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    citation: Option<Value>,
    stop_reason: Option<String>,
}

/// Token counts so far; fields missing in later events keep their value.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
struct TokenCount {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

impl AnthropicDecoder {
    pub(crate) fn new(remote: &Remote) -> Self {
        Self {
            remote: remote.clone(),
            open: BTreeMap::new(),
            aloud: None,
            begun: 0,
            last_text: None,
            usage: TokenCount::default(),
            stop: StopTracker::default(),
        }
    }

    fn frame(&mut self, frame: StreamFrame, out: &mut Vec<ModelDelta>) {
        let index = frame.index.unwrap_or(0);
        match frame.r#type.as_str() {
            "message_start" => {
                if let Some(message) = frame.message {
                    if let Some(model) = message.model.as_ref().and_then(Value::as_str) {
                        chat_span::record_response_model(model);
                    }
                    self.whole(message, out);
                }
            }
            "content_block_start" => {
                self.begin(index, frame.content_block.unwrap_or_default(), out);
            }
            "content_block_delta" => self.grow(index, frame.delta.unwrap_or_default(), out),
            "content_block_stop" => self.close(index, out),
            "message_delta" => {
                let reason = frame.delta.and_then(|delta| delta.stop_reason);
                self.stop_reason(reason.as_deref());
                self.count(frame.usage, out);
            }
            "message_stop" => self.stop.is_done = true,
            // `ping`, and what will be added one day.
            _ => {}
        }
    }

    /// The beginning of a message, or the whole of it.
    fn whole(&mut self, message: MessageStart, out: &mut Vec<ModelDelta>) {
        self.count(message.usage, out);
        for (block, index) in message.content.into_iter().flatten().zip(0..) {
            self.begin(index, block, out);
            self.close(index, out);
        }
        self.stop_reason(message.stop_reason.as_deref());
    }

    fn begin(&mut self, index: u64, raw: Map<String, Value>, out: &mut Vec<ModelDelta>) {
        // A server that forgets to close a block closes it by the next. Calls may overlap.
        if let Some(forgotten) = self.aloud.take() {
            self.close(forgotten, out);
        }
        self.close(index, out);
        self.begun += 1;
        let number = self.begun;
        let last_text = self.last_text.take();
        let word = |name: &str| raw.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut block = ContentBlock {
            kind: BlockKind::Other,
            number,
            text: String::new(),
            signature: word("signature").to_owned(),
            citations: Vec::new(),
            raw: Map::new(),
        };
        match word("type") {
            "text" => {
                block.kind = BlockKind::Text;
                // Two texts in a row: each has to stay the block it was, for its
                // citations. Nothing has begun since, so `Keep` means the one before.
                if let Some(text) = last_text {
                    let text = json!({"type": "text", "text": text});
                    out.push(ModelDelta::Keep(self.remote.provider_block(text)));
                }
                block.text = word("text").to_owned();
                if !block.text.is_empty() {
                    out.push(ModelDelta::Text(block.text.clone()));
                }
                if let Some(Value::Array(citations)) = raw.get("citations") {
                    block.citations.clone_from(citations);
                }
            }
            "thinking" => {
                block.kind = BlockKind::Thinking;
                block.text = word("thinking").to_owned();
                if !block.text.is_empty() {
                    out.push(ModelDelta::Thinking(block.text.clone()));
                }
            }
            "tool_use" => {
                block.kind = BlockKind::Call;
                self.stop.has_calls = true;
                let id = Some(word("id").to_owned()).filter(|id| !id.is_empty());
                out.push(ModelDelta::Call(CallFragment {
                    index: Some(number),
                    provider_block: id
                        .as_ref()
                        .map(|id| self.remote.provider_block(json!({ "id": id }))),
                    id,
                    name: Some(word("name").to_owned()),
                    arguments: String::new(),
                }));
            }
            _ => {}
        }
        if block.kind != BlockKind::Call {
            self.aloud = Some(index);
        }
        block.raw = raw;
        self.open.insert(index, block);
    }

    fn grow(&mut self, index: u64, change: BlockDelta, out: &mut Vec<ModelDelta>) {
        if !self.open.contains_key(&index) {
            // There was no start event, so the delta decides the kind of the block.
            let kind = match (&change.text, &change.thinking) {
                (Some(_), _) => "text",
                (None, Some(_)) => "thinking",
                (None, None) => return,
            };
            let begin = Map::from_iter([("type".to_owned(), json!(kind))]);
            self.begin(index, begin, out);
        }
        let Some(block) = self.open.get_mut(&index) else {
            return;
        };
        if let Some(text) = change.text {
            block.text.push_str(&text);
            if block.kind == BlockKind::Text {
                out.push(ModelDelta::Text(text));
            }
        }
        if let Some(thought) = change.thinking {
            block.text.push_str(&thought);
            if block.kind == BlockKind::Thinking {
                out.push(ModelDelta::Thinking(thought));
            }
        }
        if let Some(json) = change.partial_json.filter(|json| !json.is_empty()) {
            match block.kind {
                BlockKind::Call => {
                    // Only whether there was any matters later; the assembler has the text.
                    block.text = "…".into();
                    out.push(ModelDelta::Call(CallFragment {
                        index: Some(block.number),
                        arguments: json,
                        ..CallFragment::default()
                    }));
                }
                BlockKind::Text | BlockKind::Thinking | BlockKind::Other => {
                    block.text.push_str(&json)
                }
            }
        }
        block
            .signature
            .push_str(&change.signature.unwrap_or_default());
        block.citations.extend(change.citation);
    }

    /// The block is whole. What is to be kept goes to the part that was begun
    /// last: that is this block's, since a text or a thought is closed before
    /// anything else begins.
    fn close(&mut self, index: u64, out: &mut Vec<ModelDelta>) {
        let Some(mut block) = self.open.remove(&index) else {
            return;
        };
        match block.kind {
            BlockKind::Text => {
                if !block.citations.is_empty() && !block.text.is_empty() {
                    let text = json!({
                        "type": "text",
                        "text": block.text,
                        "citations": block.citations,
                    });
                    out.push(ModelDelta::Keep(self.remote.provider_block(text)));
                } else if !block.text.is_empty() {
                    self.last_text = Some(block.text);
                }
            }
            BlockKind::Thinking => {
                if !block.signature.is_empty() {
                    if block.text.is_empty() {
                        // The thought itself is withheld; its signature still has to go back.
                        out.push(ModelDelta::Thinking(String::new()));
                    }
                    let thought = json!({
                        "type": "thinking",
                        "thinking": block.text,
                        "signature": block.signature,
                    });
                    out.push(ModelDelta::Keep(self.remote.provider_block(thought)));
                }
            }
            BlockKind::Call => {
                // Some servers send the whole input in the start event, without deltas.
                let input = block.raw.get("input").filter(|input| match input {
                    Value::Object(input) => !input.is_empty(),
                    _ => false,
                });
                if let Some(input) = input.filter(|_| block.text.is_empty()) {
                    out.push(ModelDelta::Call(CallFragment {
                        index: Some(block.number),
                        arguments: input.to_string(),
                        ..CallFragment::default()
                    }));
                }
            }
            BlockKind::Other => {
                if let Ok(input) = serde_json::from_str(&block.text) {
                    let input: Value = input;
                    block.raw.insert("input".into(), input);
                }
                out.push(ModelDelta::Opaque(
                    self.remote.provider_block(Value::Object(block.raw)),
                ));
            }
        }
    }

    fn stop_reason(&mut self, reason: Option<&str>) {
        self.stop.reported = match reason {
            None => return,
            Some("tool_use") => Some(StopReason::ToolCalls),
            Some("max_tokens" | "model_context_window_exceeded") => Some(StopReason::Length),
            Some("refusal") => Some(StopReason::Filtered),
            Some("pause_turn") => Some(StopReason::Paused),
            Some(_) => Some(StopReason::End),
        };
    }

    fn count(&mut self, count: Option<TokenCount>, out: &mut Vec<ModelDelta>) {
        let Some(count) = count else { return };
        let known = &mut self.usage;
        known.input_tokens = count.input_tokens.or(known.input_tokens);
        known.output_tokens = count.output_tokens.or(known.output_tokens);
        known.cache_read_input_tokens = count
            .cache_read_input_tokens
            .or(known.cache_read_input_tokens);
        known.cache_creation_input_tokens = count
            .cache_creation_input_tokens
            .or(known.cache_creation_input_tokens);
        out.push(ModelDelta::Usage(known.usage()));
    }
}

impl Decode for AnthropicDecoder {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let nonsense = |_| ProviderError::unexpected_response(&self.remote, data);
        let mut frame: StreamFrame = match serde_json::from_str(data) {
            Ok(frame) => frame,
            // A server that forgets the blank line between its events.
            Err(_) if data.contains('\n') => {
                return data.lines().try_for_each(|line| {
                    let event = SseEvent {
                        name: String::new(),
                        data: line.to_owned(),
                    };
                    self.event(&event, out)
                });
            }
            Err(error) => return Err(nonsense(error)),
        };
        if frame.r#type.is_empty() {
            frame.r#type.clone_from(&event.name);
        }
        let is_bare = frame.r#type.is_empty() && frame.error.is_some();
        if is_bare || frame.r#type == "error" {
            return Err(ProviderErrorBody::read(200, data).into_error(&self.remote));
        }
        if frame.r#type == "message" {
            let message: MessageStart = serde_json::from_str(data).map_err(nonsense)?;
            self.whole(message, out);
            self.stop.is_done = true;
            return Ok(());
        }
        self.frame(frame, out);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ModelDelta>) {
        let stop = self.stop.reason();
        // An incomplete block must not be sent back.
        if stop.is_some() {
            let open: Vec<u64> = self.open.keys().copied().collect();
            open.into_iter().for_each(|index| self.close(index, out));
        }
        out.extend(stop.map(ModelDelta::Stop));
    }

    fn is_done(&self) -> bool {
        self.stop.is_done
    }
}

impl TokenCount {
    fn usage(&self) -> Usage {
        let cache_read_tokens = self.cache_read_input_tokens.unwrap_or(0);
        let cache_write_tokens = self.cache_creation_input_tokens.unwrap_or(0);
        let plain = self.input_tokens.unwrap_or(0);
        Usage {
            // Here the cached ones are not among the others.
            input_tokens: plain
                .saturating_add(cache_read_tokens)
                .saturating_add(cache_write_tokens),
            output_tokens: self.output_tokens.unwrap_or(0),
            cache_read_tokens,
            cache_write_tokens,
        }
    }
}
