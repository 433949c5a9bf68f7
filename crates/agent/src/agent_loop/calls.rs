//! The tool calls of a step. They run concurrently, up to a limit; a call that waits for approval
//! takes no slot.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use tenon_domain::{
    CallEndError, CallRecord, CallStatus, Message, MessageId, Part, RunsOn, ToolAnswer, ToolError,
    ToolId, ToolResult, TurnOutcome,
};
use tenon_store::Result as StoreResult;
use tenon_tools::{CallContext, CallOrigin, CallTimer, NoClient, PreparedCall, ReadyCall, Toolset};
use tokio::sync::Semaphore;

use super::{AgentLoop, LoopEnd};
use crate::recorder::ApprovalOutcome;
use crate::request::ModelTools;

/// The calls of a step, by who makes them.
#[derive(Default)]
pub(super) struct CallSplit {
    pub(super) own: Vec<CallRecord>,
    /// The client makes these.
    pub(super) handed_over: Vec<CallRecord>,
    /// The client would, but their inputs do not fit.
    pub(super) refused: Vec<ToolAnswer>,
}

/// The result of a call, and how long it took. None: it is parked.
type CallOutcome = Option<(ToolResult, Duration)>;

impl AgentLoop<'_> {
    /// Resumes a step of another process: finished calls stay, running ones are lost, the rest is
    /// made.
    pub(crate) async fn finish_step(
        &self,
        messages: &[Message],
        calls: Vec<CallRecord>,
    ) -> StoreResult<ControlFlow<LoopEnd>> {
        let toolset = with_known_addresses(self.toolset().await?, messages, &calls).await;
        let run = self.run_calls(&toolset, calls).await?;
        Ok(run.map_continue(|_answers| ()))
    }

    /// Runs the calls of a step to their ends. Their answers come in the order of the calls.
    pub(super) async fn run_calls(
        &self,
        toolset: &Toolset,
        calls: Vec<CallRecord>,
    ) -> StoreResult<ControlFlow<LoopEnd, Vec<ToolAnswer>>> {
        let slots = Semaphore::new(self.agent.settings.parallel_calls);
        let running = calls
            .iter()
            .enumerate()
            .map(|(index, call)| self.run_call(toolset, &slots, index, call));
        let results = try_join_all(running).await?;
        // All other calls have ended, so only calls that wait for a person are open.
        let Some(results) = results.into_iter().collect::<Option<Vec<ToolResult>>>() else {
            return Ok(ControlFlow::Break(LoopEnd::Parked));
        };
        let end = |outcome| Ok(ControlFlow::Break(LoopEnd::stopped(outcome, None)));
        if self.cancel.is_cancelled() {
            return end(TurnOutcome::Stopped);
        }
        let mut made = calls.iter().zip(&results);
        if made.any(|(call, result)| result.is_ok() && ends_turn(toolset, &call.tool_id)) {
            return end(TurnOutcome::Done);
        }
        let answers = calls.into_iter().zip(results);
        let answers = answers.map(|(call, result)| ToolAnswer {
            call_id: call.id,
            tool_id: call.tool_id,
            result,
        });
        Ok(ControlFlow::Continue(answers.collect()))
    }

    /// Sorts calls by who makes them.
    pub(super) async fn split(
        &self,
        toolset: &Toolset,
        calls: Vec<CallRecord>,
    ) -> StoreResult<CallSplit> {
        let mut split = CallSplit::default();
        if matches!(self.request.tools, ModelTools::Client(_)) {
            split.handed_over = calls;
            return Ok(split);
        }
        for call in calls {
            let tool = toolset.get(&call.tool_id);
            if !tool.is_some_and(|tool| tool.source.is_run_by_client()) {
                split.own.push(call);
                continue;
            }
            let prepared = toolset
                .prepare(&call.request(), self.cancel)
                .await
                .map(|_| ());
            let Err(error) = prepared else {
                split.handed_over.push(call);
                continue;
            };
            let result = Err(error);
            let recorder = self.recorder;
            recorder
                .call_finished(&call, &result, Duration::ZERO)
                .await?;
            split.refused.push(ToolAnswer {
                call_id: call.id,
                tool_id: call.tool_id,
                result,
            });
        }
        Ok(split)
    }

    /// The result of a call, on record. None: it is parked.
    async fn run_call(
        &self,
        toolset: &Toolset,
        slots: &Semaphore,
        index: usize,
        record: &CallRecord,
    ) -> StoreResult<Option<ToolResult>> {
        let made = match record.status {
            CallStatus::Pending => self.execute(toolset, slots, index, record).await?,
            CallStatus::Running => refused(ToolError::lost()),
            CallStatus::Done | CallStatus::Failed | CallStatus::Cancelled | CallStatus::Lost => {
                return Ok(Some(record.result()));
            }
        };
        let Some((result, took)) = made else {
            return Ok(None);
        };
        let recorder = self.recorder;
        recorder.call_finished(record, &result, took).await?;
        Ok(Some(result))
    }

    /// Prepares, approves and dispatches a call.
    async fn execute(
        &self,
        toolset: &Toolset,
        slots: &Semaphore,
        index: usize,
        record: &CallRecord,
    ) -> StoreResult<CallOutcome> {
        if self.cancel.is_cancelled() {
            return Ok(refused(ToolError::cancelled()));
        }
        let limit = self.agent.settings.calls_per_step;
        if index >= limit {
            return Ok(refused(too_many(limit)));
        }
        let call = record.request();
        // A call approved after a restart is looked up only then, because its source may come up
        // later than Tenon.
        if !record.is_paused() {
            match toolset.prepare(&call, self.cancel).await {
                Err(error) => return Ok(refused(error)),
                Ok(PreparedCall::Ready(ready)) => return self.dispatch(ready, slots, record).await,
                Ok(PreparedCall::Ask(_)) => {}
            }
        }
        match self.recorder.approve(record).await? {
            ApprovalOutcome::Allowed => {}
            ApprovalOutcome::Refused(error) => return Ok(refused(error)),
            ApprovalOutcome::Parked => return Ok(None),
        }
        // Hours may have passed, so the toolset and settings are read again.
        let toolset = self.toolset().await?;
        let ready = match toolset.prepare(&call, self.cancel).await {
            Err(error) => return Ok(refused(error)),
            Ok(PreparedCall::Ready(ready)) => ready,
            Ok(PreparedCall::Ask(question)) => question.approved(),
        };
        self.dispatch(ready, slots, record).await
    }

    async fn dispatch(
        &self,
        ready: ReadyCall<'_>,
        slots: &Semaphore,
        call: &CallRecord,
    ) -> StoreResult<CallOutcome> {
        // The semaphore is never closed. If it were, the call would run without a bound.
        let _slot = slots.acquire().await.ok();
        if self.cancel.is_cancelled() {
            return Ok(refused(ToolError::cancelled()));
        }
        let started = Instant::now();
        let context = CallContext {
            call_id: call.id.clone(),
            origin: CallOrigin {
                tool_id: Some(call.tool_id.clone()),
                chat_id: self.chat.cloned(),
                message_id: self.chat.map(|_stored| call.message_id.clone()),
            },
            user: self.access.user.clone(),
            workspace: Some(self.workspace.clone()),
            cancel: self.cancel.child_token(),
            client: Arc::new(NoClient),
            timer: CallTimer::default(),
        };
        let result = self.recorder.dispatch(ready, context).await?;
        Ok(Some((result, started.elapsed())))
    }
}

/// What was made for this answer so far, the calls of this step included that have a result.
pub(super) fn steps_before(
    made: &[Message],
    parts: &[Part],
    answers: &[ToolAnswer],
) -> Vec<Message> {
    let mut steps = made.to_vec();
    if !answers.is_empty() {
        let is_answered = |part: &&Part| {
            let call = part.as_call();
            call.is_some_and(|call| answers.iter().any(|answer| answer.call_id == call.id))
        };
        steps.push(Message::Assistant {
            parts: parts.iter().filter(is_answered).cloned().collect(),
        });
        steps.push(Message::Tools {
            answers: answers.to_vec(),
        });
    }
    steps
}

/// A model finds the answers in the order of its calls.
pub(super) fn sort_by_calls(answers: &mut [ToolAnswer], parts: &[Part]) {
    let calls: Vec<_> = parts.iter().filter_map(Part::as_call).collect();
    answers.sort_by_key(|answer| calls.iter().position(|call| call.id == answer.call_id));
}

/// The result of a call that was never run.
fn refused(error: ToolError) -> CallOutcome {
    Some((Err(error), Duration::ZERO))
}

/// Calls by id become calls of the tools themselves, for everybody who reads them from here on.
pub(super) fn resolve(toolset: &Toolset, parts: &mut [Part]) {
    for part in parts {
        if let Part::Call { call, .. } = part {
            toolset.resolve(call);
        }
    }
}

/// The calls that a message asks for.
pub(super) fn requested(toolset: &Toolset, message: &MessageId, parts: &[Part]) -> Vec<CallRecord> {
    let calls = parts.iter().filter_map(Part::as_call);
    let calls = calls.map(|call| {
        let tool = toolset.get(&call.tool_id);
        let name = tool.map_or(call.tool_id.as_str(), |tool| &tool.spec.display_name);
        let runs_on = tool.map_or(RunsOn::Server, |tool| tool.spec.runs_on);
        CallRecord::requested(call.clone(), message.clone(), name, runs_on)
    });
    calls.collect()
}

/// The toolset for these calls, which knows what was said before them.
pub(super) async fn with_known_addresses(
    toolset: Toolset,
    messages: &[Message],
    calls: &[CallRecord],
) -> Toolset {
    let depends = |call: &CallRecord| toolset.needs_addresses(&call.tool_id, &call.input);
    if calls.iter().any(depends) {
        toolset.with_known_addresses(messages).await
    } else {
        toolset
    }
}

/// Whether a successful call of it means that the work is done.
fn ends_turn(toolset: &Toolset, tool: &ToolId) -> bool {
    toolset
        .get(tool)
        .is_some_and(|tool| tool.spec.annotations.ends_turn)
}

/// The answer to calls beyond those that are made in one step.
fn too_many(limit: usize) -> ToolError {
    CallEndError::TooMany { max: limit }.into()
}
