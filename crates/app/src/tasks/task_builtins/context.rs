//! Tools that let a model drop old turns from its context.
//!
//! A turn here is what the model said in one step with the results of its calls. Turns keep their
//! numbers, from 0 over the whole run, whatever was dropped before.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_agent::ContextWindow;
use tenon_domain::{Annotations, ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_llm::Provider;
use tenon_sources::builtin::{AnyTool, BuiltinTool, task};
use tenon_tools::CallContext;

pub(super) fn tools(
    context: &Arc<ContextWindow>,
    model: &Arc<dyn Provider>,
) -> Vec<Box<dyn AnyTool>> {
    vec![
        Box::new(CheckContextStatus {
            context: context.clone(),
            model: model.clone(),
        }),
        Box::new(ManageContext(context.clone())),
        Box::new(SmartContextTruncate(context.clone())),
    ]
}

struct CheckContextStatus {
    context: Arc<ContextWindow>,
    model: Arc<dyn Provider>,
}

#[derive(Deserialize)]
struct NoInput {}

#[async_trait]
impl BuiltinTool for CheckContextStatus {
    type Input = NoInput;

    fn definition(&self) -> ToolDefinition {
        definition(
            "check_context_status",
            "Check context",
            "Shows how many turns there were, how many of them are dropped, how many tokens the context takes, and of how many where that is known.",
            json!({}),
            &[],
        )
    }

    async fn run(&self, _input: NoInput, _context: &CallContext) -> ToolResult {
        let status = self.context.status();
        let mut shown = json!({
            "turns": status.steps,
            "dropped_turns": status.dropped,
            "turns_in_context": status.steps - status.dropped,
            "context_tokens": status.context_tokens,
            "total_input_tokens": status.usage.input_tokens,
            "total_output_tokens": status.usage.output_tokens,
        });
        if let Some(limit) = self.model.context_tokens() {
            shown["context_limit_tokens"] = json!(limit);
            shown["context_used_percent"] = json!(used_percent(status.context_tokens, limit));
        }
        Ok(ToolOutput::json(shown))
    }
}

/// The last request may have been too long for what is known by now.
fn used_percent(used: u64, limit: u64) -> u64 {
    used.saturating_mul(100) / limit.max(1)
}

struct ManageContext(Arc<ContextWindow>);

#[derive(Deserialize)]
struct ManageContextInput {
    method: TruncateMethod,
    value: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TruncateMethod {
    KeepRecentTurns,
    KeepRecentPercent,
    DeleteFirstTurns,
    DeleteFirstPercent,
}

#[async_trait]
impl BuiltinTool for ManageContext {
    type Input = ManageContextInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "action": {
                "type": "string",
                "enum": ["truncate"],
                "description": "What to do; there is only truncate.",
            },
            "method": {
                "type": "string",
                "enum": [
                    "keep_recent_turns",
                    "keep_recent_percent",
                    "delete_first_turns",
                    "delete_first_percent",
                ],
                "description": "Which turns to drop, of those in the context.",
            },
            "value": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "A number of turns, or percent of them.",
                "examples": [10],
            },
            "preserve_system": preserve_system(),
        });
        definition(
            "manage_context",
            "Manage context",
            "Drops old turns from the context. The task stays, and so does this turn. Dropped turns can still be found with the history tools.",
            properties,
            &["method", "value"],
        )
    }

    async fn run(&self, input: ManageContextInput, _context: &CallContext) -> ToolResult {
        let turns = self.0.visible_steps();
        let dropped = input.method.dropped(input.value, turns.len())?;
        drop_turns(&self.0, &turns[..dropped])
    }
}

impl TruncateMethod {
    /// How many of the first turns are dropped.
    fn dropped(self, value: f64, turns: usize) -> Result<usize, ToolError> {
        let percent = || {
            if value < 100.0 {
                Ok((turns as f64 * value / 100.0) as usize)
            } else {
                Err(ToolError::invalid_input(
                    "`value` is a part of the turns in percent: give less than 100.",
                ))
            }
        };
        let dropped = match self {
            Self::KeepRecentTurns => turns.saturating_sub(value as usize),
            Self::KeepRecentPercent => turns - percent()?,
            Self::DeleteFirstTurns => value as usize,
            Self::DeleteFirstPercent => percent()?,
        };
        Ok(dropped.min(turns))
    }
}

struct SmartContextTruncate(Arc<ContextWindow>);

#[derive(Deserialize)]
struct SmartTruncateInput {
    ranges: Vec<[usize; 2]>,
}

#[async_trait]
impl BuiltinTool for SmartContextTruncate {
    type Input = SmartTruncateInput;

    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "ranges": {
                "type": "array",
                "description": "The turns to keep, as [first, last] with both included. Turns are counted from 0 over the whole task.",
                "minItems": 1,
                "maxItems": 1000,
                "items": {
                    "type": "array",
                    "minItems": 2,
                    "maxItems": 2,
                    "items": {"type": "integer", "minimum": 0},
                },
                "examples": [[[0, 2], [10, 14]]],
            },
            "preserve_system": preserve_system(),
        });
        definition(
            "smart_context_truncate",
            "Keep chosen turns",
            "Drops all turns from the context but those in the given ranges. The task stays, and so does this turn. Dropped turns can still be found with the history tools.",
            properties,
            &["ranges"],
        )
    }

    async fn run(&self, input: SmartTruncateInput, _context: &CallContext) -> ToolResult {
        if let Some([first, last]) = input.ranges.iter().find(|[first, last]| first > last) {
            return Err(ToolError::invalid_input(format!(
                "The range [{first}, {last}] ends before it begins."
            )));
        }
        let is_kept = |turn: &usize| {
            let mut ranges = input.ranges.iter();
            ranges.any(|[first, last]| (first..=last).contains(&turn))
        };
        let mut turns = self.0.visible_steps();
        turns.retain(|turn| !is_kept(turn));
        drop_turns(&self.0, &turns)
    }
}

fn drop_turns(context: &ContextWindow, turns: &[usize]) -> ToolResult {
    context.drop_steps(turns);
    let status = context.status();
    Ok(ToolOutput::text(format!(
        "{} turns were dropped; {} of {} are left in the context, and this one.",
        turns.len(),
        status.steps - status.dropped,
        status.steps,
    )))
}

/// The system prompt is never dropped; models are used to being asked.
fn preserve_system() -> Value {
    json!({
        "type": "boolean",
        "description": "The system prompt is always kept.",
    })
}

pub(super) fn definition(
    name: &str,
    title: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> ToolDefinition {
    let tool = task::definition(name, title, description, properties, required);
    ToolDefinition {
        annotations: Annotations {
            // The same call later drops, or shows, other turns.
            idempotent: false,
            ..tool.annotations
        },
        ..tool
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_drops_the_first_turns() {
        use TruncateMethod::{
            DeleteFirstPercent, DeleteFirstTurns, KeepRecentPercent, KeepRecentTurns,
        };
        let check = |method: TruncateMethod, value, expected: Option<usize>| {
            assert_eq!(
                method.dropped(value, 10).ok(),
                expected,
                "{method:?} {value}"
            );
        };
        check(KeepRecentTurns, 3.0, Some(7));
        check(KeepRecentTurns, 30.0, Some(0));
        check(KeepRecentPercent, 30.0, Some(7));
        check(KeepRecentPercent, 100.0, None);
        check(DeleteFirstTurns, 4.0, Some(4));
        check(DeleteFirstTurns, 40.0, Some(10));
        check(DeleteFirstPercent, 25.0, Some(2));
        check(DeleteFirstPercent, 1e9, None);
    }
}
