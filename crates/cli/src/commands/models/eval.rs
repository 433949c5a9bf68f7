//! `tenon models eval`: progress to standard error, the table to standard output.

mod table;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use futures::StreamExt;
use tenon_app::app::App;
use tenon_domain::{EvaluationReport, ModelId, PromptOutcome, PromptResult, ToolUse};
use tenon_server::wire::{EvaluationFrame, EvaluationRequest, ModelChange};

use crate::commands::{INTERRUPTED, say};

#[derive(Debug, Args)]
pub(in crate::commands) struct EvalCommand {
    #[arg(value_name = "NAME")]
    model: String,
    /// Measure this mode alone; may be repeated
    #[arg(long, value_name = "MODE")]
    only: Vec<ModeFlag>,
    /// How many prompts in each mode, instead of all thirty
    #[arg(long, value_name = "N")]
    prompts: Option<usize>,
    /// How long one prompt may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Use the recommended mode from now on
    #[arg(long)]
    apply: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeFlag {
    Native,
    Constrained,
    Text,
}

impl From<ModeFlag> for ToolUse {
    fn from(mode: ModeFlag) -> Self {
        match mode {
            ModeFlag::Native => Self::Native,
            ModeFlag::Constrained => Self::Constrained,
            ModeFlag::Text => Self::Text,
        }
    }
}

impl EvalCommand {
    pub(super) async fn run(self, app: &App) -> Result<ExitCode> {
        let model = app.models.named(&self.model).await?;
        let modes: Vec<ToolUse> = self.only.iter().copied().map(ToolUse::from).collect();
        let request = EvaluationRequest {
            modes: (!modes.is_empty()).then_some(modes),
            prompts: self.prompts,
            timeout_seconds: self.timeout,
        };
        let (report, code) = measure(app, &model, request).await?;
        if self.json {
            say(serde_json::to_string_pretty(&report)?);
        } else {
            say(table::render(&report));
        }
        match report.recommendation {
            Some(mode) if self.apply && code == ExitCode::SUCCESS => {
                apply(app, &model, mode).await?;
            }
            Some(mode) => eprintln!(
                "Recommended: {}. --apply takes it over; so does the model's form on the page.",
                label(mode)
            ),
            None if code == ExitCode::SUCCESS => {
                eprintln!("No mode is recommended: in none the model calls tools well enough.");
            }
            None => {}
        }
        Ok(code)
    }
}

/// What was measured, to the end or until Ctrl-C.
async fn measure(
    app: &App,
    model: &ModelId,
    request: EvaluationRequest,
) -> Result<(EvaluationReport, ExitCode)> {
    let mut frames = app.models.evaluate(model, request).await?;
    let interrupt = tokio::signal::ctrl_c();
    tokio::pin!(interrupt);
    let mut measured = EvaluationReport::new(&[], 0);
    loop {
        let frame = tokio::select! {
            frame = frames.next() => frame,
            _ = &mut interrupt => return Ok((measured, ExitCode::from(INTERRUPTED))),
        };
        match frame {
            Some(EvaluationFrame::Started { report }) => {
                eprintln!("Waiting for the model … Ctrl-C stops and prints what was measured.");
                measured = report;
            }
            Some(EvaluationFrame::Measured { report, result }) => {
                print_result(&report, &result);
                measured = report;
            }
            Some(EvaluationFrame::Finished { report, error }) => {
                let code = match error {
                    Some(error) => {
                        eprintln!("{error}");
                        ExitCode::FAILURE
                    }
                    None => ExitCode::SUCCESS,
                };
                return Ok((report, code));
            }
            None => return Ok((measured, ExitCode::FAILURE)),
        }
    }
}

fn print_result(report: &EvaluationReport, result: &PromptResult) {
    let score = report.modes.iter().find(|score| score.mode == result.mode);
    eprintln!(
        "{:<11} {:>2}/{}  {:<13} {:>5.1} s  {}",
        label(result.mode),
        score.map_or(0, |score| score.prompts),
        report.prompts_per_mode,
        outcome(result.outcome),
        seconds(result.duration_ms),
        result.prompt,
    );
}

async fn apply(app: &App, model: &ModelId, mode: ToolUse) -> Result<()> {
    let change = ModelChange {
        tool_mode: Some(mode.into()),
        ..ModelChange::default()
    };
    app.models.change(model, change).await?;
    eprintln!("From now on tools are called this way: {}.", label(mode));
    Ok(())
}

fn label(mode: ToolUse) -> &'static str {
    match mode {
        ToolUse::Native => "native",
        ToolUse::Constrained => "constrained",
        ToolUse::Text => "text",
        ToolUse::None => "none",
    }
}

fn outcome(outcome: PromptOutcome) -> &'static str {
    match outcome {
        PromptOutcome::Passed => "passed",
        PromptOutcome::NoCall => "no call",
        PromptOutcome::WrongCall => "wrong call",
        PromptOutcome::UnneededCall => "unneeded call",
        PromptOutcome::WrongAnswer => "wrong answer",
        PromptOutcome::TimedOut => "too slow",
        PromptOutcome::Failed => "failed",
    }
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}
