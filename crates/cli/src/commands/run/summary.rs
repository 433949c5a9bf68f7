//! What came of all tasks of a run.

use std::process::ExitCode;

use serde::Serialize;
use tenon_app::tasks::report::{TaskOutcome, TaskReport, TaskStatistics};

use crate::commands::{GAVE_UP, INTERRUPTED};

/// Longer names are cut in the table.
const MAX_NAME_CHARS: usize = 40;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunSummary {
    pub(super) done: usize,
    pub(super) gave_up: usize,
    pub(super) failed: usize,
    pub(super) interrupted: usize,
    pub(super) total: TaskStatistics,
    pub(super) tasks: Vec<TaskReport>,
}

impl RunSummary {
    pub(super) fn new(tasks: Vec<TaskReport>, seconds: f64) -> Self {
        let count =
            |outcome: TaskOutcome| tasks.iter().filter(|task| task.outcome == outcome).count();
        let mut total = TaskStatistics::default();
        for task in &tasks {
            total += &task.statistics;
        }
        total.seconds = seconds;
        Self {
            done: count(TaskOutcome::Done),
            gave_up: count(TaskOutcome::GaveUp),
            failed: count(TaskOutcome::Failed),
            interrupted: count(TaskOutcome::Interrupted),
            total,
            tasks,
        }
    }

    /// The worst of all.
    pub(super) fn exit_code(&self) -> ExitCode {
        let outcomes = self.tasks.iter().map(|task| task.outcome);
        match outcomes.max().unwrap_or(TaskOutcome::Done) {
            TaskOutcome::Done => ExitCode::SUCCESS,
            TaskOutcome::GaveUp => ExitCode::from(GAVE_UP),
            TaskOutcome::Failed => ExitCode::FAILURE,
            TaskOutcome::Interrupted => ExitCode::from(INTERRUPTED),
        }
    }

    /// A line for each task and one for all.
    pub(super) fn table(&self) -> String {
        let width = self.tasks.iter().map(|task| task.task.chars().count());
        let width = width.max().unwrap_or(0).clamp(4, MAX_NAME_CHARS);
        let row = |name: &str, outcome: &str, statistics: &TaskStatistics| {
            let name: String = name.chars().take(width).collect();
            format!(
                "{name:width$}  {outcome:<11}  {:>5}  {:>5}  {:>6}  {:>9}  {:>9}  {:>8.1}",
                statistics.turns,
                statistics.calls,
                statistics.failed_calls,
                statistics.usage.input_tokens,
                statistics.usage.output_tokens,
                statistics.seconds,
            )
        };
        let head = format!(
            "{:width$}  {:<11}  {:>5}  {:>5}  {:>6}  {:>9}  {:>9}  {:>8}",
            "task", "outcome", "turns", "calls", "failed", "tokens in", "out", "seconds"
        );
        let all = format!("{}/{} done", self.done, self.tasks.len());
        let tasks = self
            .tasks
            .iter()
            .map(|task| row(&task.task, task.outcome.as_str(), &task.statistics));
        let lines = [head].into_iter().chain(tasks);
        let lines = lines.chain([row("all", &all, &self.total)]);
        lines.collect::<Vec<String>>().join("\n")
    }
}

/// `4 turns, 5 calls (1 failed), 3400 tokens in, 210 out, 14.2 s`
pub(super) fn line(statistics: &TaskStatistics) -> String {
    let failed = match statistics.failed_calls {
        0 => String::new(),
        failed => format!(" ({failed} failed)"),
    };
    format!(
        "{} turns, {} calls{failed}, {} tokens in, {} out, {:.1} s",
        statistics.turns,
        statistics.calls,
        statistics.usage.input_tokens,
        statistics.usage.output_tokens,
        statistics.seconds,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(task: &str, outcome: TaskOutcome) -> TaskReport {
        TaskReport {
            statistics: TaskStatistics {
                turns: 2,
                calls: 3,
                failed_calls: 1,
                seconds: 1.5,
                ..TaskStatistics::default()
            },
            ..TaskReport::not_started(task, outcome, None)
        }
    }

    #[test]
    fn the_worst_task_decides_and_all_are_added_up() {
        use TaskOutcome::{Done, Failed, GaveUp, Interrupted};
        let code = |outcomes: &[TaskOutcome]| {
            let tasks = outcomes.iter().map(|outcome| report("t", *outcome));
            RunSummary::new(tasks.collect(), 0.0).exit_code()
        };
        assert_eq!(code(&[Done, Done]), ExitCode::SUCCESS);
        assert_eq!(code(&[Done, GaveUp]), ExitCode::from(3));
        assert_eq!(code(&[GaveUp, Failed, Done]), ExitCode::from(1));
        assert_eq!(code(&[Interrupted, Failed]), ExitCode::from(130));

        let summary = RunSummary::new(vec![report("one", Done), report("another", GaveUp)], 2.0);
        let expected = "\
task     outcome      turns  calls  failed  tokens in        out   seconds
one      done             2      3       1          0          0       1.5
another  gave up          2      3       1          0          0       1.5
all      1/2 done         4      6       2          0          0       2.0";
        assert_eq!(summary.table(), expected);
    }
}
