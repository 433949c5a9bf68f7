//! Tools that read and search all turns of a run, also those that were dropped from the context.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_agent::ContextWindow;
use tenon_domain::text::{chars_after, chars_before, excerpt, shorten};
use tenon_domain::{Message, Part, ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_sources::builtin::local::{PageSessions, TextPattern};
use tenon_sources::builtin::{AnyTool, BuiltinTool};
use tenon_tools::CallContext;

use super::context::definition;

const HITS_PER_PAGE: usize = 10;
const MAX_HITS_PER_PAGE: usize = 50;

/// How much is shown around a hit, in characters.
const SHOWN_AROUND: usize = 200;

/// How much of each record is shown where turns are only browsed.
const BROWSED_CHARS: usize = 500;
const VIEWED_CHARS: usize = 4_000;

const BROWSED_TURNS: usize = 20;

pub(super) fn tools(context: &Arc<ContextWindow>) -> Vec<Box<dyn AnyTool>> {
    let context = context.clone();
    vec![
        Box::new(SearchHistory {
            context: context.clone(),
            sessions: PageSessions::new("search"),
        }),
        Box::new(ViewHistoryTurn(context.clone())),
        Box::new(SearchInTurn {
            context: context.clone(),
            sessions: PageSessions::new("turn_search"),
        }),
        Box::new(BrowseHistory(context.clone())),
        Box::new(HistoryStats(context)),
    ]
}

/// Something said in a turn: by the model, or by a tool.
struct HistoryRecord {
    turn: usize,
    kind: &'static str,
    text: String,
}

fn records(context: &ContextWindow) -> Vec<HistoryRecord> {
    let turns = context.steps().into_iter().enumerate();
    let records = turns.flat_map(|(turn, messages)| {
        let said = messages.into_iter().flat_map(said);
        said.map(move |(kind, text)| HistoryRecord { turn, kind, text })
    });
    records.collect()
}

fn said(message: Message) -> Vec<(&'static str, String)> {
    match message {
        Message::User { text, .. } => vec![("user", text)],
        Message::Assistant { parts } => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text, .. } => Some(("assistant", text.clone())),
                Part::Call { call, .. } => {
                    Some(("tool_call", format!("{} {}", call.tool_id, call.input)))
                }
                Part::Image(_) | Part::Thinking { .. } | Part::Opaque { .. } => None,
            })
            .collect(),
        Message::Tools { answers } => answers
            .into_iter()
            .map(|answer| match answer.result {
                Ok(output) => ("tool_output", output.to_text()),
                Err(error) => ("tool_output", format!("Error: {error}")),
            })
            .collect(),
    }
}

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
    /// The page of hits. In a whole history each record counts once, where all patterns are in it; in
    /// one turn each place counts.
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

struct SearchHistory {
    context: Arc<ContextWindow>,
    sessions: PageSessions<HistorySearch>,
}

#[derive(Deserialize)]
struct SearchHistoryInput {
    #[serde(default)]
    keywords: Vec<String>,
    page: Option<usize>,
    per_page: Option<usize>,
    search_id: Option<String>,
    #[serde(default)]
    use_regex: bool,
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

struct SearchInTurn {
    context: Arc<ContextWindow>,
    sessions: PageSessions<HistorySearch>,
}

#[derive(Deserialize)]
struct SearchInTurnInput {
    turn: usize,
    pattern: Option<String>,
    page: Option<usize>,
    per_page: Option<usize>,
    search_id: Option<String>,
}

#[async_trait]
impl BuiltinTool for SearchInTurn {
    type Input = SearchInTurnInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "turn": turn(),
            "pattern": {
                "type": "string",
                "description": "A regular expression, whatever the case of the text.",
                "minLength": 1,
                "maxLength": 1000,
                "examples": ["error|failed"],
            },
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

struct ViewHistoryTurn(Arc<ContextWindow>);

#[derive(Deserialize)]
struct ViewHistoryTurnInput {
    turn: usize,
    context_turns: Option<usize>,
    truncate: Option<bool>,
}

#[async_trait]
impl BuiltinTool for ViewHistoryTurn {
    type Input = ViewHistoryTurnInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "turn": turn(),
            "context_turns": {
                "type": "integer",
                "description": "How many turns before and after it to show, too; left out, 2.",
                "minimum": 0,
                "maximum": 10,
                "examples": [0],
            },
            "truncate": truncate(),
        });
        definition(
            "view_history_turn",
            "View a turn",
            "Shows what was said and done in a turn of this task, also if it was dropped from the context.",
            properties,
            &["turn"],
        )
    }

    async fn run(&self, input: ViewHistoryTurnInput, _context: &CallContext) -> ToolResult {
        known_turn(&self.0, input.turn)?;
        let around = input.context_turns.unwrap_or(2);
        let turns = input.turn.saturating_sub(around)..=input.turn.saturating_add(around);
        let max_chars = shown_chars(input.truncate, VIEWED_CHARS);
        let records = records(&self.0);
        let records = records.iter().filter(|record| turns.contains(&record.turn));
        Ok(listing(records, max_chars))
    }
}

struct BrowseHistory(Arc<ContextWindow>);

#[derive(Deserialize)]
struct BrowseHistoryInput {
    start_turn: Option<usize>,
    end_turn: Option<usize>,
    limit: Option<usize>,
    #[serde(default)]
    reverse: bool,
    truncate: Option<bool>,
}

#[async_trait]
impl BuiltinTool for BrowseHistory {
    type Input = BrowseHistoryInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "start_turn": turn(),
            "end_turn": turn(),
            "limit": {
                "type": "integer",
                "description": format!("How many turns to show; left out, {BROWSED_TURNS}."),
                "minimum": 1,
                "maximum": 100,
                "examples": [5],
            },
            "reverse": {"type": "boolean", "description": "Whether the newest come first."},
            "truncate": truncate(),
        });
        definition(
            "browse_history",
            "Browse history",
            "Shows the turns of this task in short, one after another.",
            properties,
            &[],
        )
    }

    async fn run(&self, input: BrowseHistoryInput, _context: &CallContext) -> ToolResult {
        let last = self.0.status().steps;
        let start = input.start_turn.unwrap_or(0);
        let end = input
            .end_turn
            .map_or(last, |end| end.saturating_add(1))
            .min(last);
        let mut turns: Vec<usize> = (start..end).collect();
        if input.reverse {
            turns.reverse();
        }
        turns.truncate(input.limit.unwrap_or(BROWSED_TURNS));
        let max_chars = shown_chars(input.truncate, BROWSED_CHARS);
        let records = records(&self.0);
        let shown = turns
            .iter()
            .flat_map(|turn| records.iter().filter(move |record| record.turn == *turn));
        Ok(listing(shown, max_chars))
    }
}

struct HistoryStats(Arc<ContextWindow>);

#[derive(Deserialize)]
struct HistoryStatsInput {}

#[async_trait]
impl BuiltinTool for HistoryStats {
    type Input = HistoryStatsInput;

    fn definition(&self) -> ToolDefinition {
        definition(
            "history_stats",
            "History statistics",
            "Counts the turns, records and characters of this task so far.",
            json!({}),
            &[],
        )
    }

    async fn run(&self, _input: HistoryStatsInput, _context: &CallContext) -> ToolResult {
        let records = records(&self.0);
        let count = |kind: &str| records.iter().filter(|record| record.kind == kind).count();
        let chars = records.iter().map(|record| record.text.chars().count());
        Ok(ToolOutput::json(json!({
            "turns": self.0.status().steps,
            "messages": count("assistant"),
            "tool_calls": count("tool_call"),
            "tool_outputs": count("tool_output"),
            "characters": chars.sum::<usize>(),
        })))
    }
}

fn listing<'a>(records: impl Iterator<Item = &'a HistoryRecord>, max_chars: usize) -> ToolOutput {
    let shown = records.map(|record| {
        let text = shorten(&record.text, max_chars);
        format!("[turn {}, {}] {text}", record.turn, record.kind)
    });
    let shown: Vec<String> = shown.collect();
    ToolOutput::text(if shown.is_empty() {
        "There is nothing to show yet.".to_owned()
    } else {
        shown.join("\n")
    })
}

fn known_turn(context: &ContextWindow, turn: usize) -> Result<(), ToolError> {
    let turns = context.status().steps;
    if turn < turns {
        return Ok(());
    }
    Err(ToolError::failed(format!(
        "There is no turn {turn} yet: {turns} turns are over, counted from 0."
    )))
}

/// Whole, where a model asks for it: what is too long for the hub goes to the output store.
fn shown_chars(truncate: Option<bool>, max_chars: usize) -> usize {
    if truncate.unwrap_or(true) {
        max_chars
    } else {
        usize::MAX
    }
}

fn hits_per_page(asked: Option<usize>) -> usize {
    asked.unwrap_or(HITS_PER_PAGE).clamp(1, MAX_HITS_PER_PAGE)
}

fn turn() -> Value {
    json!({
        "type": "integer",
        "description": "The number of a turn, from 0 over the whole task.",
        "minimum": 0,
        "examples": [3],
    })
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

fn truncate() -> Value {
    json!({
        "type": "boolean",
        "description": "Whether long texts are shortened; left out, they are.",
    })
}
