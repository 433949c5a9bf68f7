//! Which tools a model is offered in a conversation.
//!
//! The choice depends on the conversation, the catalog, and what is known of the meaning of both.
//! While all fit, they come sorted by id; where they do not, in the order in which they came into
//! the conversation. Either way the list of a step begins like that of the step before, so that the
//! provider's prompt cache holds: a message that was searched by its words alone goes on to be
//! (`tool_embeddings/known_queries.rs`). While tools are being embedded, lists may change.

mod budget;
mod mentions;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use tenon_domain::{Layer, Message, SourceKind, ToolId, ToolSpec};

use super::Toolset;
use crate::catalog::Tool;
use crate::source::Relevance;
pub use budget::OfferLimits;
use budget::ToolBudget;
use mentions::ToolMentions;

/// Among more tools a small model chooses badly, and reading about them takes it long.
const MAX_COMPACT_TOOLS: usize = 12;

/// Tools that one message brings in for a small model. Those of the messages before it stay as long
/// as there is room.
const MAX_COMPACT_PER_MESSAGE: usize = 8;

/// The same for a model that can search for more itself.
const MAX_TOOLS_PER_MESSAGE: usize = 10;

/// The skills that a small model hears of whatever is said.
const MAX_COMPACT_SKILLS: usize = 4;

/// The part of the budget that Tenon's own tools may take, and that up to which those that tell of
/// skills may.
const BUILTIN_SHARE: (usize, usize) = (1, 2);
const SKILL_SHARE: (usize, usize) = (3, 4);

/// How many tools a model can be told of.
#[derive(Debug, Clone, Copy)]
pub enum OfferSize {
    /// All of them. Where that is more than the limits allow: what is pinned or was used, what the
    /// user's words call for, and tools to find the rest with.
    Full(OfferLimits),
    /// About a dozen, chosen by the words of the user.
    Compact,
}

impl OfferSize {
    fn holds(self, tools: &[&Arc<Tool>]) -> bool {
        match self {
            Self::Full(limits) => limits.hold(tools),
            Self::Compact => tools.len() <= MAX_COMPACT_TOOLS,
        }
    }
}

/// What a model is offered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOffer {
    pub tools: Vec<Arc<ToolSpec>>,
    /// Tools that are not offered but can be found by searching.
    pub deferred: Vec<Arc<ToolSpec>>,
}

impl Toolset {
    /// The tools that a model is offered in this conversation.
    pub fn offer(&self, messages: &[Message], size: OfferSize) -> ToolOffer {
        let mentions = ToolMentions::new(messages);
        let mut tools = self.relevant(&mentions, size);
        let specs =
            |tools: Vec<&Arc<Tool>>| tools.into_iter().map(|tool| tool.spec.clone()).collect();
        match size {
            _ if size.holds(&tools) => ToolOffer {
                tools: specs(tools),
                deferred: Vec::new(),
            },
            OfferSize::Compact => ToolOffer {
                tools: specs(self.choose_few(&tools, &mentions)),
                deferred: Vec::new(),
            },
            OfferSize::Full(limits) => {
                let chosen = self.choose_within(limits, &tools, messages, &mentions);
                let ids: HashSet<&ToolId> = chosen.iter().map(|tool| &tool.spec.id).collect();
                tools.retain(|tool| !ids.contains(&tool.spec.id));
                ToolOffer {
                    tools: specs(chosen),
                    deferred: specs(tools),
                }
            }
        }
    }

    /// Looks which tools are near what was said last, where [`Toolset::offer`] has to choose. What
    /// was said before had its turn: what is not known of it any more is searched by words.
    pub async fn prepare_offer(&self, messages: &[Message], size: OfferSize) {
        let Some(embeddings) = &self.embeddings else {
            return;
        };
        let Some(newest) = mentions::newest_text(messages) else {
            return;
        };
        // The query was settled in an earlier step, so the tools need not be compared again.
        if embeddings.is_settled(&newest) {
            return;
        }
        let has_all = size.holds(&self.relevant(&ToolMentions::new(messages), size));
        if !has_all {
            embeddings.prepare(&newest).await;
        }
    }

    fn relevant(&self, mentions: &ToolMentions, size: OfferSize) -> Vec<&Arc<Tool>> {
        let mut tools = self.callable();
        let has_local = self.has_tools_of_device(&tools);
        tools.retain(|tool| {
            self.is_pinned(tool, mentions) || self.is_relevant(tool, mentions, size, has_local)
        });
        tools
    }

    fn is_relevant(
        &self,
        tool: &Tool,
        mentions: &ToolMentions,
        size: OfferSize,
        has_local: bool,
    ) -> bool {
        let is_elsewhere = has_local && !self.is_of_device(tool);
        !is_elsewhere
            && match tool.source.relevance(&tool.spec.name) {
                Relevance::Always | Relevance::TellsOfSource => true,
                Relevance::OnDemand => match size {
                    OfferSize::Full(_) => true,
                    OfferSize::Compact => mentions.speak_of(tool),
                },
                Relevance::AfterCutOutput => mentions.has_cut_output,
                Relevance::WhenNamed => false,
            }
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

    /// Whether a person wants the model to have it: named it, chose it, switched it on, or saw it
    /// used.
    fn is_pinned(&self, tool: &Tool, mentions: &ToolMentions) -> bool {
        self.is_chosen(tool)
            || mentions.used.contains_key(&tool.spec.id)
            || mentions.naming(&tool.spec).is_some()
    }

    /// Whether a person chose it, switched it on, itself and not with its source, or gave its skill
    /// to the expert.
    fn is_chosen(&self, tool: &Tool) -> bool {
        let is_chosen = if self.request_tools.has(tool) {
            // Without it a task could not end.
            tool.spec.annotations.ends_turn
        } else {
            self.access.only.is_some()
        };
        is_chosen || self.has_pin(tool) || self.access.has_of_expert(tool.source.info())
    }

    /// Whether somebody switched it on, itself and not with its source, and not for everybody.
    pub fn has_pin(&self, tool: &Tool) -> bool {
        let enabled = self.access.own_setting(&tool.spec.id).enabled;
        matches!(enabled, Some((true, layer)) if layer != Layer::Organisation)
    }

    /// A dozen, by id.
    fn choose_few<'a>(
        &'a self,
        tools: &[&'a Arc<Tool>],
        mentions: &ToolMentions,
    ) -> Vec<&'a Arc<Tool>> {
        let place = |tool: &Arc<Tool>| {
            tools
                .binary_search_by(|t| t.spec.id.cmp(&tool.spec.id))
                .ok()
        };
        let is_pinned = |number: &usize| self.is_pinned(tools[*number], mentions);
        let mut chosen: BTreeSet<usize> = (0..tools.len()).filter(is_pinned).collect();
        let search = |(_, text): &(usize, String)| {
            let found =
                self.search_among(text, MAX_COMPACT_PER_MESSAGE, |tool| place(tool).is_some());
            found.into_iter().filter_map(place)
        };
        let (earlier, newest) = match &mentions.texts[..] {
            [earlier @ .., newest] => (earlier, Some(newest)),
            [] => (&[][..], None),
        };
        let skills = (0..tools.len()).filter(|number| tells_of_source(tools[*number]));
        let found = newest
            .into_iter()
            .flat_map(search)
            .chain(skills.take(MAX_COMPACT_SKILLS))
            .chain(earlier.iter().rev().flat_map(search));
        // Words of another language find nothing: then the first ones are better than none.
        for number in found.chain(0..tools.len()) {
            if chosen.len() >= MAX_COMPACT_TOOLS {
                break;
            }
            chosen.insert(number);
        }
        chosen.into_iter().map(|number| tools[number]).collect()
    }

    /// As many as the limits allow, in the order in which they came into the conversation.
    fn choose_within<'a>(
        &'a self,
        limits: OfferLimits,
        tools: &[&'a Arc<Tool>],
        messages: &[Message],
        mentions: &ToolMentions,
    ) -> Vec<&'a Arc<Tool>> {
        let is_offered = |tool: &Arc<Tool>| {
            let place = tools.binary_search_by(|other| other.spec.id.cmp(&tool.spec.id));
            place.is_ok_and(|place| Arc::ptr_eq(tools[place], tool))
        };
        let mut budget = ToolBudget::new(limits);
        for tool in self.search_tools() {
            budget.add_always(0, tool);
        }
        for tool in tools {
            let since = mentions.used.get(&tool.spec.id).copied();
            let since = since.or_else(|| mentions.naming(&tool.spec));
            if self.is_chosen(tool) {
                budget.add_always(1, tool);
            } else if let Some(message) = since {
                budget.add_always(message + 2, tool);
            }
        }
        let builtins = tools
            .iter()
            .filter(|tool| tool.source.info().kind == SourceKind::Builtin);
        budget.add_share(BUILTIN_SHARE, 1, builtins.copied());
        let skills = tools.iter().filter(|tool| tells_of_source(tool));
        budget.add_share(SKILL_SHARE, 1, skills.copied());
        // Newer messages matter more.
        for (number, message) in messages.iter().enumerate().rev() {
            let mut found = self.found_in(message);
            found.retain(|tool| is_offered(tool));
            if let Some(text) = mentions.text(number) {
                found.extend(self.search_among(text, MAX_TOOLS_PER_MESSAGE, is_offered));
            }
            for tool in found {
                budget.add(number + 2, tool);
            }
        }
        budget.into_tools()
    }
}

fn tells_of_source(tool: &Tool) -> bool {
    tool.source.relevance(&tool.spec.name) == Relevance::TellsOfSource
}
