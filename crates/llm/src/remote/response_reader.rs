//! The bytes of an answer in, deltas out, whatever the wire format.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::IgnoredAny;
use tenon_domain::{ToolUse, WireFormat};
use tenon_net::sse::{EventTooLong, SseEvent, SseParser};

use super::compiled_tool::CompiledTool;
use super::surrogates::SurrogateJoiner;
use super::text_calls::TextCallDecoder;
use super::{Decode, Remote};
use crate::remote::provider_error::ProviderError;
use crate::remote::{anthropic, constrained, openai, responses};
use crate::{Error, ModelDelta, ModelFault};

/// An answer that does not stream is read up to here.
const MAX_JSON_BYTES: usize = 32 * 1024 * 1024;

/// One event is one delta; a server that sends more is broken or hostile.
const MAX_EVENT_BYTES: usize = 32 * 1024 * 1024;

/// One that streams, up to here: what is heard but never shown (a call that does
/// not end, signatures, thoughts that only their maker can read) has no other
/// limit. A hundred thousand tokens, each in an event of its own, take about half.
const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;

/// Enough to recognise an error page by.
const MAX_HEAD_BYTES: usize = 400;

pub(super) struct ResponseReader {
    remote: Remote,
    buffer: BodyBuffer,
    decoder: Box<dyn Decode>,
    surrogates: SurrogateJoiner,
    events: Vec<SseEvent>,
    /// How the answer begins: what to quote should it turn out to be none.
    head: Vec<u8>,
    is_sniffed: bool,
    /// How many bytes came so far.
    bytes_read: usize,
    /// There was something to understand, and something was said.
    has_events: bool,
    has_answer: bool,
    /// What was heard and not taken yet.
    pub(super) deltas: Vec<ModelDelta>,
}

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseFormat {
    /// As server-sent events.
    EventStream,
    /// As one JSON value, from a server that does not stream.
    Json,
}

#[derive(Debug)]
enum BodyBuffer {
    EventStream(SseParser),
    Json(Vec<u8>),
}

pub(super) enum ReadState {
    Pending,
    Done,
}

/// Reads a recorded answer to a request without tools, cut into any pieces: what was said, and what
/// went wrong then.
pub fn replay<'a>(
    remote: &Remote,
    format: ResponseFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ModelDelta>, Option<Error>) {
    let mut reader = ResponseReader::new(remote, format, &[]);
    let read = || {
        for piece in pieces {
            if let ReadState::Done = reader.push(piece)? {
                return Ok(());
            }
        }
        reader.finish_input().map(|_| ())
    };
    let result: Result<(), ProviderError> = read();
    let error = result.err().map(|error| Error::Interrupted(error.detail()));
    (reader.deltas, error)
}

impl ResponseReader {
    /// `tools` were offered.
    pub(super) fn new(
        remote: &Remote,
        format: ResponseFormat,
        tools: &[Arc<CompiledTool>],
    ) -> Self {
        let decoder: Box<dyn Decode> = match (remote.format, remote.tools) {
            (WireFormat::Anthropic, _) => Box::new(anthropic::AnthropicDecoder::new(remote)),
            (WireFormat::Responses, _) => Box::new(responses::ResponsesDecoder::new(remote)),
            (WireFormat::Openai, ToolUse::Constrained) => {
                let inner = openai::OpenaiDecoder::new(remote);
                let decoder = constrained::ConstrainedDecoder::new(inner, tools);
                // A server that ignores the form lets its model write calls as it pleases.
                Box::new(TextCallDecoder::new(decoder, remote, tools))
            }
            (WireFormat::Openai, ToolUse::Native | ToolUse::Text | ToolUse::None) => {
                let decoder = openai::OpenaiDecoder::new(remote);
                Box::new(TextCallDecoder::new(decoder, remote, tools))
            }
        };
        Self {
            remote: remote.clone(),
            buffer: match format {
                ResponseFormat::EventStream => {
                    BodyBuffer::EventStream(SseParser::new(MAX_EVENT_BYTES))
                }
                ResponseFormat::Json => BodyBuffer::Json(Vec::new()),
            },
            decoder,
            surrogates: SurrogateJoiner::default(),
            events: Vec::new(),
            head: Vec::new(),
            is_sniffed: false,
            bytes_read: 0,
            has_events: false,
            has_answer: false,
            deltas: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<ReadState, ProviderError> {
        let endless = |remote| ProviderError::unexpected_response(remote, "one event without end");
        self.bytes_read += bytes.len();
        if self.bytes_read > MAX_RESPONSE_BYTES {
            return Err(self.too_large());
        }
        let head = MAX_HEAD_BYTES
            .saturating_sub(self.head.len())
            .min(bytes.len());
        self.head.extend_from_slice(&bytes[..head]);
        self.sniff(bytes);
        match &mut self.buffer {
            BodyBuffer::EventStream(parser) => {
                let pushed = parser.push(bytes, &mut self.events);
                pushed.map_err(|EventTooLong| endless(&self.remote))?;
            }
            BodyBuffer::Json(whole) if whole.len() + bytes.len() > MAX_JSON_BYTES => {
                return Err(endless(&self.remote));
            }
            BodyBuffer::Json(whole) => whole.extend_from_slice(bytes),
        }
        self.decode()?;
        if self.decoder.is_done() {
            self.finish()
        } else {
            Ok(ReadState::Pending)
        }
    }

    /// Nothing more will come.
    pub(super) fn finish_input(&mut self) -> Result<ReadState, ProviderError> {
        match &mut self.buffer {
            BodyBuffer::EventStream(parser) => {
                parser.finish(&mut self.events);
                self.events.iter_mut().for_each(drop_incomplete_line);
            }
            BodyBuffer::Json(whole) => self.events.push(SseEvent {
                name: String::new(),
                data: String::from_utf8_lossy(whole)
                    .trim_start_matches('\u{FEFF}')
                    .to_owned(),
            }),
        }
        self.decode()?;
        self.finish()
    }

    /// Servers mislabel their answers. JSON begins with a bracket, events never do.
    fn sniff(&mut self, bytes: &[u8]) {
        let is_nothing = |byte: &u8| byte.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(byte);
        let first = bytes.iter().find(|byte| !is_nothing(byte));
        let Some(first) = first.filter(|_| !self.is_sniffed) else {
            return;
        };
        self.is_sniffed = true;
        match (&mut self.buffer, matches!(first, b'{' | b'[')) {
            (BodyBuffer::EventStream(_), true) => self.buffer = BodyBuffer::Json(Vec::new()),
            (BodyBuffer::Json(blanks), false) => {
                let mut parser = SseParser::new(MAX_EVENT_BYTES);
                // Blanks are nothing by themselves, but they spoil the line they begin.
                let _ = parser.push(blanks, &mut self.events);
                self.buffer = BodyBuffer::EventStream(parser);
            }
            (BodyBuffer::EventStream(_), false) | (BodyBuffer::Json(_), true) => {}
        }
    }

    fn finish(&mut self) -> Result<ReadState, ProviderError> {
        self.decoder.end(&mut self.deltas);
        self.has_answer |= self.deltas.iter().any(is_answer);
        if self.has_answer {
            Ok(ReadState::Done)
        } else {
            Err(self.empty_response())
        }
    }

    /// Nothing is asked again for this: it would only come again.
    fn too_large(&self) -> ProviderError {
        let fault = ModelFault::ReplyTooLarge {
            host: self.remote.host().into(),
            mb: (MAX_RESPONSE_BYTES / (1024 * 1024)).into(),
        };
        ProviderError::Refused { fault }
    }

    /// The response ended without any content.
    fn empty_response(&self) -> ProviderError {
        let head = String::from_utf8_lossy(&self.head);
        let is_whole = matches!(self.buffer, BodyBuffer::Json(_));
        let mut lines = head.lines().map(str::trim);
        let is_strange = lines.any(|line| !line.is_empty() && !line.starts_with(':'));
        match is_strange && (is_whole || !self.has_events) {
            true if head.trim_start().starts_with('<') => {
                ProviderError::unexpected_response(&self.remote, "a web page")
            }
            true => ProviderError::unexpected_response(&self.remote, &head),
            false => ProviderError::Busy {
                fault: ModelFault::EmptyReply {
                    host: self.remote.host().into(),
                },
                retry_after: None,
            },
        }
    }

    fn decode(&mut self) -> Result<(), ProviderError> {
        let (decoder, deltas) = (&mut self.decoder, &mut self.deltas);
        self.has_events |= !self.events.is_empty();
        let mut events = self.events.drain(..);
        // Events after the end of the answer are ignored, so that there is only one end.
        let decoded = events.try_for_each(|mut event| {
            if decoder.is_done() {
                return Ok(());
            }
            if let Cow::Owned(whole) = self.surrogates.join(&event.data) {
                event.data = whole;
            }
            decoder.event(&event, deltas)
        });
        self.has_answer |= self.deltas.iter().any(is_answer);
        decoded
    }
}

/// Drops the last line of an event if the stream broke off inside it.
fn drop_incomplete_line(event: &mut SseEvent) {
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    let last = event.data.lines().next_back().unwrap_or_default().trim();
    if is_json(&event.data) || is_json(last) || last == "[DONE]" || event.name == "error" {
        return;
    }
    let rest = event.data.rfind('\n').unwrap_or(0);
    event.data.truncate(rest);
}

fn is_answer(delta: &ModelDelta) -> bool {
    !matches!(
        delta,
        ModelDelta::Usage(_) | ModelDelta::Alive | ModelDelta::PromptProgress { .. }
    )
}
