//! What came of a task: how it ended and what it took.

use std::ops::AddAssign;
use std::path::PathBuf;

use serde::Serialize;
use tenon_domain::{
    CallId, CallStatus, ChatId, Cost, ErrorDetail, EventBody, ToolId, TurnOutcome, Usage,
};

use super::task_builtins::CLAIM_DONE;

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskOutcome {
    Done,
    /// It reached a limit, or stopped without saying that it is done.
    GaveUp,
    /// Something was in its way: its files, a server, the model.
    Failed,
    /// A person stopped it.
    Interrupted,
}

/// A task that is over.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReport {
    pub task: String,
    pub outcome: TaskOutcome,
    /// Why it is not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    #[serde(flatten)]
    pub statistics: TaskStatistics,
}

/// What a task took, or several together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatistics {
    pub turns: usize,
    pub calls: usize,
    pub failed_calls: usize,
    pub usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    pub seconds: f64,
}

/// What the events of a task say of it so far.
#[derive(Debug, Default)]
pub struct TaskProgress {
    pub turns: usize,
    pub calls: usize,
    pub failed_calls: usize,
    claim: Option<CallId>,
    has_claimed: bool,
    end: Option<TurnEndFacts>,
}

#[derive(Debug)]
struct TurnEndFacts {
    outcome: TurnOutcome,
    usage: Usage,
    cost: Option<Cost>,
}

impl TaskProgress {
    pub fn observe(&mut self, event: &EventBody) {
        match event {
            EventBody::MessageStarted { .. } => self.turns += 1,
            EventBody::CallRequested { call } => {
                self.calls += 1;
                if call.tool_id == ToolId::new(CLAIM_DONE) {
                    self.claim = Some(call.id.clone());
                }
            }
            EventBody::CallFinished {
                call_id, status, ..
            } => {
                let is_done = *status == CallStatus::Done;
                self.failed_calls += usize::from(!is_done);
                self.has_claimed |= is_done && self.claim.as_ref() == Some(call_id);
            }
            EventBody::TurnFinished {
                outcome,
                usage,
                cost,
                ..
            } => {
                self.end = Some(TurnEndFacts {
                    outcome: outcome.clone(),
                    usage: *usage,
                    cost: cost.clone(),
                });
            }
            EventBody::ChatTitled { .. }
            | EventBody::BranchChosen { .. }
            | EventBody::CallAsked { .. }
            | EventBody::CallAnswered { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::MessageFinished { .. }
            | EventBody::CallStarted { .. }
            | EventBody::ToolsLeftOut { .. }
            | EventBody::FormShown { .. }
            | EventBody::FormAnswered { .. } => {}
        }
    }

    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// How the task ended, and why it is not done.
    pub fn outcome(&self, must_claim: bool) -> (TaskOutcome, Option<String>) {
        let Some(end) = &self.end else {
            return (TaskOutcome::Interrupted, None);
        };
        let said = |error: &ErrorDetail| Some(error.to_string());
        match &end.outcome {
            TurnOutcome::Done if must_claim && !self.has_claimed => {
                let why = format!("The model stopped without calling {CLAIM_DONE}.");
                (TaskOutcome::GaveUp, Some(why))
            }
            TurnOutcome::Done => (TaskOutcome::Done, None),
            TurnOutcome::StepLimit => {
                let why = format!("The limit of {} turns is reached.", self.turns);
                (TaskOutcome::GaveUp, Some(why))
            }
            TurnOutcome::Stopped => (TaskOutcome::Interrupted, None),
            TurnOutcome::Interrupted(error) | TurnOutcome::Failed(error) => {
                (TaskOutcome::Failed, said(error))
            }
        }
    }

    pub(super) fn statistics(&self, seconds: f64) -> TaskStatistics {
        let end = self.end.as_ref();
        TaskStatistics {
            turns: self.turns,
            calls: self.calls,
            failed_calls: self.failed_calls,
            usage: end.map(|end| end.usage).unwrap_or_default(),
            cost: end.and_then(|end| end.cost.clone()),
            seconds,
        }
    }
}

impl TaskReport {
    /// Of a task that could not begin.
    pub fn not_started(task: &str, outcome: TaskOutcome, reason: Option<String>) -> Self {
        Self {
            task: task.to_owned(),
            outcome,
            reason,
            model: String::new(),
            chat_id: None,
            workspace: None,
            statistics: TaskStatistics::default(),
        }
    }
}

impl TaskOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::GaveUp => "gave up",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Side by side their seconds overlap: the time of all is measured, not added.
impl AddAssign<&TaskStatistics> for TaskStatistics {
    fn add_assign(&mut self, more: &TaskStatistics) {
        self.turns += more.turns;
        self.calls += more.calls;
        self.failed_calls += more.failed_calls;
        self.usage += more.usage;
    }
}
