//! How much a model can be told of tools, and what of that is left.

use std::collections::HashSet;
use std::sync::Arc;

use tenon_domain::{ToolId, ToolSpec};

use crate::catalog::Tool;

/// How many tools a model is told of, and how many tokens they take, at most.
#[derive(Debug, Clone, Copy)]
pub struct OfferLimits {
    pub max_tools: usize,
    /// None: any number.
    pub max_tokens: Option<usize>,
    /// About how many tokens a tool takes.
    pub tokens: fn(&ToolSpec) -> usize,
}

/// Tools that were chosen, and room for more.
pub(super) struct ToolBudget<'a> {
    limits: OfferLimits,
    tokens: usize,
    ids: HashSet<&'a ToolId>,
    /// Each with where in the conversation it came in.
    chosen: Vec<(usize, &'a Arc<Tool>)>,
}

impl OfferLimits {
    pub const NONE: Self = Self {
        max_tools: usize::MAX,
        max_tokens: None,
        tokens: |_| 0,
    };

    /// Whether a model can be told of all of them.
    pub(super) fn hold(&self, tools: &[&Arc<Tool>]) -> bool {
        if tools.len() > self.max_tools {
            return false;
        }
        let Some(max) = self.max_tokens else {
            return true;
        };
        // No more are counted than it takes to know.
        let sums = tools.iter().scan(0, |sum, tool| {
            *sum += tool.tokens(self.tokens);
            Some(*sum)
        });
        { sums }.all(|sum| sum <= max)
    }
}

impl<'a> ToolBudget<'a> {
    pub(super) fn new(limits: OfferLimits) -> Self {
        Self {
            limits,
            tokens: 0,
            ids: HashSet::new(),
            chosen: Vec::new(),
        }
    }

    /// Adds a tool that a person wants, regardless of its tokens; only the number of tools is
    /// bounded.
    pub(super) fn add_always(&mut self, since: usize, tool: &'a Arc<Tool>) {
        if self.chosen.len() < self.limits.max_tools && self.ids.insert(&tool.spec.id) {
            self.tokens += tool.tokens(self.limits.tokens);
            self.chosen.push((since, tool));
        }
    }

    pub(super) fn add(&mut self, since: usize, tool: &'a Arc<Tool>) {
        let max = self.limits.max_tokens.unwrap_or(usize::MAX);
        if self.tokens + tool.tokens(self.limits.tokens) <= max {
            self.add_always(since, tool);
        }
    }

    /// Adds tools within a fraction of the token budget.
    pub(super) fn add_share(
        &mut self,
        (part, of): (usize, usize),
        since: usize,
        tools: impl Iterator<Item = &'a Arc<Tool>>,
    ) {
        let whole = self.limits;
        self.limits.max_tokens = whole.max_tokens.map(|max| max / of * part);
        self.limits.max_tools = whole.max_tools / of * part;
        tools.for_each(|tool| self.add(since, tool));
        self.limits = whole;
    }

    /// In the order in which they came in; what came in together, by id.
    pub(super) fn into_tools(mut self) -> Vec<&'a Arc<Tool>> {
        self.chosen
            .sort_by(|(a, left), (b, right)| (a, &left.spec.id).cmp(&(b, &right.spec.id)));
        self.chosen.into_iter().map(|(_, tool)| tool).collect()
    }
}
