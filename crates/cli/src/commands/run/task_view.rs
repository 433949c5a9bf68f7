//! Shows tasks while they run: lines for what happens, and on a terminal a last line that is
//! redrawn with what all of them took so far.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;
use tenon_agent::ContextWindow;
use tenon_app::tasks::report::TaskReport;
use tenon_app::tasks::runner::ActiveTask;
use tenon_domain::text::shorten;
use tenon_domain::{ChatId, Event, EventBody, Part};
use tenon_server::wire::ServerFrame;

use super::meter::Meter;
use super::summary::{RunSummary, line};
use super::terminal::shown;
use crate::commands::say;

/// A tool's input in one line among others.
const MAX_INPUT_CHARS: usize = 200;

pub(super) struct TaskView {
    json: bool,
    tasks: usize,
    state: Mutex<ViewState>,
}

struct ViewState {
    meter: Meter,
    started: Instant,
    running: BTreeMap<String, Arc<ContextWindow>>,
    /// Of tasks that are over.
    finished: usize,
    turns: usize,
    tokens: u64,
}

/// Lines of `--json` that are about a task and not about its chat.
#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum TaskFrame<'a> {
    #[serde(rename = "task:started")]
    Started { task: &'a str, chat_id: &'a ChatId },
    #[serde(rename = "task:finished")]
    Finished {
        #[serde(flatten)]
        report: &'a TaskReport,
    },
    #[serde(rename = "run:finished")]
    RunFinished {
        #[serde(flatten)]
        summary: &'a RunSummary,
    },
}

impl TaskView {
    pub(super) fn new(json: bool, tasks: usize) -> Self {
        Self {
            json,
            tasks,
            state: Mutex::new(ViewState {
                meter: Meter::default(),
                started: Instant::now(),
                running: BTreeMap::new(),
                finished: 0,
                turns: 0,
                tokens: 0,
            }),
        }
    }

    pub(super) fn started(&self, task: &ActiveTask) {
        let name = task.name.clone();
        self.state().running.insert(name, task.context.clone());
        if self.json {
            self.frame(&TaskFrame::Started {
                task: &task.name,
                chat_id: &task.chat,
            });
            return;
        }
        for note in &task.notes {
            self.tell(&task.name, &format!("! {note}"));
        }
        if self.tasks > 1 {
            self.tell(&task.name, "started");
        }
    }

    pub(super) fn event(&self, task: &str, event: &Event) {
        if self.json {
            if let Ok(line) = serde_json::to_string(&ServerFrame::Event(event.clone())) {
                say(line);
            }
            return;
        }
        match &event.body {
            EventBody::CallRequested { call } => {
                let input = call.input.to_string();
                let input = shorten(&input, MAX_INPUT_CHARS);
                let line = shown(&format!("▸ {} {input}", call.tool_id));
                self.tell(task, &line);
            }
            EventBody::CallFinished {
                status,
                error,
                duration_ms,
                ..
            } => {
                let line = match error {
                    Some(error) => shown(&format!("  {status}: {error}")),
                    None => format!("  {status}, {duration_ms} ms"),
                };
                self.tell(task, &line);
            }
            EventBody::MessageFinished { parts, .. } => self.words(task, parts),
            EventBody::ToolsLeftOut { tools, .. } => {
                for tool in tools {
                    let why = format!("! {} was not offered: {}", tool.display_name, tool.why);
                    self.tell(task, &shown(&why));
                }
            }
            _ => {}
        }
    }

    pub(super) fn finished(&self, report: &TaskReport) {
        {
            let mut state = self.state();
            state.running.remove(&report.task);
            let usage = &report.statistics.usage;
            state.finished += 1;
            state.turns += report.statistics.turns;
            state.tokens += usage.input_tokens + usage.output_tokens;
        }
        if self.json {
            self.frame(&TaskFrame::Finished { report });
            return;
        }
        let outcome = report.outcome.as_str();
        let reason = report.reason.as_deref().unwrap_or_default();
        let line = if report.statistics.turns == 0 {
            format!("{outcome}: {reason}")
        } else {
            format!("{outcome}: {}. {reason}", line(&report.statistics))
        };
        self.tell(&report.task, &shown(line.trim_end()));
    }

    pub(super) fn run_finished(&self, summary: &RunSummary) {
        self.state().meter.clear();
        if self.json {
            self.frame(&TaskFrame::RunFinished { summary });
        } else if summary.tasks.len() > 1 {
            say(summary.table());
        }
    }

    /// Redraws the last line.
    pub(super) fn tick(&self) {
        if self.json {
            return;
        }
        let mut state = self.state();
        let (mut turns, mut tokens) = (state.turns, state.tokens);
        for context in state.running.values() {
            let status = context.status();
            turns += status.steps;
            tokens += status.usage.input_tokens + status.usage.output_tokens;
        }
        let seconds = state.started.elapsed().as_secs();
        let tasks = if self.tasks > 1 {
            let (finished, running) = (state.finished, state.running.len());
            format!("{finished} of {} over, {running} running, ", self.tasks)
        } else {
            String::new()
        };
        let line = format!(
            "  {tasks}{turns} turns, {tokens} tokens, {}:{:02}",
            seconds / 60,
            seconds % 60
        );
        state.meter.redraw(&line);
    }

    /// What the model said: the answer of a single task, a line of one among others.
    fn words(&self, task: &str, parts: &[Part]) {
        let words = Part::words(parts);
        if words.trim().is_empty() {
            return;
        }
        if self.tasks == 1 {
            self.state().meter.clear();
            say(words);
        } else {
            let first = shorten(&words, MAX_INPUT_CHARS);
            self.tell(task, &shown(&first.replace('\n', " ")));
        }
    }

    fn tell(&self, task: &str, line: &str) {
        let mut state = self.state();
        state.meter.clear();
        if self.tasks > 1 {
            eprintln!("[{}] {line}", shown(task));
        } else {
            eprintln!("{line}");
        }
    }

    fn frame(&self, frame: &TaskFrame<'_>) {
        if let Ok(line) = serde_json::to_string(frame) {
            say(line);
        }
    }

    fn state(&self) -> MutexGuard<'_, ViewState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
