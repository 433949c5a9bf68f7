//! A chat that every provider accepts, whatever happened in it.
//!
//! A call without its result, a result without its call, two turns of the same
//! side in a row, an empty message: any of them makes a provider refuse the
//! whole request, and with it every later one of that chat.

mod fit;

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tenon_domain::{CallId, Kept, Message, Part, ToolAnswer, ToolCall, ToolError, WireFormat};

pub(crate) use fit::{fit, tokens, weight};

/// Makes a chat valid. What is valid already stays as it is.
pub fn mend(messages: Vec<Message>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    let mut given: Vec<ToolAnswer> = Vec::new();
    for message in messages {
        // Calls are answered by what follows them, or not at all.
        if !matches!(message, Message::Tools { .. }) {
            answer(&mut out, std::mem::take(&mut given));
        }
        match message {
            Message::User { text } if text.trim().is_empty() => {}
            Message::User { text } => match out.last_mut() {
                Some(Message::User { text: before }) => {
                    before.push_str("\n\n");
                    before.push_str(&text);
                }
                _ => out.push(Message::User { text }),
            },
            Message::Assistant { parts } => say(&mut out, parts),
            Message::Tools { answers } => given.extend(answers),
        }
    }
    answer(&mut out, given);
    // What is said to nobody is not said.
    let begin = out
        .iter()
        .position(|message| matches!(message, Message::User { .. }))
        .unwrap_or(out.len());
    out.drain(..begin);
    out
}

/// Why a chat would be refused; asked before each request, so that a mistake
/// of ours is found here and not in a provider's riddle of an answer.
pub fn check(messages: &[Message]) -> Result<(), String> {
    if !matches!(messages.first(), Some(Message::User { .. })) {
        return Err("a chat begins with the user".into());
    }
    let mut seen = HashSet::new();
    let mut open: Vec<&CallId> = Vec::new();
    let mut before: Option<&Message> = None;
    for message in messages {
        match message {
            Message::User { text } => {
                if text.trim().is_empty() {
                    return Err("the user said nothing".into());
                }
                if matches!(before, Some(Message::User { .. })) {
                    return Err("the user speaks twice".into());
                }
            }
            Message::Assistant { parts } => {
                if parts.is_empty() {
                    return Err("the model said nothing".into());
                }
                if matches!(before, Some(Message::Assistant { .. })) {
                    return Err("the model speaks twice".into());
                }
            }
            Message::Tools { answers } => {
                let answered: Vec<&CallId> = answers.iter().map(|answer| &answer.call_id).collect();
                if answered != open || open.is_empty() {
                    return Err("calls and results do not match".into());
                }
                open.clear();
            }
        }
        if let Some(call) = open.first() {
            return Err(format!("call {call} has no result"));
        }
        if let Message::Assistant { parts } = message {
            open = parts
                .iter()
                .filter_map(Part::as_call)
                .map(|call| &call.id)
                .collect();
            if !open.iter().all(|id| seen.insert((*id).clone())) {
                return Err("two calls have the same id".into());
            }
        }
        before = Some(message);
    }
    match open.first() {
        Some(call) => Err(format!("call {call} has no result")),
        None => Ok(()),
    }
}

fn say(out: &mut Vec<Message>, mut parts: Vec<Part>) {
    parts.retain(|part| match part {
        Part::Text { text, kept } => !text.trim().is_empty() || kept.is_some(),
        Part::Thinking { .. } | Part::Call { .. } | Part::Opaque { .. } => true,
    });
    // A call that was answered once is not asked again under the same id.
    let mut known: HashSet<CallId> = calls(out).map(|call| call.id.clone()).collect();
    parts.retain(|part| {
        part.as_call()
            .is_none_or(|call| known.insert(call.id.clone()))
    });
    if parts.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(Message::Assistant { parts: before }) => before.extend(parts),
        _ => out.push(Message::Assistant { parts }),
    }
}

fn calls(messages: &[Message]) -> impl Iterator<Item = &ToolCall> {
    let parts = messages.iter().flat_map(|message| match message {
        Message::Assistant { parts } => parts.as_slice(),
        Message::User { .. } | Message::Tools { .. } => &[],
    });
    parts.filter_map(Part::as_call)
}

/// Answers the calls that are open, in their order; those without an answer were lost.
fn answer(out: &mut Vec<Message>, answers: Vec<ToolAnswer>) {
    let Some(Message::Assistant { parts }) = out.last() else {
        return;
    };
    let mut given: HashMap<CallId, ToolAnswer> = answers
        .into_iter()
        .map(|answer| (answer.call_id.clone(), answer))
        .collect();
    let answers: Vec<ToolAnswer> = parts
        .iter()
        .filter_map(Part::as_call)
        .map(|call| {
            given.remove(&call.id).unwrap_or_else(|| ToolAnswer {
                call_id: call.id.clone(),
                tool_id: call.tool_id.clone(),
                result: Err(ToolError::lost()),
            })
        })
        .collect();
    if !answers.is_empty() {
        out.push(Message::Tools { answers });
    }
}

/// The ids of calls as one provider knows them: its own where it gave one,
/// else made from ours. No two calls of a request share one.
pub(crate) struct Ids {
    format: WireFormat,
    maker: String,
    given: HashMap<CallId, String>,
    taken: HashSet<String>,
}

impl Ids {
    pub(crate) fn new(format: WireFormat, maker: String) -> Self {
        Self {
            format,
            maker,
            given: HashMap::new(),
            taken: HashSet::new(),
        }
    }

    /// What this very provider wanted to be told back.
    pub(crate) fn own<'a>(&self, kept: &'a Option<Kept>) -> Option<&'a Value> {
        kept.as_ref().and_then(|kept| self.own_block(kept))
    }

    pub(crate) fn own_block<'a>(&self, kept: &'a Kept) -> Option<&'a Value> {
        (kept.maker == self.maker).then_some(&kept.block)
    }

    pub(crate) fn give(&mut self, call: &ToolCall, own: Option<&str>) -> String {
        let own = own.filter(|own| !own.is_empty()).map(str::to_owned);
        let made = (0_u64..).map(|number| match (self.format, number) {
            (WireFormat::Anthropic, 0) => call.id.0.clone(),
            (WireFormat::Anthropic, number) => format!("{}_{number}", call.id),
            (WireFormat::Openai, number) => short(&call.id, number),
        });
        let id = own
            .into_iter()
            .chain(made)
            .find(|id| !self.taken.contains(id))
            .expect("there are more numbers than calls");
        self.taken.insert(id.clone());
        self.given.insert(call.id.clone(), id.clone());
        id
    }

    pub(crate) fn of(&self, call: &CallId) -> String {
        let known = self.given.get(call).cloned();
        known.unwrap_or_else(|| call.0.clone())
    }
}

/// Nine letters and digits: what the strictest server (Mistral's) accepts, and all others do.
fn short(id: &CallId, number: u64) -> String {
    const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // FNV-1a: any spread of bits will do, only it must be the same tomorrow.
    let mut hash =
        id.0.bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64 ^ number, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
    let mut short = String::with_capacity(9);
    for _ in 0..9 {
        short.push(char::from(SIGNS[(hash % 62) as usize]));
        hash /= 62;
    }
    short
}
