//! Finding tools by need among all that a user can call.

use std::sync::Arc;

use tenon_domain::search::{SearchIndex, SearchQuery, search};
use tenon_domain::{Caller, Policy, SourceInfo};

use super::Toolset;
use crate::catalog::Tool;

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
        let is_wanted = |list: usize, number: usize| is_wanted(&lists[list][number]);
        let hits = search(&indexes, &SearchQuery::new(text), is_wanted, limit);
        let hits = hits.into_iter();
        hits.map(|hit| &lists[hit.index][hit.document]).collect()
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

/// Models write names as they remember them.
fn is_called(source: &SourceInfo, name: &str) -> bool {
    let name = name.trim();
    source.name.eq_ignore_ascii_case(name)
        || source.title.to_lowercase() == name.to_lowercase()
        || source.id.as_str() == name
}
