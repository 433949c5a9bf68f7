//! Fragments in, whole parts out.
//!
//! Servers number, name and repeat the fragments of a call in every way there
//! is. The rules, from what was seen in the wild: a number is a key, not a
//! position; a new id opens a new call even under an old number; a fragment
//! with neither belongs to the call that is open; a name may come whole, in
//! pieces, or again with every fragment. Arguments grow in one `String` per
//! call, so a megabyte in ten-byte pieces is still linear.

use serde_json::Value;
use tenon_domain::{CallId, Part, StopReason, ToolCall, ToolId, Usage};

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
pub enum Draft {
    Text(String),
    Thinking(String),
    Call(CallDraft),
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
                if !matches!(self.drafts.last(), Some(Draft::Text(_))) {
                    self.drafts.push(Draft::Text(String::new()));
                }
                self.grow_last(text)
            }
            Delta::Thinking(text) => {
                if !matches!(self.drafts.last(), Some(Draft::Thinking(_))) {
                    self.drafts.push(Draft::Thinking(String::new()));
                }
                self.grow_last(text)
            }
            Delta::Call(fragment) => Some(self.push_fragment(fragment)),
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
            .filter_map(|draft| match draft {
                Draft::Text(text) => (!text.is_empty()).then_some(Part::Text { text }),
                Draft::Thinking(text) => (!text.is_empty()).then_some(Part::Thinking { text }),
                Draft::Call(call) => Some(Part::Call(ToolCall {
                    id: fresh_id(),
                    tool_id: ToolId(call.name),
                    input: input(call.arguments),
                })),
            })
            .collect();
        Reply {
            parts,
            usage: self.usage,
            stop: self.stop,
        }
    }

    fn grow_last(&mut self, text: String) -> Option<Growth> {
        let part = self.drafts.len().checked_sub(1)?;
        match &mut self.drafts[part] {
            Draft::Text(whole) | Draft::Thinking(whole) => whole.push_str(&text),
            Draft::Call(call) => call.arguments.push_str(&text),
        }
        Some(Growth { part, text })
    }

    fn push_fragment(&mut self, fragment: CallFragment) -> Growth {
        let part = self.find(&fragment).unwrap_or_else(|| {
            self.drafts.push(Draft::Call(CallDraft::default()));
            self.drafts.len() - 1
        });
        let Draft::Call(call) = &mut self.drafts[part] else {
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
                .filter_map(|(part, draft)| match draft {
                    Draft::Call(call) => Some((part, call)),
                    Draft::Text(_) | Draft::Thinking(_) => None,
                })
        };
        let same_id = |call: &CallDraft| match (&call.id, &fragment.id) {
            (Some(known), Some(id)) => known == id,
            // Nothing contradicts it.
            (None, _) | (_, None) => true,
        };
        if fragment.index.is_some() {
            let mut numbered = calls().filter(|(_, call)| call.index == fragment.index);
            return numbered
                .find(|(_, call)| same_id(call))
                .map(|(part, _)| part);
        }
        if fragment.id.is_some() {
            return calls()
                .find(|(_, call)| call.id == fragment.id)
                .map(|(part, _)| part);
        }
        // Neither number nor id: a name on a call whose arguments are whole opens the next one.
        let (part, open) = calls().next()?;
        let opens_another = fragment.name.is_some() && is_whole(&open.arguments);
        (!opens_another).then_some(part)
    }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<Value>(arguments).is_ok()
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
                Part::Thinking { text: "hm".into() },
                Part::Text {
                    text: "I look.".into()
                },
                Part::Call(ToolCall {
                    id: CallId::new("c1"),
                    tool_id: ToolId::new("a"),
                    input: json!({})
                }),
                Part::Text {
                    text: "And then".into()
                },
            ]
        );
        assert_eq!(reply.stop, Some(StopReason::ToolCalls));
    }
}
