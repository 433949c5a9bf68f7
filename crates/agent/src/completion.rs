//! Chat completions: answers for clients that send their whole conversation and store it
//! themselves.
//!
//! The same loop as a turn's, with nothing stored, and nobody to ask for approval.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{
    CallInterface, CallRecord, CallStatus, DeltaKind, EntryPoint, Message, MessageId, Part,
    ToolAccess, ToolAnswer, ToolError, ToolResult, TurnOutcome, UserId,
};
use tenon_llm::GenerationOptions;
use tenon_net::TraceContext;
use tenon_store::{DirectCall, Result as StoreResult, Store};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::agent_loop::{AgentLoop, LoopEnd, UsageMeter, catch_panic, failed, interrupted};
use crate::client_stream::{ClientStream, CompletionStream};
use crate::metrics::RunKind;
use crate::recorder::Recorder;
use crate::request::{ModelTools, TurnModel, TurnProfile};
use crate::step_cache::StepCache;
use crate::step_request::StepRequest;
use crate::step_trace::{ModelCaller, StepTrace};
use crate::{Agent, Error, TurnFault, turn_span};

/// A conversation somebody wants continued.
pub struct Completion {
    pub model: TurnModel,
    pub profile: TurnProfile,
    /// Instead of Tenon's own.
    pub system: Option<String>,
    pub messages: Vec<Message>,
    pub options: GenerationOptions,
    pub tools: ModelTools,
    /// The caller's access before settings are applied. A completion cannot ask for approvals.
    pub access: ToolAccess,
    pub workspace: PathBuf,
    /// Where its calls came in, for the audit log.
    pub entry: EntryPoint,
    /// The client's address, for the audit log.
    pub address: String,
}

impl Agent {
    pub fn complete(&self, completion: Completion) -> Result<CompletionStream, Error> {
        self.settings.free_space.check()?;
        let cancel = self.running.begin()?;
        let stream = ClientStream::default();
        let answer = stream.open();
        let agent = self.clone();
        let trace = TraceContext::current();
        let span = turn_span::open(trace.as_ref(), &completion.model, &completion.profile, None);
        let run = agent.run_completion(completion, cancel.clone(), stream);
        self.running.tasks.spawn(run.instrument(span));
        Ok(answer.stopping(cancel.drop_guard()))
    }

    async fn run_completion(
        self,
        completion: Completion,
        cancel: CancellationToken,
        stream: ClientStream,
    ) {
        let recorder = CompletionRecorder {
            stream,
            steps: self.step_cache.clone(),
            store: self.store.clone(),
            user: completion.access.user.clone(),
            model: completion.model.clone(),
            entry: completion.entry.clone(),
            address: completion.address,
        };
        let usage = UsageMeter::default();
        let run = AgentLoop {
            agent: &self,
            request: StepRequest {
                model: &completion.model,
                profile: &completion.profile,
                system: completion.system.as_deref(),
                language: None,
                tools: &completion.tools,
            },
            options: &completion.options,
            access: &completion.access,
            entry: &completion.entry,
            chat: None,
            workspace: completion.workspace,
            step_limit: self.settings.step_limit,
            context: None,
            cancel: &cancel,
            usage: &usage,
            recorder: &recorder,
        };
        let messages = self.step_cache.restore(&recorder.user, completion.messages);
        let steps = run.while_authorized(Box::pin(run.run(messages, 0)));
        let (outcome, stop) = match catch_panic(steps).await {
            Ok(LoopEnd::Ended {
                outcome: TurnOutcome::Stopped,
                stop,
            }) if self.running.is_stopping() => {
                let fault = TurnFault::server_stopped(self.store.has_leases());
                (interrupted(fault), stop)
            }
            Ok(LoopEnd::Ended { outcome, stop }) => (outcome, stop),
            // Unreachable: a completion never waits for a person, and could not be resumed.
            Ok(LoopEnd::Parked) => (TurnOutcome::Stopped, None),
            Err(error) => {
                tracing::error!(%error, "what somebody may call cannot be read");
                (failed(TurnFault::DatabaseUnreachable), None)
            }
        };
        let (name, usage) = (&completion.model.shown.name, usage.total());
        turn_span::finish(&Span::current(), &outcome, &usage);
        let metrics = &self.metrics;
        metrics.ended(RunKind::Completion, &outcome, name, usage);
        recorder.stream.end(outcome, stop, usage);
    }
}

/// Streams to the client, and stores nothing but who called what, and what it took.
struct CompletionRecorder {
    stream: ClientStream,
    steps: StepCache,
    store: Store,
    user: UserId,
    model: TurnModel,
    entry: EntryPoint,
    address: String,
}

#[async_trait]
impl Recorder for CompletionRecorder {
    fn model_called(&self, _message: &MessageId, step: StepTrace) {
        let caller = ModelCaller {
            user: &self.user,
            turn: None,
            message: None,
            model: &self.model,
            // The conversation is its client's.
            keeps_requests: false,
        };
        step.store(&self.store, caller);
    }

    fn delta(&self, _message: &MessageId, _part: usize, kind: DeltaKind, text: String) {
        self.stream.delta(kind, text);
    }

    async fn message_finished(
        &self,
        _message: &MessageId,
        parts: &[Part],
        _calls: &[CallRecord],
    ) -> StoreResult<()> {
        self.stream.message_finished(parts);
        Ok(())
    }

    async fn hand_over(
        &self,
        calls: &[CallRecord],
        steps: Vec<Message>,
    ) -> StoreResult<Option<Vec<ToolAnswer>>> {
        if let Some(first) = calls.first() {
            self.steps.store(&self.user, &first.id, steps);
        }
        self.stream
            .calls(calls.iter().map(CallRecord::request).collect());
        Ok(None)
    }

    async fn call_finished(
        &self,
        call: &CallRecord,
        result: &ToolResult,
        took: Duration,
    ) -> StoreResult<()> {
        // Input and output of the call are only in the conversation, which the client keeps.
        self.store.audit_call_behind(&DirectCall {
            user: &self.user,
            entry: &self.entry,
            interface: CallInterface::V1,
            client: None,
            address: &self.address,
            id: &call.id,
            tool: &call.tool_id,
            display_name: &call.display_name,
            runs_on: call.runs_on,
            device: None,
            status: CallStatus::of(result),
            error: result.as_ref().err().map(ToolError::error_type),
            duration_ms: took.as_millis() as u64,
        });
        Ok(())
    }
}

impl std::fmt::Debug for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Completion")
            .field("user", &self.access.user)
            .finish_non_exhaustive()
    }
}
