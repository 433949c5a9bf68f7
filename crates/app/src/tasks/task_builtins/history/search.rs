//! Searches in the turns of a run.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_agent::ContextWindow;
use tenon_domain::text::{chars_after, chars_before, excerpt};
use tenon_domain::{ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_sources::builtin::BuiltinTool;
use tenon_sources::builtin::task::{PageSessions, TextPattern};
use tenon_tools::CallContext;

use super::record::{HistoryRecord, records};
use super::{known_turn, turn};
use crate::tasks::task_builtins::context::definition;

const HITS_PER_PAGE: usize = 10;
const MAX_HITS_PER_PAGE: usize = 50;

/// How much is shown around a hit, in characters.
const SHOWN_AROUND: usize = 200;

/// A search of which pages are asked for one after another.
#[derive(Clone)]
struct HistorySearch {
    patterns: Vec<TextPattern>,
    /// Only in this turn.
    turn: Option<usize>,
    per_page: usize,
    page: usize,
}

impl HistorySearch {
    /// The page of hits. In a whole history each record counts once, where all patterns are in it;
    /// in one turn each place counts.
    fn show(&self, records: &[HistoryRecord], id: &str) -> ToolResult {
        let hits: Vec<(&HistoryRecord, Range<usize>)> = match self.turn {
            Some(turn) => {
                let records = records.iter().filter(|record| record.turn == turn);
                let hits = records.flat_map(|record| {
                    let pattern = self.patterns.first();
                    let places = pattern.map(|pattern| pattern.find_all(&record.text));
                    let places = places.into_iter().flatten();
                    places.map(move |place| (record, place))
                });
                hits.collect()
            }
            None => {
                let hits = records.iter().filter_map(|record| {
                    let places = self
                        .patterns
                        .iter()
                        .map(|pattern| pattern.find_all(&record.text).next());
                    let places: Option<Vec<Range<usize>>> = places.collect();
                    Some((record, places?.into_iter().next()?))
                });
                hits.collect()
            }
        };
        if hits.is_empty() {
            return Ok(ToolOutput::text("Nothing found."));
        }
        let pages = hits.len().div_ceil(self.per_page);
        if self.page > pages {
            return Err(ToolError::failed(format!(
                "There are only {pages} pages of hits."
            )));
        }
        let first = (self.page - 1) * self.per_page;
        let shown = hits.iter().skip(first).take(self.per_page);
        let shown = shown.map(|(record, place)| {
            let start = chars_before(&record.text, place.start, SHOWN_AROUND);
            let end = chars_after(&record.text, place.end, SHOWN_AROUND);
            json!({
                "turn": record.turn,
                "type": record.kind,
                "preview": excerpt(&record.text, start..end),
            })
        });
        Ok(ToolOutput::json(json!({
            "search_id": id,
            "total_matches": hits.len(),
            "page": self.page,
            "total_pages": pages,
            "results": shown.collect::<Vec<Value>>(),
        })))
    }
}

pub(super) struct SearchHistory {
    context: Arc<ContextWindow>,
    sessions: PageSessions<HistorySearch>,
}

#[derive(Deserialize)]
pub(super) struct SearchHistoryInput {
    #[serde(default)]
    keywords: Vec<String>,
    page: Option<usize>,
    per_page: Option<usize>,
    search_id: Option<String>,
    #[serde(default)]
    use_regex: bool,
}

impl SearchHistory {
    pub(super) fn new(context: Arc<ContextWindow>) -> Self {
        let sessions = PageSessions::new("search");
        Self { context, sessions }
    }
}

#[async_trait]
impl BuiltinTool for SearchHistory {
    type Input = SearchHistoryInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "keywords": {
                "type": "array",
                "description": "What to look for; a record must have all of them.",
                "items": {"type": "string", "minLength": 1, "maxLength": 1000},
                "maxItems": 20,
                "examples": [["invoice", "total"]],
            },
            "use_regex": {
                "type": "boolean",
                "description": "Whether the keywords are regular expressions.",
            },
            "page": page(),
            "per_page": per_page(),
            "search_id": {
                "type": "string",
                "description": "The search_id of an earlier search, to see another page of it.",
                "examples": ["search_1"],
            },
        });
        definition(
            "search_history",
            "Search history",
            "Searches all turns of this task, also those that were dropped from the context.",
            properties,
            &[],
        )
    }

    async fn run(&self, input: SearchHistoryInput, _context: &CallContext) -> ToolResult {
        let records = records(&self.context);
        let page = input.page.unwrap_or(1).max(1);
        if let Some(id) = &input.search_id {
            let search = HistorySearch {
                page,
                ..self.sessions.get(id)?
            };
            return search.show(&records, id);
        }
        let pattern = |keyword: &String| {
            if input.use_regex {
                TextPattern::new(keyword)
            } else {
                TextPattern::literal(keyword)
            }
        };
        let patterns: Vec<TextPattern> = input.keywords.iter().filter_map(pattern).collect();
        if patterns.is_empty() {
            return Err(ToolError::invalid_input(
                "`keywords` is empty: name what to look for, or a search_id.",
            ));
        }
        let search = HistorySearch {
            patterns,
            turn: None,
            per_page: hits_per_page(input.per_page),
            page,
        };
        let id = self.sessions.begin(search.clone());
        search.show(&records, &id)
    }
}

pub(super) struct SearchInTurn {
    context: Arc<ContextWindow>,
    sessions: PageSessions<HistorySearch>,
}

#[derive(Deserialize)]
pub(super) struct SearchInTurnInput {
    turn: usize,
    pattern: Option<String>,
    page: Option<usize>,
    per_page: Option<usize>,
    search_id: Option<String>,
}

impl SearchInTurn {
    pub(super) fn new(context: Arc<ContextWindow>) -> Self {
        let sessions = PageSessions::new("turn_search");
        Self { context, sessions }
    }
}

#[async_trait]
impl BuiltinTool for SearchInTurn {
    type Input = SearchInTurnInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "turn": turn(),
            "pattern": TextPattern::property(),
            "page": page(),
            "per_page": per_page(),
            "search_id": {
                "type": "string",
                "description": "The search_id of an earlier search, to see another page of it.",
                "examples": ["turn_search_1"],
            },
        });
        definition(
            "search_in_turn",
            "Search in a turn",
            "Finds the places in one turn of this task where a pattern occurs.",
            properties,
            &["turn"],
        )
    }

    async fn run(&self, input: SearchInTurnInput, _context: &CallContext) -> ToolResult {
        let records = records(&self.context);
        let page = input.page.unwrap_or(1).max(1);
        if let Some(id) = &input.search_id {
            let search = HistorySearch {
                page,
                ..self.sessions.get(id)?
            };
            return search.show(&records, id);
        }
        known_turn(&self.context, input.turn)?;
        let pattern = input.pattern.as_deref().and_then(TextPattern::new);
        let pattern = pattern.ok_or_else(|| {
            ToolError::invalid_input("`pattern` is missing: say what to look for, or a search_id.")
        })?;
        let search = HistorySearch {
            patterns: vec![pattern],
            turn: Some(input.turn),
            per_page: hits_per_page(input.per_page),
            page,
        };
        let id = self.sessions.begin(search.clone());
        search.show(&records, &id)
    }
}

fn hits_per_page(asked: Option<usize>) -> usize {
    asked.unwrap_or(HITS_PER_PAGE).clamp(1, MAX_HITS_PER_PAGE)
}

fn page() -> Value {
    json!({
        "type": "integer",
        "description": "Which page of hits to show, counted from 1.",
        "minimum": 1,
        "examples": [2],
    })
}

fn per_page() -> Value {
    json!({
        "type": "integer",
        "description": format!("Hits of a page; left out, {HITS_PER_PAGE}."),
        "minimum": 1,
        "maximum": MAX_HITS_PER_PAGE,
        "examples": [5],
    })
}
