//! Runs tasks, some of them side by side, and tells how each ended.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::StreamExt;
use tenon_agent::feed::{ChatWatch, LiveUpdate, WatchEvent};
use tenon_app::tasks::report::{TaskOutcome, TaskProgress, TaskReport};
use tenon_app::tasks::runner::{ActiveTask, TaskRunner};
use tenon_app::tasks::{FailedTask, Task, TaskError};

use super::interrupts::Interrupts;
use super::summary::RunSummary;
use super::task_view::TaskView;
use crate::commands::INTERRUPTED;

/// A task has far fewer events.
const ALL_EVENTS: u64 = u32::MAX as u64;

const REDRAW_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct TaskBatch {
    runner: TaskRunner,
    jobs: usize,
    view: TaskView,
    interrupts: Interrupts,
}

impl TaskBatch {
    pub(super) fn new(runner: TaskRunner, jobs: usize, json: bool, tasks: usize) -> Self {
        Self {
            runner,
            jobs,
            view: TaskView::new(json, tasks),
            interrupts: Interrupts::listen(),
        }
    }

    pub(super) async fn run(&self, tasks: Vec<Result<Task, FailedTask>>) -> Result<ExitCode> {
        let started = Instant::now();
        let running = futures::stream::iter(tasks.into_iter().enumerate())
            .map(|(number, task)| async move { (number, self.run_task(task).await) })
            .buffer_unordered(self.jobs);
        let mut reports: Vec<(usize, TaskReport)> = tokio::select! {
            reports = Box::pin(running.collect()) => reports,
            () = self.interrupts.quit.cancelled() => return Ok(ExitCode::from(INTERRUPTED)),
        };
        reports.sort_by_key(|(number, _)| *number);
        let reports = reports.into_iter().map(|(_, report)| report).collect();
        let summary = RunSummary::new(reports, started.elapsed().as_secs_f64());
        self.runner.write_summary(&summary)?;
        self.view.run_finished(&summary);
        Ok(summary.exit_code())
    }

    async fn run_task(&self, task: Result<Task, FailedTask>) -> TaskReport {
        let report = match task {
            Err(FailedTask { name, error }) => TaskReport::from_error(&name, &error),
            Ok(task) => {
                let ended = self.start_and_follow(&task).await;
                ended.unwrap_or_else(|error| TaskReport::from_error(&task.name, &error))
            }
        };
        self.view.finished(&report);
        report
    }

    async fn start_and_follow(&self, task: &Task) -> Result<TaskReport, TaskError> {
        let (running, watch) = tokio::select! {
            biased;
            () = self.interrupts.stop.cancelled() => {
                let outcome = TaskOutcome::Interrupted;
                return Ok(TaskReport::not_started(&task.name, outcome, None));
            }
            started = Box::pin(self.runner.start(task)) => started?,
        };
        self.view.started(&running);
        let progress = self.follow(&running, watch).await?;
        self.runner.finish(running, &progress).await
    }

    /// Until the turn is over.
    async fn follow(
        &self,
        task: &ActiveTask,
        mut watch: ChatWatch,
    ) -> Result<TaskProgress, TaskError> {
        let mut progress = TaskProgress::default();
        let mut redraw = tokio::time::interval(REDRAW_INTERVAL);
        let mut is_stopping = false;
        let mut last = 0;
        loop {
            let next = tokio::select! {
                next = watch.next() => next,
                () = self.interrupts.stop.cancelled(), if !is_stopping => {
                    is_stopping = true;
                    self.runner.app.agent.cancel(&task.turn);
                    continue;
                }
                _ = redraw.tick() => {
                    self.view.tick();
                    continue;
                }
            };
            let events = match next {
                WatchEvent::Live(LiveUpdate::Event(event)) => vec![(*event).clone()],
                // What matters of these is in an event later.
                WatchEvent::Live(
                    LiveUpdate::Delta(_)
                    | LiveUpdate::Progress(_)
                    | LiveUpdate::PromptProgress(_)
                    | LiveUpdate::Waiting(_),
                ) => continue,
                WatchEvent::Behind => {
                    let store = &self.runner.app.store;
                    store.events(&task.chat, last, ALL_EVENTS).await?
                }
                // The chat was deleted: nothing more will be heard of it.
                WatchEvent::Closed => return Ok(progress),
            };
            for event in events {
                if event.seq <= last {
                    continue;
                }
                last = event.seq;
                progress.observe(&event.body);
                self.view.event(&task.name, &event);
                if progress.is_over() {
                    return Ok(progress);
                }
            }
        }
    }
}
