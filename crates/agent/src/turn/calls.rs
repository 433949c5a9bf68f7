//! The tool calls of a step. They run concurrently, up to a limit; a call that waits for approval
//! takes no slot.

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use tenon_domain::{
    CallRecord, CallStatus, EventBody, Message, MessageId, RunsOn, ToolAnswer, ToolCall, ToolError,
    ToolId, ToolResult, TurnOutcome,
};
use tenon_store::Result as StoreResult;
use tenon_tools::{Asker, CallContext, CallOrigin, CallTimer, PreparedCall, ReadyCall, Toolset};
use tokio::sync::Semaphore;

use super::approval::{ApprovalOutcome, advice};
use super::{Turn, TurnStop};
use crate::prompt;

/// How a call ended in this process.
enum CallOutcome {
    /// Its result, and how long it took.
    Ended(ToolResult, Duration),
    /// It waits for a person, and Tenon is shutting down.
    Parked,
}

impl Turn {
    /// Runs the calls of a step to their ends. Their answers come in the order
    /// of the calls; `Err` is how the turn stops instead of going on.
    pub(super) async fn run_calls(
        &self,
        toolset: &Toolset,
        calls: Vec<CallRecord>,
    ) -> StoreResult<Result<Vec<ToolAnswer>, TurnStop>> {
        let slots = Semaphore::new(self.agent.settings.parallel_calls);
        let running = calls
            .iter()
            .enumerate()
            .map(|(index, call)| self.run_call(toolset, &slots, index, call));
        let results = try_join_all(running).await?;
        // All the others have ended: what is parked is all that is open.
        let Some(results) = results.into_iter().collect::<Option<Vec<ToolResult>>>() else {
            return Ok(Err(TurnStop::Parked));
        };
        if self.slot.cancel.is_cancelled() {
            return Ok(Err(TurnStop::Ended(TurnOutcome::Stopped)));
        }
        let mut made = calls.iter().zip(&results);
        if made.any(|(call, result)| result.is_ok() && ends_turn(toolset, &call.tool_id)) {
            return Ok(Err(TurnStop::Ended(TurnOutcome::Done)));
        }
        let answers = calls.into_iter().zip(results);
        let answers = answers.map(|(call, result)| ToolAnswer {
            call_id: call.id,
            tool_id: call.tool_id,
            result,
        });
        Ok(Ok(answers.collect()))
    }

    /// Goes on with a step that another process left: what has ended stays,
    /// what was running then is lost, the rest is made. None: the turn goes on.
    pub(super) async fn finish_step(&self) -> StoreResult<Option<TurnStop>> {
        let mut calls = self.agent.store.calls_of(&self.id).await?;
        let last = calls.last().map(|call| call.message_id.clone());
        calls.retain(|call| Some(&call.message_id) == last.as_ref());
        let messages = prompt::history(&self.agent.store, &self.chat, &self.id).await?;
        let toolset = knowing(self.toolset().await?, &messages, &calls).await;
        Ok(self.run_calls(&toolset, calls).await?.err())
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
            CallStatus::Running => CallOutcome::refused(ToolError::lost()),
            CallStatus::Done | CallStatus::Failed | CallStatus::Cancelled | CallStatus::Lost => {
                return Ok(Some(record.result()));
            }
        };
        let CallOutcome::Ended(result, took) = made else {
            return Ok(None);
        };
        self.emit(vec![EventBody::CallFinished {
            call_id: record.id.clone(),
            status: CallStatus::of(&result),
            output: result.as_ref().ok().cloned(),
            error: result.as_ref().err().cloned(),
            duration_ms: took.as_millis() as u64,
        }])
        .await?;
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
        if self.slot.cancel.is_cancelled() {
            return Ok(CallOutcome::refused(ToolError::cancelled()));
        }
        let limit = self.agent.settings.calls_per_step;
        if index >= limit {
            return Ok(CallOutcome::refused(too_many(limit)));
        }
        let call = ToolCall {
            id: record.id.clone(),
            tool_id: record.tool_id.clone(),
            input: record.input.clone(),
        };
        // One that was asked about before a restart is looked up once it is allowed:
        // its source may take longer to come back than we did.
        if !record.is_paused() {
            let cancel = &self.slot.cancel;
            match toolset.prepare(&call, Asker::Model, cancel).await {
                Err(error) => return Ok(CallOutcome::refused(error)),
                Ok(PreparedCall::Ready(ready)) => return self.dispatch(ready, slots, record).await,
                Ok(PreparedCall::Ask(question)) if !self.can_ask => {
                    return Ok(CallOutcome::refused(
                        question.refuse(&advice(&self.door, &call)),
                    ));
                }
                Ok(PreparedCall::Ask(_)) => self.request_approval(&call.id).await?,
            }
        }
        match self.await_approval(&call.id).await {
            ApprovalOutcome::Allowed => {}
            ApprovalOutcome::Refused(error) => return Ok(CallOutcome::refused(error)),
            ApprovalOutcome::Parked => return Ok(CallOutcome::Parked),
        }
        // Hours may have passed: the tool and what is said about it are looked at anew.
        let toolset = self.toolset().await?;
        let cancel = &self.slot.cancel;
        match toolset.prepare(&call, Asker::Model, cancel).await {
            Err(error) => Ok(CallOutcome::refused(error)),
            Ok(PreparedCall::Ready(ready)) => self.dispatch(ready, slots, record).await,
            Ok(PreparedCall::Ask(question)) => {
                self.dispatch(question.approved(), slots, record).await
            }
        }
    }

    async fn dispatch(
        &self,
        ready: ReadyCall<'_>,
        slots: &Semaphore,
        call: &CallRecord,
    ) -> StoreResult<CallOutcome> {
        // It is closed never; without a slot there would be no bound, but still an answer.
        let _slot = slots.acquire().await.ok();
        if self.slot.cancel.is_cancelled() {
            return Ok(CallOutcome::refused(ToolError::cancelled()));
        }
        let started = Instant::now();
        self.emit(vec![EventBody::CallStarted {
            call_id: call.id.clone(),
        }])
        .await?;
        let client = self.call_client(&call.id);
        let context = CallContext {
            call_id: call.id.clone(),
            origin: CallOrigin {
                tool_id: Some(call.tool_id.clone()),
                chat_id: Some(self.chat.clone()),
                message_id: Some(call.message_id.clone()),
            },
            user: self.access.user.clone(),
            asker: Asker::Model,
            workspace: Some(self.agent.workspace(&self.chat)),
            cancel: self.slot.cancel.child_token(),
            client: client.0.clone(),
            timer: CallTimer::default(),
        };
        let result = ready.run(&context).await;
        let open = client.finish();
        if !open.is_empty() {
            self.emit(open).await?;
        }
        Ok(CallOutcome::Ended(result, started.elapsed()))
    }
}

impl CallOutcome {
    /// It never ran.
    fn refused(error: ToolError) -> Self {
        Self::Ended(Err(error), Duration::ZERO)
    }
}

/// The toolset for these calls, which knows what was said before them.
pub(super) async fn knowing(
    toolset: Toolset,
    messages: &[Message],
    calls: &[CallRecord],
) -> Toolset {
    let depends = |call: &CallRecord| toolset.needs_addresses(&call.tool_id, &call.input);
    if calls.iter().any(depends) {
        toolset.knowing(messages).await
    } else {
        toolset
    }
}

pub(super) fn request(toolset: &Toolset, message: &MessageId, call: &ToolCall) -> CallRecord {
    let tool = toolset.get(&call.tool_id);
    let name = tool.map_or(call.tool_id.as_str(), |tool| &tool.spec.display_name);
    let runs_on = tool.map_or(RunsOn::Server, |tool| tool.spec.runs_on);
    CallRecord::requested(call.clone(), message.clone(), name, runs_on)
}

/// Whether a successful call of it means that the work is done.
pub(crate) fn ends_turn(toolset: &Toolset, tool: &ToolId) -> bool {
    toolset
        .get(tool)
        .is_some_and(|tool| tool.spec.annotations.ends_turn)
}

/// The answer to calls beyond those that are made in one step.
pub(crate) fn too_many(limit: usize) -> ToolError {
    ToolError::denied(format!(
        "More than {limit} calls at once are not made. Ask for this one again."
    ))
}
