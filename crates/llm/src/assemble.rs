//! Fragments in, whole parts out.
//!
//! Servers number, name and repeat the fragments of a call in every way there
//! is. The rules, from what was seen in the wild: a number is a key, not a
//! position; a new id opens a new call even under an old number, unless there
//! is no name to it and the call of that number is not whole yet; a fragment
//! with neither belongs to the call that is open; a name may come whole, in
//! pieces, or again with every fragment; a name on a call that is whole opens
//! the next one. Arguments grow in one `String` per call and calls are found by
//! what they are known as, so a megabyte in ten-byte pieces is still linear, and
//! so are ten thousand calls.

mod object_scanner;
mod stop_tracker;

use std::collections::HashMap;

use serde_json::Value;
use tenon_domain::{CallId, Part, ProviderBlock, StopReason, ToolCall, ToolId, Usage};

use crate::{CallFragment, ModelDelta};

pub(crate) use stop_tracker::StopTracker;

use object_scanner::JsonObjectScanner;

/// The complete reply of a model in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    pub parts: Vec<Part>,
    pub usage: Usage,
    /// None: the stream ended without saying why.
    pub stop: Option<StopReason>,
}

/// Joins deltas into parts, in the order they began.
#[derive(Debug, Default)]
pub struct Assembler {
    drafts: Vec<PartDraft>,
    /// The last call that is known by a number, by an id, or by both together.
    known: HashMap<(Option<u64>, Option<String>), usize>,
    last_call: Option<usize>,
    calls: usize,
    usage: Usage,
    stop: Option<StopReason>,
}

/// A part that is still growing.
#[derive(Debug, Clone, PartialEq)]
pub struct PartDraft {
    pub body: DraftBody,
    /// Opaque data that the provider wants back with the part. It ends the part: later deltas start
    /// a new one.
    provider_block: Option<ProviderBlock>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DraftBody {
    Text(String),
    Thinking(String),
    Call(CallDraft),
    Opaque,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallDraft {
    index: Option<u64>,
    id: Option<String>,
    pub name: String,
    pub arguments: String,
    braces: JsonObjectScanner,
}

/// Where the last delta went: which part, and what it appended there.
#[derive(Debug, PartialEq, Eq)]
pub struct Growth {
    pub part: usize,
    pub text: String,
}

impl Assembler {
    /// Takes in a delta; tells what grew, if anything a person could see did.
    pub fn push(&mut self, delta: ModelDelta) -> Option<Growth> {
        match delta {
            ModelDelta::Text(text) => {
                let part = self.open(
                    |body| matches!(body, DraftBody::Text(_)),
                    || DraftBody::Text(String::new()),
                );
                self.grow(part, text)
            }
            ModelDelta::Thinking(text) => {
                let part = self.open(
                    |body| matches!(body, DraftBody::Thinking(_)),
                    || DraftBody::Thinking(String::new()),
                );
                self.grow(part, text)
            }
            ModelDelta::Call(fragment) => Some(self.push_fragment(fragment)),
            ModelDelta::Keep(provider_block) => {
                if let Some(last) = self.drafts.last_mut() {
                    last.provider_block = Some(provider_block);
                }
                None
            }
            ModelDelta::Opaque(provider_block) => {
                self.drafts.push(PartDraft {
                    body: DraftBody::Opaque,
                    provider_block: Some(provider_block),
                });
                None
            }
            ModelDelta::OmittedTool(_)
            | ModelDelta::Alive
            | ModelDelta::PromptProgress { .. }
            | ModelDelta::Retry(_) => None,
            ModelDelta::Usage(usage) => {
                self.usage = usage;
                None
            }
            ModelDelta::Stop(stop) => {
                self.stop = Some(stop);
                None
            }
        }
    }

    /// What has been said so far.
    pub fn drafts(&self) -> &[PartDraft] {
        &self.drafts
    }

    /// How many calls there are among them.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// The whole of it. Calls get fresh ids: what providers number repeats across turns.
    pub fn finish(self, mut fresh_id: impl FnMut() -> CallId) -> ModelReply {
        let parts = self
            .drafts
            .into_iter()
            .filter_map(
                |PartDraft {
                     body,
                     provider_block,
                 }| match body {
                    // Nothing was said, and nothing has to be told back.
                    DraftBody::Text(text) | DraftBody::Thinking(text)
                        if text.is_empty() && provider_block.is_none() =>
                    {
                        None
                    }
                    DraftBody::Text(text) => Some(Part::Text {
                        text,
                        provider_block,
                    }),
                    DraftBody::Thinking(text) => Some(Part::Thinking {
                        text,
                        provider_block,
                    }),
                    DraftBody::Opaque => {
                        provider_block.map(|provider_block| Part::Opaque { provider_block })
                    }
                    DraftBody::Call(call) => Some(Part::Call {
                        call: ToolCall {
                            id: fresh_id(),
                            tool_id: ToolId(call.name),
                            input: input(call.arguments),
                        },
                        provider_block,
                    }),
                },
            )
            .collect();
        ModelReply {
            parts,
            usage: self.usage,
            stop: self.stop,
        }
    }

    /// The last part if it is of this kind and not whole yet, else a new one.
    fn open(&mut self, is_it: fn(&DraftBody) -> bool, new: fn() -> DraftBody) -> usize {
        let last = self.drafts.last();
        if !last.is_some_and(|draft| draft.provider_block.is_none() && is_it(&draft.body)) {
            self.push_draft(new());
        }
        self.drafts.len() - 1
    }

    fn push_draft(&mut self, body: DraftBody) {
        self.drafts.push(PartDraft {
            body,
            provider_block: None,
        });
    }

    fn grow(&mut self, part: usize, text: String) -> Option<Growth> {
        if text.is_empty() {
            return None;
        }
        match &mut self.drafts[part].body {
            DraftBody::Text(whole) | DraftBody::Thinking(whole) => whole.push_str(&text),
            DraftBody::Call(_) | DraftBody::Opaque => {}
        }
        Some(Growth { part, text })
    }

    fn push_fragment(&mut self, fragment: CallFragment) -> Growth {
        let part = self
            .find(&fragment)
            .unwrap_or_else(|| self.push_call(CallDraft::default()));
        let draft = &mut self.drafts[part];
        if let Some(more) = fragment.provider_block {
            keep(&mut draft.provider_block, more);
        }
        let DraftBody::Call(call) = &mut draft.body else {
            unreachable!("`find` only finds calls, and what was pushed is one")
        };
        let mut is_news = false;
        if call.index.is_none() && fragment.index.is_some() {
            (call.index, is_news) = (fragment.index, true);
        }
        if call.id.is_none() && fragment.id.is_some() {
            (call.id, is_news) = (fragment.id, true);
        }
        if is_news {
            let (index, id) = (call.index, call.id.clone());
            let names = [(index, None), (None, id.clone()), (index, id)];
            self.known.extend(names.map(|name| (name, part)));
        }
        if let Some(name) = fragment.name
            // Some servers send the name again with every fragment.
            && name != call.name
        {
            call.name.push_str(&name);
        }
        call.arguments.push_str(&fragment.arguments);
        call.braces.push(&fragment.arguments);
        Growth {
            part,
            text: fragment.arguments,
        }
    }

    fn push_call(&mut self, call: CallDraft) -> usize {
        let part = self.drafts.len();
        self.push_draft(DraftBody::Call(call));
        self.last_call = Some(part);
        self.calls += 1;
        part
    }

    /// The call a fragment belongs to; none means it opens a new one.
    fn find(&self, fragment: &CallFragment) -> Option<usize> {
        let known = |index: Option<u64>, id: &Option<String>| {
            let part = *self.known.get(&(index, id.clone()))?;
            Some((part, self.call(part)?))
        };
        let last = || {
            self.last_call
                .and_then(|part| Some((part, self.call(part)?)))
        };
        let (index, id) = (fragment.index, &fragment.id);
        let is_nameless = fragment.name.is_none();
        let (part, call) = match (index, id) {
            // Servers that make up an id for each fragment name the call only once.
            (Some(_), Some(_)) => known(index, id).or_else(|| {
                known(index, &None).filter(|(_, call)| {
                    call.id.is_none() || (is_nameless && !call.braces.is_whole())
                })
            })?,
            // Arguments alone belong to the call that is open, should its number be new.
            (Some(_), None) => known(index, &None).or_else(|| last().filter(|_| is_nameless))?,
            (None, Some(_)) => known(None, id)?,
            (None, None) => last()?,
        };
        (!opens_another(call, fragment)).then_some(part)
    }

    fn call(&self, part: usize) -> Option<&CallDraft> {
        match &self.drafts[part].body {
            DraftBody::Call(call) => Some(call),
            DraftBody::Text(_) | DraftBody::Thinking(_) | DraftBody::Opaque => None,
        }
    }
}

/// Merges the pieces of a block that the provider wants back: the id first, a signature
/// later. If the id changes on the way, the first one wins.
fn keep(provider_block: &mut Option<ProviderBlock>, more: ProviderBlock) {
    match (provider_block, more.block) {
        (
            Some(ProviderBlock {
                block: Value::Object(known),
                ..
            }),
            Value::Object(block),
        ) => {
            for (field, value) in block {
                if field != "id" || !known.contains_key("id") {
                    known.insert(field, value);
                }
            }
        }
        (provider_block, block) => {
            *provider_block = Some(ProviderBlock {
                maker: more.maker,
                block,
            });
        }
    }
}

/// A name on a whole call begins another one, unless it is only said again.
fn opens_another(call: &CallDraft, fragment: &CallFragment) -> bool {
    let Some(name) = &fragment.name else {
        return false;
    };
    let is_again = *name == call.name && !fragment.arguments.trim_start().starts_with('{');
    !is_again && call.braces.is_whole()
}

/// Parses the arguments of a call. Empty text means no arguments; invalid JSON is kept as text, for
/// validation to report.
fn input(arguments: String) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(&arguments).unwrap_or(Value::String(arguments))
}

#[cfg(test)]
mod tests;
