//! Fragments in, whole parts out.
//!
//! Servers number, name and repeat the fragments of a call in every way there
//! is. The rules, from what was seen in the wild: a number is a key, not a
//! position; a new id opens a new call even under an old number; a fragment
//! with neither belongs to the call that is open; a name may come whole, in
//! pieces, or again with every fragment; a name on a call that is whole opens
//! the next one. Arguments grow in one `String` per call, so a megabyte in
//! ten-byte pieces is still linear.

use serde::de::IgnoredAny;
use serde_json::Value;
use tenon_domain::{CallId, Kept, Part, StopReason, ToolCall, ToolId, Usage};

use crate::{CallFragment, Delta};

/// What a model said in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub parts: Vec<Part>,
    pub usage: Usage,
    /// None: the stream ended without saying why.
    pub stop: Option<StopReason>,
}

/// Joins deltas into parts, in the order they began.
#[derive(Debug, Default)]
pub struct Assembler {
    drafts: Vec<Draft>,
    usage: Usage,
    stop: Option<StopReason>,
}

/// A part that is still growing.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub body: DraftBody,
    /// Once there is something to tell back, the part is whole: what follows is another one.
    kept: Option<Kept>,
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
}

/// Where the last delta went: which part, and what it appended there.
#[derive(Debug, PartialEq, Eq)]
pub struct Growth {
    pub part: usize,
    pub text: String,
}

impl Assembler {
    /// Takes in a delta; tells what grew, if anything a person could see did.
    pub fn push(&mut self, delta: Delta) -> Option<Growth> {
        match delta {
            Delta::Text(text) => {
                let part = self.open(
                    |body| matches!(body, DraftBody::Text(_)),
                    || DraftBody::Text(String::new()),
                );
                self.grow(part, text)
            }
            Delta::Thinking(text) => {
                let part = self.open(
                    |body| matches!(body, DraftBody::Thinking(_)),
                    || DraftBody::Thinking(String::new()),
                );
                self.grow(part, text)
            }
            Delta::Call(fragment) => Some(self.push_fragment(fragment)),
            Delta::Keep(kept) => {
                if let Some(last) = self.drafts.last_mut() {
                    last.kept = Some(kept);
                }
                None
            }
            Delta::Opaque(kept) => {
                self.drafts.push(Draft {
                    body: DraftBody::Opaque,
                    kept: Some(kept),
                });
                None
            }
            Delta::LeftOut(_) | Delta::Alive | Delta::Retry(_) => None,
            Delta::Usage(usage) => {
                self.usage = usage;
                None
            }
            Delta::Stop(stop) => {
                self.stop = Some(stop);
                None
            }
        }
    }

    /// What has been said so far.
    pub fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    /// The whole of it. Calls get fresh ids: what providers number repeats across turns.
    pub fn finish(self, mut fresh_id: impl FnMut() -> CallId) -> Reply {
        let parts = self
            .drafts
            .into_iter()
            .filter_map(|Draft { body, kept }| match body {
                // Nothing was said, and nothing has to be told back.
                DraftBody::Text(text) | DraftBody::Thinking(text)
                    if text.is_empty() && kept.is_none() =>
                {
                    None
                }
                DraftBody::Text(text) => Some(Part::Text { text, kept }),
                DraftBody::Thinking(text) => Some(Part::Thinking { text, kept }),
                DraftBody::Opaque => kept.map(|kept| Part::Opaque { kept }),
                DraftBody::Call(call) => Some(Part::Call {
                    call: ToolCall {
                        id: fresh_id(),
                        tool_id: ToolId(call.name),
                        input: input(call.arguments),
                    },
                    kept,
                }),
            })
            .collect();
        Reply {
            parts,
            usage: self.usage,
            stop: self.stop,
        }
    }

    /// The last part if it is of this kind and not whole yet, else a new one.
    fn open(&mut self, is_it: fn(&DraftBody) -> bool, new: fn() -> DraftBody) -> usize {
        let last = self.drafts.last();
        if !last.is_some_and(|draft| draft.kept.is_none() && is_it(&draft.body)) {
            self.push_draft(new());
        }
        self.drafts.len() - 1
    }

    fn push_draft(&mut self, body: DraftBody) {
        self.drafts.push(Draft { body, kept: None });
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
        let part = self.find(&fragment).unwrap_or_else(|| {
            self.push_draft(DraftBody::Call(CallDraft::default()));
            self.drafts.len() - 1
        });
        let draft = &mut self.drafts[part];
        if let Some(more) = fragment.kept {
            keep(&mut draft.kept, more);
        }
        let DraftBody::Call(call) = &mut draft.body else {
            unreachable!("`find` only finds calls, and what was pushed is one")
        };
        call.index = call.index.or(fragment.index);
        if call.id.is_none() {
            call.id = fragment.id;
        }
        if let Some(name) = fragment.name
            // Some servers send the name again with every fragment.
            && name != call.name
        {
            call.name.push_str(&name);
        }
        call.arguments.push_str(&fragment.arguments);
        Growth {
            part,
            text: fragment.arguments,
        }
    }

    /// The call a fragment belongs to; none means it opens a new one.
    fn find(&self, fragment: &CallFragment) -> Option<usize> {
        let calls = || {
            self.drafts
                .iter()
                .enumerate()
                .rev()
                .filter_map(|(part, draft)| match &draft.body {
                    DraftBody::Call(call) => Some((part, call)),
                    DraftBody::Text(_) | DraftBody::Thinking(_) | DraftBody::Opaque => None,
                })
        };
        let same_id = |call: &CallDraft| match (&call.id, &fragment.id) {
            (Some(known), Some(id)) => known == id,
            // Nothing contradicts it.
            (None, _) | (_, None) => true,
        };
        let numbered = || calls().find(|(_, call)| call.index == fragment.index && same_id(call));
        let is_bare = fragment.id.is_none() && fragment.name.is_none();
        let (part, call) = match (fragment.index, &fragment.id) {
            // Arguments alone belong to the call that is open, should its number be new.
            (Some(_), _) => numbered().or_else(|| calls().next().filter(|_| is_bare))?,
            (None, Some(_)) => calls().find(|(_, call)| call.id == fragment.id)?,
            (None, None) => calls().next()?,
        };
        (!opens_another(call, fragment)).then_some(part)
    }
}

/// What has to be told back may come in pieces too: the id first, a signature later.
fn keep(kept: &mut Option<Kept>, more: Kept) {
    match (kept, more.block) {
        (
            Some(Kept {
                block: Value::Object(known),
                ..
            }),
            Value::Object(block),
        ) => known.extend(block),
        (kept, block) => {
            *kept = Some(Kept {
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
    !is_again && is_whole(&call.arguments)
}

fn is_whole(arguments: &str) -> bool {
    // Most are not, and need not be read to know it.
    arguments.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

/// The arguments of a call. No text at all means none were needed; text that
/// is no JSON stays as it came, for validation to answer.
fn input(arguments: String) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(&arguments).unwrap_or(Value::String(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fragment(
        index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> Delta {
        Delta::Call(CallFragment {
            index,
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            arguments: arguments.into(),
            kept: None,
        })
    }

    #[track_caller]
    fn check(deltas: Vec<Delta>, expected: &[(&str, Value)]) {
        let mut assembler = Assembler::default();
        for delta in deltas {
            assembler.push(delta);
        }
        let reply = assembler.finish(|| CallId::new("fresh"));
        let calls: Vec<(&str, Value)> = reply
            .parts
            .iter()
            .filter_map(Part::as_call)
            .map(|call| (call.tool_id.as_str(), call.input.clone()))
            .collect();
        assert_eq!(calls, expected);
    }

    #[test]
    fn fragments_join_whatever_the_server_calls_them() {
        let ab = [("a", json!({"x": 1})), ("b", json!({}))];
        // As documented.
        check(
            vec![
                fragment(Some(0), Some("1"), Some("a"), ""),
                fragment(Some(0), None, None, "{\"x\""),
                fragment(Some(0), None, None, ":1}"),
                fragment(Some(1), Some("2"), Some("b"), "{}"),
            ],
            &ab,
        );
        // Interleaved, numbered from 1.
        check(
            vec![
                fragment(Some(1), Some("1"), Some("a"), "{\"x\""),
                fragment(Some(2), Some("2"), Some("b"), "{"),
                fragment(Some(1), None, None, ":1}"),
                fragment(Some(2), None, None, "}"),
            ],
            &ab,
        );
        // Two calls under one number: the new id opens a new call.
        check(
            vec![
                fragment(Some(0), Some("1"), Some("a"), "{\"x\":1}"),
                fragment(Some(0), Some("2"), Some("b"), ""),
                fragment(Some(0), None, None, "{}"),
            ],
            &ab,
        );
        // No number, the id on every fragment.
        check(
            vec![
                fragment(None, Some("1"), Some("a"), "{\"x\""),
                fragment(None, Some("1"), None, ":1}"),
                fragment(None, Some("2"), Some("b"), "{}"),
            ],
            &ab,
        );
        // Neither number nor id.
        check(
            vec![
                fragment(None, None, Some("a"), "{\"x\""),
                fragment(None, None, None, ":1}"),
                fragment(None, None, Some("b"), ""),
            ],
            &ab,
        );
        // The name again with every fragment, and in pieces.
        check(
            vec![
                fragment(Some(0), Some("1"), Some("na"), ""),
                fragment(Some(0), None, Some("me"), "{}"),
                fragment(Some(0), None, Some("name"), ""),
            ],
            &[("name", json!({}))],
        );
    }

    #[test]
    fn arguments_that_are_no_json_stay_as_they_came() {
        check(
            vec![fragment(Some(0), None, Some("a"), "{\"x\": ")],
            &[("a", json!("{\"x\": "))],
        );
        check(
            vec![fragment(Some(0), None, Some("a"), " \n")],
            &[("a", json!({}))],
        );
        check(
            vec![fragment(Some(0), None, Some("a"), "[1]")],
            &[("a", json!([1]))],
        );
    }

    #[test]
    fn text_thinking_and_calls_keep_their_order() {
        let mut assembler = Assembler::default();
        assembler.push(Delta::Thinking("hm".into()));
        assembler.push(Delta::Text("I ".into()));
        assert_eq!(
            assembler.push(Delta::Text("look.".into())),
            Some(Growth {
                part: 1,
                text: "look.".into()
            })
        );
        assembler.push(fragment(Some(0), None, Some("a"), "{}"));
        assembler.push(Delta::Text("And then".into()));
        assembler.push(Delta::Stop(StopReason::ToolCalls));
        let reply = assembler.finish(|| CallId::new("c1"));
        assert_eq!(
            reply.parts,
            vec![
                Part::thinking("hm"),
                Part::text("I look."),
                Part::call(ToolCall {
                    id: CallId::new("c1"),
                    tool_id: ToolId::new("a"),
                    input: json!({})
                }),
                Part::text("And then"),
            ]
        );
        assert_eq!(reply.stop, Some(StopReason::ToolCalls));
    }
}
