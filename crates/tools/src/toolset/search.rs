//! Finding tools by need among all that a user can call.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::search::{SearchIndex, SearchQuery, search};
use tenon_domain::{Caller, Policy, SourceInfo, ToolId};

use super::Toolset;
use crate::catalog::Tool;
use crate::embedding::Embedding;

/// How many places of each ranking count where two are joined.
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

    /// The same of those that are switched off too, for people.
    pub fn search_listed(
        &self,
        text: &str,
        is_wanted: impl Fn(&Arc<Tool>) -> bool,
    ) -> Vec<&Arc<Tool>> {
        self.search_among(text, usize::MAX, is_wanted)
    }

    pub(super) fn search_among(
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
        let embedding = self
            .embedded
            .as_ref()
            .and_then(|embedded| embedded.query(text));
        let depth = match &embedding {
            Some(_) => limit.max(FUSED_HITS),
            None => limit,
        };
        let hits = search(&indexes, &SearchQuery::new(text), is_listed, depth);
        let hits = hits.into_iter();
        let by_words: Vec<_> = hits.map(|hit| &lists[hit.index][hit.document]).collect();
        let Some(embedding) = embedding else {
            return by_words;
        };
        let tools = lists.iter().flat_map(|list| list.iter());
        let near = nearest(&embedding, tools.filter(|tool| is_wanted(tool)));
        let mut found = fuse(by_words, near);
        found.truncate(limit);
        found
    }

    /// Makes ready what [`Toolset::search`] and [`Toolset::offer`] find tools by beside words, where that is configured.
    pub async fn prepare_search(&self, texts: impl IntoIterator<Item = &str>) {
        if let Some(embedded) = &self.embedded {
            embedded.prepare(texts).await;
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

/// The tools whose meaning is nearest, best first.
fn nearest<'a>(
    embedding: &Embedding,
    tools: impl Iterator<Item = &'a Arc<Tool>>,
) -> Vec<&'a Arc<Tool>> {
    let near = tools.filter_map(|tool| Some((tool.embedding()?.similarity(embedding)?, tool)));
    let mut near: Vec<(f32, &Arc<Tool>)> = near.collect();
    near.sort_by(|left, right| right.0.total_cmp(&left.0));
    near.truncate(FUSED_HITS);
    near.into_iter().map(|(_, tool)| tool).collect()
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
