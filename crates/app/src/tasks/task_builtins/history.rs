//! Tools that read and search all turns of a run, also those that were dropped from the context.

mod record;
mod search;

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_agent::ContextWindow;
use tenon_domain::text::shorten;
use tenon_domain::{ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_sources::builtin::{AnyTool, BuiltinTool};
use tenon_tools::CallContext;

use super::context::definition;
use record::{HistoryRecord, records};
use search::{SearchHistory, SearchInTurn};

/// How much of each record is shown where turns are only browsed.
const BROWSED_CHARS: usize = 500;
const VIEWED_CHARS: usize = 4_000;

const BROWSED_TURNS: usize = 20;

pub(super) fn tools(context: &Arc<ContextWindow>) -> Vec<Box<dyn AnyTool>> {
    let context = context.clone();
    vec![
        Box::new(SearchHistory::new(context.clone())),
        Box::new(ViewHistoryTurn(context.clone())),
        Box::new(SearchInTurn::new(context.clone())),
        Box::new(BrowseHistory(context.clone())),
        Box::new(HistoryStats(context)),
    ]
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

fn turn() -> Value {
    json!({
        "type": "integer",
        "description": "The number of a turn, from 0 over the whole task.",
        "minimum": 0,
        "examples": [3],
    })
}

fn truncate() -> Value {
    json!({
        "type": "boolean",
        "description": "Whether long texts are shortened; left out, they are.",
    })
}
