//! Which tools a model is offered in a conversation.
//!
//! The choice depends on nothing but the conversation and the catalog, and comes sorted by id: the same
//! list goes out in each step of a turn, and as far as possible in the turns after it, so that the
//! provider's prompt cache holds.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use tenon_domain::search::{Index, words};
use tenon_domain::{Content, Layer, Message, Part, ToolId, ToolSpec};

use super::Toolset;
use crate::catalog::Tool;
use crate::source::Relevance;

/// Among more tools a small model chooses badly, and reading about them takes it long.
const MAX_COMPACT_TOOLS: usize = 12;

/// Tools that one message brings in. Those of the messages before it stay as long as there is room.
const MAX_TOOLS_PER_MESSAGE: usize = 8;

/// How many messages of the user are searched for words, from the newest on.
const MAX_MESSAGES: usize = 8;

/// How much of a message is searched.
const MAX_MESSAGE_BYTES: usize = 4_000;

/// How many tools a model can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferSize {
    /// All of them; where that is more than `max`, those that the user's words call for come first.
    Full { max: usize },
    /// About a dozen, chosen by the words of the user.
    Compact,
}

/// How many tools are chosen, and how many of them one message may bring in.
#[derive(Clone, Copy)]
struct OfferLimits {
    max: usize,
    max_per_message: usize,
}

/// What a conversation says about tools.
struct ToolMentions {
    /// What the user said, the newest first, in lower case.
    texts: Vec<String>,
    words: HashSet<String>,
    used: HashSet<ToolId>,
    has_cut_output: bool,
}

impl Toolset {
    /// The tools that a model is offered in this conversation.
    pub fn offer(&self, messages: &[Message], size: OfferSize) -> Vec<Arc<ToolSpec>> {
        let mentions = ToolMentions::new(messages);
        let mut tools = self.callable();
        let has_local = self.has_tools_of_device(&tools);
        tools.retain(|tool| {
            let is_elsewhere = has_local && !self.is_of_device(tool);
            self.is_pinned(tool, &mentions) || (!is_elsewhere && mentions.is_relevant(tool, size))
        });
        match size {
            OfferSize::Compact if tools.len() > MAX_COMPACT_TOOLS => {
                let limits = OfferLimits {
                    max: MAX_COMPACT_TOOLS,
                    max_per_message: MAX_TOOLS_PER_MESSAGE,
                };
                tools = self.choose(&tools, &mentions, limits);
            }
            OfferSize::Full { max } if tools.len() > max => {
                let limits = OfferLimits {
                    max,
                    max_per_message: max / 2,
                };
                let chosen = self.choose(&tools, &mentions, limits);
                // Whoever tells the model cuts the rest off, and reports it.
                let ids: HashSet<&ToolId> = chosen.iter().map(|tool| &tool.spec.id).collect();
                tools.retain(|tool| !ids.contains(&tool.spec.id));
                tools.splice(0..0, chosen);
            }
            OfferSize::Compact | OfferSize::Full { .. } => {}
        }
        tools.into_iter().map(|tool| tool.spec.clone()).collect()
    }

    /// Whether the computer that is used has tools of its own.
    fn has_tools_of_device(&self, tools: &[&Arc<Tool>]) -> bool {
        let device = self.access.device.as_deref();
        device.is_some() && tools.iter().any(|tool| tool.source.device() == device)
    }

    /// Whether it runs on no computer of a person, or on the one that is used.
    fn is_of_device(&self, tool: &Tool) -> bool {
        let device = tool.source.device();
        device.is_none() || device == self.access.device.as_deref()
    }

    /// Whether a person wants the model to have it: named it, chose it, switched it on, or saw it used.
    fn is_pinned(&self, tool: &Tool, mentions: &ToolMentions) -> bool {
        let id = &tool.spec.id;
        let is_chosen = if self.request_tools.has(tool) {
            // Without it a task could not end.
            tool.spec.annotations.ends_turn
        } else {
            self.access.only.is_some()
        };
        let enabled = self.setting(tool).enabled;
        let is_switched_on = matches!(enabled, Some((true, layer)) if layer != Layer::Organisation);
        is_chosen || is_switched_on || mentions.used.contains(id) || mentions.names(&tool.spec)
    }

    fn choose<'a>(
        &self,
        tools: &[&'a Arc<Tool>],
        mentions: &ToolMentions,
        limits: OfferLimits,
    ) -> Vec<&'a Arc<Tool>> {
        let index = Index::new(tools.iter().map(|tool| {
            [
                (tool.spec.id.as_str(), 2.0),
                (&tool.spec.display_name, 2.0),
                (&tool.spec.description, 1.0),
                (tool.source.keywords(&tool.spec.name), 1.0),
            ]
        }));
        let is_pinned = |number: &usize| self.is_pinned(tools[*number], mentions);
        let mut chosen: BTreeSet<usize> = (0..tools.len()).filter(is_pinned).collect();
        let found = mentions.texts.iter().flat_map(|text| {
            let ranked = index.rank(text).into_iter().take(limits.max_per_message);
            ranked.map(|(number, _)| number)
        });
        // Words of another language find nothing: then the first ones are better than none.
        for number in found.chain(0..tools.len()) {
            if chosen.len() >= limits.max {
                break;
            }
            chosen.insert(number);
        }
        chosen.into_iter().map(|number| tools[number]).collect()
    }
}

impl ToolMentions {
    fn new(messages: &[Message]) -> Self {
        let texts = messages.iter().rev().filter_map(|message| match message {
            Message::User { text, .. } => {
                let end = text.floor_char_boundary(MAX_MESSAGE_BYTES);
                Some(text[..end].to_lowercase())
            }
            Message::Assistant { .. } | Message::Tools { .. } => None,
        });
        let texts: Vec<String> = texts.take(MAX_MESSAGES).collect();
        let parts = messages.iter().flat_map(|message| match message {
            Message::Assistant { parts } => parts.as_slice(),
            Message::User { .. } | Message::Tools { .. } => &[],
        });
        let calls = parts.filter_map(Part::as_call);
        Self {
            words: texts.iter().flat_map(|text| words(text)).collect(),
            texts,
            used: calls.map(|call| call.tool_id.clone()).collect(),
            has_cut_output: messages.iter().any(has_cut_output),
        }
    }

    fn is_relevant(&self, tool: &Tool, size: OfferSize) -> bool {
        match tool.source.relevance(&tool.spec.name) {
            Relevance::Always => true,
            Relevance::OnDemand => size != OfferSize::Compact || self.speaks_of(tool),
            Relevance::AfterCutOutput => self.has_cut_output,
            Relevance::WhenNamed => false,
        }
    }

    /// By its id, or by a name that is no plain word.
    fn names(&self, tool: &ToolSpec) -> bool {
        let is_said = |name: &str| {
            let name = name.to_lowercase();
            self.texts.iter().any(|text| text.contains(&name))
        };
        is_said(tool.id.as_str()) || words(&tool.name).len() > 1 && is_said(&tool.name)
    }

    fn speaks_of(&self, tool: &Tool) -> bool {
        let texts = [&*tool.spec.title, tool.source.keywords(&tool.spec.name)];
        let mut terms = texts.into_iter().flat_map(words);
        terms.any(|term| self.words.contains(&term))
    }
}

/// Whether there is an output to read on in: text whose whole was stored.
fn has_cut_output(message: &Message) -> bool {
    let Message::Tools { answers } = message else {
        return false;
    };
    let mut contents = answers.iter().flat_map(|answer| &answer.result);
    contents.any(|output| output.content.iter().any(is_stored_text))
}

fn is_stored_text(content: &Content) -> bool {
    matches!(content, Content::Blob { media_type, .. }
        if media_type.starts_with("text/") || media_type == "application/json")
}
