//! Finding tools by need among all that a user can call.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::search::{SearchIndex, SearchQuery, search};
use tenon_domain::{Caller, Policy, SourceInfo, ToolId};

use super::Toolset;
use crate::catalog::Tool;

/// How many places of the words count where two rankings are joined.
const FUSED_HITS: usize = 100;

/// How little the first places count more than those behind them. The usual value.
const FUSION_CONSTANT: f32 = 60.0;

impl Toolset {
    /// The tools that do what a text asks for, best first, of one source where one is named.
    pub fn search(&self, text: &str, source: Option<&str>, limit: usize) -> Vec<&Arc<Tool>> {
        self.search_among(text, limit, |tool| {
            let is_of_source = source.is_none_or(|name| is_called(tool.source.info(), name));
            is_of_source && self.is_findable(tool)
        })
    }

    /// By their words alone, also those that are switched off: what a person reads in a list.
    pub fn search_listed(
        &self,
        text: &str,
        is_wanted: impl Fn(&Arc<Tool>) -> bool,
    ) -> Vec<&Arc<Tool>> {
        self.search_words(text, usize::MAX, is_wanted)
    }

    /// By words, and by meaning where that was prepared.
    pub(super) fn search_among(
        &self,
        text: &str,
        limit: usize,
        is_wanted: impl Fn(&Arc<Tool>) -> bool,
    ) -> Vec<&Arc<Tool>> {
        let embeddings = self.embeddings.as_ref();
        let near = embeddings.and_then(|embeddings| embeddings.nearest(text));
        let Some(near) = near else {
            return self.search_words(text, limit, is_wanted);
        };
        let by_words = self.search_words(text, limit.max(FUSED_HITS), &is_wanted);
        let near = near.iter().filter_map(|id| self.catalog.shared.get(id));
        let mut found = fuse(by_words, near.filter(|tool| is_wanted(tool)).collect());
        found.truncate(limit);
        found
    }

    fn search_words(
        &self,
        text: &str,
        limit: usize,
        is_wanted: impl Fn(&Arc<Tool>) -> bool,
    ) -> Vec<&Arc<Tool>> {
        let user = &self.access.user;
        let connected = self.catalog.connected.values().filter(|connected| {
            let owner = connected.source.info().owner.as_ref();
            owner.is_none_or(|owner| owner == user)
        });
        let connected = connected.map(|connected| &connected.tools);
        let lists: Vec<_> = connected.chain([self.request_tools.list()]).collect();
        let indexes: Vec<&SearchIndex> = lists.iter().map(|tools| tools.index()).collect();
        let is_listed = |list: usize, number: usize| is_wanted(&lists[list][number]);
        let hits = search(&indexes, &SearchQuery::new(text), is_listed, limit);
        let hits = hits.into_iter();
        hits.map(|hit| &lists[hit.index][hit.document]).collect()
    }

    /// Looks what [`Toolset::search`] finds by meaning, where that is configured.
    pub async fn prepare_search(&self, text: &str) {
        if let Some(embeddings) = &self.embeddings {
            embeddings.prepare(text).await;
        }
    }

    /// Whether a caller that finds it could call it, perhaps after a person has agreed.
    fn is_findable(&self, tool: &Tool) -> bool {
        self.sees(tool)
            && match &self.access.caller {
                Caller::Person | Caller::Key { .. } => {
                    tool.source.can_be_called() && self.runs_unasked(tool)
                }
                Caller::ChatModel { .. } | Caller::UnattendedModel { .. } => {
                    tool.source.state().can_be_called() && self.policy(tool) != Policy::Deny
                }
            }
    }
}

/// Reciprocal rank fusion: scores of words and of vectors cannot be compared, places can.
fn fuse<'a>(by_words: Vec<&'a Arc<Tool>>, near: Vec<&'a Arc<Tool>>) -> Vec<&'a Arc<Tool>> {
    let mut scores: HashMap<&ToolId, (f32, usize, &Arc<Tool>)> = HashMap::new();
    for ranking in [by_words, near] {
        for (place, tool) in ranking.into_iter().enumerate() {
            let order = scores.len();
            let score = scores.entry(&tool.spec.id).or_insert((0.0, order, tool));
            score.0 += 1.0 / (FUSION_CONSTANT + place as f32);
        }
    }
    let mut fused: Vec<_> = scores.into_values().collect();
    fused.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    fused.into_iter().map(|(_, _, tool)| tool).collect()
}

/// Models write names as they remember them.
fn is_called(source: &SourceInfo, name: &str) -> bool {
    let name = name.trim();
    source.name.eq_ignore_ascii_case(name)
        || source.title.to_lowercase() == name.to_lowercase()
        || source.id.as_str() == name
}
