//! The bytes of an answer in, deltas out, whatever the wire format.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use tenon_domain::{ToolUse, WireFormat};

use super::halves::Halves;
use super::{Decode, Remote};
use crate::fault::Fault;
use crate::{Delta, Error, anthropic, constrained, openai};
use tenon_net::sse::{EventTooLong, SseEvent, SseParser};

/// An answer that does not stream is read up to here.
const MAX_WHOLE: usize = 32 * 1024 * 1024;

/// One event is one delta; a server that sends more is broken or hostile.
const MAX_EVENT_BYTES: usize = 32 * 1024 * 1024;

/// One that streams, up to here: what is heard but never shown (a call that does
/// not end, signatures, thoughts that only their maker can read) has no other
/// limit. A hundred thousand tokens, each in an event of its own, take about half.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Enough to recognise an error page by.
const MAX_HEAD: usize = 400;

pub(super) struct Ear {
    remote: Remote,
    form: Form,
    decoder: Box<dyn Decode>,
    halves: Halves,
    events: Vec<SseEvent>,
    /// How the answer begins: what to quote should it turn out to be none.
    head: Vec<u8>,
    is_sniffed: bool,
    /// How many bytes came so far.
    heard: usize,
    /// There was something to understand, and something was said.
    has_events: bool,
    has_answer: bool,
    /// What was heard and not taken yet.
    pub(super) deltas: Vec<Delta>,
}

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As server-sent events.
    Events,
    /// As one JSON value, from a server that does not stream.
    Whole,
}

#[derive(Debug)]
enum Form {
    Events(SseParser),
    Whole(Vec<u8>),
}

pub(super) enum Heard {
    Bytes,
    End,
}

/// Reads a recorded answer, cut into any pieces: what was said, and what went wrong then.
pub fn replay<'a>(
    remote: &Remote,
    shape: Shape,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Option<Error>) {
    let mut ear = Ear::new(remote, shape);
    let hear = || {
        for piece in pieces {
            if let Heard::End = ear.bytes(piece)? {
                return Ok(());
            }
        }
        ear.end().map(|_| ())
    };
    let heard: Result<(), Fault> = hear();
    let error = heard
        .err()
        .map(|fault| Error::Interrupted(fault.message().to_owned()));
    (ear.deltas, error)
}

impl Ear {
    pub(super) fn new(remote: &Remote, shape: Shape) -> Self {
        let decoder: Box<dyn Decode> = match (remote.format, remote.tools) {
            (WireFormat::Anthropic, _) => Box::new(anthropic::Decoder::new(remote)),
            (WireFormat::Openai, ToolUse::Constrained) => {
                Box::new(constrained::Decoder::new(openai::Decoder::new(remote)))
            }
            (WireFormat::Openai, ToolUse::Native | ToolUse::None) => {
                Box::new(openai::Decoder::new(remote))
            }
        };
        Self {
            remote: remote.clone(),
            form: match shape {
                Shape::Events => Form::Events(SseParser::new(MAX_EVENT_BYTES)),
                Shape::Whole => Form::Whole(Vec::new()),
            },
            decoder,
            halves: Halves::default(),
            events: Vec::new(),
            head: Vec::new(),
            is_sniffed: false,
            heard: 0,
            has_events: false,
            has_answer: false,
            deltas: Vec::new(),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<Heard, Fault> {
        let endless = |remote| Fault::nonsense(remote, "one event without end");
        self.heard += bytes.len();
        if self.heard > MAX_ANSWER {
            return Err(self.too_much());
        }
        let head = MAX_HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..head]);
        self.sniff(bytes);
        match &mut self.form {
            Form::Events(parser) => {
                let pushed = parser.push(bytes, &mut self.events);
                pushed.map_err(|EventTooLong| endless(&self.remote))?;
            }
            Form::Whole(whole) if whole.len() + bytes.len() > MAX_WHOLE => {
                return Err(endless(&self.remote));
            }
            Form::Whole(whole) => whole.extend_from_slice(bytes),
        }
        self.decode()?;
        match self.decoder.is_done() {
            true => self.finish(),
            false => Ok(Heard::Bytes),
        }
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) -> Result<Heard, Fault> {
        match &mut self.form {
            Form::Events(parser) => {
                parser.finish(&mut self.events);
                self.events.iter_mut().for_each(drop_torn_line);
            }
            Form::Whole(whole) => self.events.push(SseEvent {
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
        match (&mut self.form, matches!(first, b'{' | b'[')) {
            (Form::Events(_), true) => self.form = Form::Whole(Vec::new()),
            (Form::Whole(blanks), false) => {
                let mut parser = SseParser::new(MAX_EVENT_BYTES);
                // Blanks are nothing by themselves, but they spoil the line they begin.
                let _ = parser.push(blanks, &mut self.events);
                self.form = Form::Events(parser);
            }
            (Form::Events(_), false) | (Form::Whole(_), true) => {}
        }
    }

    fn finish(&mut self) -> Result<Heard, Fault> {
        self.decoder.end(&mut self.deltas);
        self.has_answer |= self.deltas.iter().any(is_answer);
        match self.has_answer {
            true => Ok(Heard::End),
            false => Err(self.nothing()),
        }
    }

    /// Nothing is asked again for this: it would only come again.
    fn too_much(&self) -> Fault {
        Fault::Refused {
            message: format!(
                "{} sent more than {} MB as one answer and was cut off. Ask for less, or choose another model.",
                self.remote.host(),
                MAX_ANSWER / (1024 * 1024)
            ),
        }
    }

    /// It is over, and nothing was said.
    fn nothing(&self) -> Fault {
        let head = String::from_utf8_lossy(&self.head);
        let is_whole = matches!(self.form, Form::Whole(_));
        let mut lines = head.lines().map(str::trim);
        let is_strange = lines.any(|line| !line.is_empty() && !line.starts_with(':'));
        match is_strange && (is_whole || !self.has_events) {
            true if head.trim_start().starts_with('<') => {
                Fault::nonsense(&self.remote, "a web page")
            }
            true => Fault::nonsense(&self.remote, &head),
            false => Fault::Busy {
                message: format!(
                    "{} ended its answer before it began. Try again, or choose another model.",
                    self.remote.host()
                ),
                retry_after: None,
            },
        }
    }

    fn decode(&mut self) -> Result<(), Fault> {
        let (decoder, deltas) = (&mut self.decoder, &mut self.deltas);
        self.has_events |= !self.events.is_empty();
        let mut events = self.events.drain(..);
        // What comes after the end is of no interest, and must not become a second end.
        let decoded = events.try_for_each(|mut event| {
            if decoder.is_done() {
                return Ok(());
            }
            if let Cow::Owned(whole) = self.halves.join(&event.data) {
                event.data = whole;
            }
            decoder.event(&event, deltas)
        });
        self.has_answer |= self.deltas.iter().any(is_answer);
        decoded
    }
}

/// What a stream that broke off leaves of its last line is no event.
fn drop_torn_line(event: &mut SseEvent) {
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    let last = event.data.lines().next_back().unwrap_or_default().trim();
    if is_json(&event.data) || is_json(last) || last == "[DONE]" || event.name == "error" {
        return;
    }
    let rest = event.data.rfind('\n').unwrap_or(0);
    event.data.truncate(rest);
}

fn is_answer(delta: &Delta) -> bool {
    !matches!(delta, Delta::Usage(_) | Delta::Alive)
}
