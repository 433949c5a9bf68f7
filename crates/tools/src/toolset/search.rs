//! Finding tools by need among all that a user can call.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::search::{SearchIndex, SearchQuery, search};
use tenon_domain::{Caller, Policy, SourceInfo, ToolId};

use super::Toolset;
use crate::catalog::Tool;

/// How many that are found by words are ranked again by their meaning.
const RANKED_HITS: usize = 100;

/// Weight of one standard deviation of similarity, relative to 1 for the best match by words.
/// Small, so that an embedding model that does not know the language cannot displace good word
/// matches.
const DEVIATION_WEIGHT: f32 = 0.1;

/// Without any word of the request a tool is found that stands out so far. The rest is in an order,
/// too, that means nothing.
const MIN_DEVIATIONS_WITHOUT_WORDS: f32 = 2.5;

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
        let near = embeddings.and_then(|embeddings| embeddings.near(text));
        let Some(near) = near else {
            return self.search_words(text, limit, is_wanted);
        };
        let by_words = self.word_hits(text, limit.max(RANKED_HITS), &is_wanted);
        let mut scores = word_scores(by_words);
        for (id, deviations) in near.iter() {
            let score = deviations * DEVIATION_WEIGHT;
            if let Some((by_words, _)) = scores.get_mut(id) {
                *by_words += score;
            } else if *deviations > MIN_DEVIATIONS_WITHOUT_WORDS
                && let Some(tool) = self.catalog.shared.get(id)
                && is_wanted(tool)
            {
                scores.insert(&tool.spec.id, (score, tool));
            }
        }
        let mut found: Vec<(f32, &Arc<Tool>)> = scores.into_values().collect();
        found.sort_by(|(left, left_tool), (right, right_tool)| {
            let by_id = || left_tool.spec.id.cmp(&right_tool.spec.id);
            right.total_cmp(left).then_with(by_id)
        });
        found.truncate(limit);
        found.into_iter().map(|(_, tool)| tool).collect()
    }

    fn search_words(
        &self,
        text: &str,
        limit: usize,
        is_wanted: impl Fn(&Arc<Tool>) -> bool,
    ) -> Vec<&Arc<Tool>> {
        let hits = self.word_hits(text, limit, is_wanted).into_iter();
        hits.map(|(_, tool)| tool).collect()
    }

    /// With their scores, the best first.
    fn word_hits(
        &self,
        text: &str,
        limit: usize,
        is_wanted: impl Fn(&Arc<Tool>) -> bool,
    ) -> Vec<(f32, &Arc<Tool>)> {
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
        hits.map(|hit| (hit.score, &lists[hit.index][hit.document]))
            .collect()
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

/// By the ids of the tools, scaled so that the best has 1.
fn word_scores(hits: Vec<(f32, &Arc<Tool>)>) -> HashMap<&ToolId, (f32, &Arc<Tool>)> {
    let best = hits.first().map_or(1.0, |(score, _)| *score);
    let hits = hits.into_iter();
    hits.map(|(score, tool)| (&tool.spec.id, (score / best, tool)))
        .collect()
}

/// Models write names as they remember them.
fn is_called(source: &SourceInfo, name: &str) -> bool {
    let name = name.trim();
    source.name.eq_ignore_ascii_case(name)
        || source.title.to_lowercase() == name.to_lowercase()
        || source.id.as_str() == name
}
