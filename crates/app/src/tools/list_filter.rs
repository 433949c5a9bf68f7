//! Which tools of a list are wanted, and how much of each.

use std::sync::Arc;

use tenon_domain::{SourceId, ToolId};
use tenon_tools::{Tool, Toolset};

use super::view::ToolView;

#[derive(Debug, Clone, Copy)]
pub struct ToolListFilter<'a> {
    /// What they should do, the best first. None: all, by id.
    pub query: Option<&'a str>,
    pub source: Option<&'a SourceId>,
    /// Those that follow this one.
    pub after: Option<&'a ToolId>,
    pub limit: usize,
    /// The schemas of ten thousand tools take megabytes.
    pub with_schemas: bool,
}

/// A part of a list.
#[derive(Debug)]
pub struct ToolListPage {
    pub tools: Vec<ToolView>,
    /// The last one, where more follow.
    pub next: Option<ToolId>,
}

impl ToolListFilter<'_> {
    /// Everything, as a list of commands shows it.
    pub const ALL: Self = Self {
        query: None,
        source: None,
        after: None,
        limit: usize::MAX,
        with_schemas: true,
    };

    /// The tools that are wanted, and whether more follow.
    pub(super) fn select<'t>(&self, toolset: &'t Toolset) -> (Vec<&'t Arc<Tool>>, bool) {
        let access = toolset.access();
        let is_wanted = |tool: &Arc<Tool>| {
            let source = tool.source.info();
            let is_of_source = self.source.is_none_or(|id| source.id == *id);
            is_of_source && access.allows(source, &tool.spec.id)
        };
        let mut tools = match self.query {
            Some(query) => toolset.search_listed(query, is_wanted),
            None => {
                let mut tools = toolset.listed();
                tools.retain(|tool| is_wanted(tool));
                tools
            }
        };
        if let Some(after) = self.after {
            let place = tools.iter().position(|tool| tool.spec.id == *after);
            match (place, self.query) {
                (Some(place), _) => drop(tools.drain(..=place)),
                // It is gone; what follows it has not moved.
                (None, None) => tools.retain(|tool| tool.spec.id > *after),
                (None, Some(_)) => {}
            }
        }
        let has_more = tools.len() > self.limit;
        tools.truncate(self.limit);
        (tools, has_more)
    }
}
