//! The tools of one source, and the index they are found by.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use tenon_domain::search::SearchIndex;

use super::Tool;
use crate::search_text::search_fields;

/// Immutable: a source that changes gets a new list, and the others keep theirs.
#[derive(Debug, Default)]
pub(crate) struct IndexedTools {
    tools: Box<[Arc<Tool>]>,
    /// Made when somebody searches: most hubs have few tools and need none.
    index: OnceLock<SearchIndex>,
}

impl IndexedTools {
    pub(crate) fn index(&self) -> &SearchIndex {
        self.index.get_or_init(|| {
            let fields = self.tools.iter().map(|tool| {
                let keywords = tool.source.keywords(&tool.spec.name);
                search_fields(&tool.spec, tool.source.info(), keywords)
            });
            let fields: Vec<_> = fields.collect();
            let fields = fields.iter();
            SearchIndex::new(fields.map(|of| of.iter().map(|(text, weight)| (&**text, *weight))))
        })
    }
}

impl FromIterator<Arc<Tool>> for IndexedTools {
    fn from_iter<T: IntoIterator<Item = Arc<Tool>>>(tools: T) -> Self {
        Self {
            tools: tools.into_iter().collect(),
            index: OnceLock::new(),
        }
    }
}

impl Deref for IndexedTools {
    type Target = [Arc<Tool>];

    fn deref(&self) -> &[Arc<Tool>] {
        &self.tools
    }
}
