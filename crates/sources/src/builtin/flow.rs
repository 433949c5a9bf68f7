//! Tools about the work itself: wait, and say that it is done.

use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;
use serde::Deserialize;
use serde_json::json;
use tenon_domain::{Annotations, ToolDefinition, ToolOutput, ToolResult};
use tenon_tools::{CallContext, Relevance};

use super::{AnyTool, BuiltinTool, READS_ONLY};

/// Long enough for a slow job elsewhere; who must wait longer sleeps twice.
const LONGEST_SLEEP: Duration = Duration::from_secs(300);

/// The longest sleep, and time to say that it is over.
const SLEEP_DEADLINE: Duration = Duration::from_secs(310);

pub(super) fn tools() -> Vec<Box<dyn AnyTool>> {
    vec![Box::new(Sleep), Box::new(ClaimDone)]
}

pub(super) struct Sleep;

#[derive(Deserialize)]
pub(super) struct SleepInput {
    seconds: f64,
}

#[async_trait]
impl BuiltinTool for Sleep {
    type Input = SleepInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "sleep".into(),
            title: Some("Sleep".into()),
            description: "Waits for a number of seconds, at most 300, for example until a job \
                          elsewhere has gone on."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "seconds": {
                        "type": "number",
                        "description": "How long to wait, in seconds.",
                        "minimum": 0,
                        "maximum": LONGEST_SLEEP.as_secs(),
                        "examples": [5, 0.5],
                    },
                },
                "required": ["seconds"],
                "additionalProperties": false,
            })
            .into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "wait, pause, delay, 等待, 暂停, 暫停, 延时"
    }

    fn relevance(&self) -> Relevance {
        Relevance::OnDemand
    }

    fn deadline(&self) -> Option<Duration> {
        Some(SLEEP_DEADLINE)
    }

    async fn run(&self, input: SleepInput, _context: &CallContext) -> ToolResult {
        let asked = Duration::try_from_secs_f64(input.seconds).unwrap_or_default();
        tokio::time::sleep(asked.min(LONGEST_SLEEP)).await;
        // The time makes each result different, so that repeated waiting does not count as a
        // repeated call.
        let now = Utc::now().format("%Y-%m-%d %H:%M:%S");
        Ok(ToolOutput::text(format!(
            "Waited {} s. It is {now} UTC.",
            input.seconds
        )))
    }
}

pub(super) struct ClaimDone;

#[derive(Deserialize)]
pub(super) struct ClaimDoneInput {
    summary: Option<String>,
}

#[async_trait]
impl BuiltinTool for ClaimDone {
    type Input = ClaimDoneInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "claim_done".into(),
            title: Some("Claim done".into()),
            description: "Says that the whole task is done and ends the turn. Call it once, \
                          after everything else."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "summary": {
                        "type": "string",
                        "description": "What was done, in a sentence or two.",
                        "examples": ["The report is in report.md; all 12 figures were checked."],
                    },
                },
                "additionalProperties": false,
            })
            .into(),
            annotations: Annotations {
                ends_turn: true,
                ..READS_ONLY
            },
        }
    }

    fn keywords(&self) -> &'static str {
        "完成, 结束, 結束"
    }

    fn relevance(&self) -> Relevance {
        Relevance::WhenNamed
    }

    async fn run(&self, input: ClaimDoneInput, _context: &CallContext) -> ToolResult {
        let summary = input.summary.unwrap_or_default();
        Ok(ToolOutput::text(match summary.trim() {
            "" => "Done.".to_owned(),
            summary => format!("Done: {summary}"),
        }))
    }
}
