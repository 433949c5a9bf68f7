//! Chat completions: answers for clients that send their whole conversation and store it
//! themselves.
//!
//! The same loop as a turn's, with nothing stored, and nobody to ask for approval.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{
    CallRecord, CallStatus, DeltaKind, EntryPoint, Message, MessageId, Part, StopReason,
    ToolAccess, ToolCall, ToolResult, TurnOutcome, Usage, UserId,
};
use tenon_llm::GenerationOptions;
use tenon_store::{Result as StoreResult, Store};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::agent_loop::{AgentLoop, LoopEnd, ModelTools, UsageMeter, catch_panic, failed};
use crate::recorder::Recorder;
use crate::request::TurnModel;
use crate::{Agent, Error, TurnFault};

/// A conversation somebody wants continued.
pub struct Completion {
    pub model: TurnModel,
    /// Instead of Tenon's own.
    pub system: Option<String>,
    pub messages: Vec<Message>,
    pub options: GenerationOptions,
    pub tools: ModelTools,
    /// What may be called and by whom, before the settings are read. Nobody can be asked here.
    pub access: ToolAccess,
    pub workspace: PathBuf,
    /// Where its calls came in, for the audit log.
    pub entry: EntryPoint,
    /// The client's address, for the audit log.
    pub address: String,
}

/// A part of an answer, as it comes.
#[derive(Debug)]
pub enum CompletionPart {
    Text(String),
    Thinking(String),
    /// Calls that the client has to make.
    Calls(Vec<ToolCall>),
    /// There is no part after this.
    End {
        outcome: TurnOutcome,
        /// Why the model stopped, where it did.
        stop: Option<StopReason>,
        usage: Usage,
    },
}

/// An answer that is being made. Dropped, it is stopped.
#[derive(Debug)]
pub struct CompletionStream {
    /// What is not read yet is bounded by what a model may say.
    parts: mpsc::UnboundedReceiver<CompletionPart>,
    _stop: DropGuard,
}

impl CompletionStream {
    /// None: that was all.
    pub async fn next(&mut self) -> Option<CompletionPart> {
        self.parts.recv().await
    }
}

impl Agent {
    pub fn complete(&self, completion: Completion) -> Result<CompletionStream, Error> {
        self.settings.free_space.check()?;
        let cancel = self.running.begin()?;
        let (parts, receiver) = mpsc::unbounded_channel();
        let agent = self.clone();
        let run = agent.run_completion(completion, cancel.clone(), parts);
        self.running.tasks.spawn(run);
        Ok(CompletionStream {
            parts: receiver,
            _stop: cancel.drop_guard(),
        })
    }

    async fn run_completion(
        self,
        completion: Completion,
        cancel: CancellationToken,
        parts: mpsc::UnboundedSender<CompletionPart>,
    ) {
        let recorder = CompletionRecorder {
            parts,
            hands_over_calls: matches!(completion.tools, ModelTools::Client(_)),
            starts_paragraph: AtomicBool::new(false),
            store: self.store.clone(),
            user: completion.access.user.clone(),
            entry: completion.entry.clone(),
            address: completion.address,
        };
        let usage = UsageMeter::default();
        let run = AgentLoop {
            agent: &self,
            model: &completion.model,
            system: completion.system.as_deref(),
            language: None,
            options: &completion.options,
            tools: completion.tools,
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
        let steps = run.while_authorized(Box::pin(run.run(completion.messages, 0)));
        let (outcome, stop) = match catch_panic(steps).await {
            Ok(LoopEnd::Ended { outcome, stop }) => (outcome, stop),
            // It asks nobody, so this cannot be; and nothing of it could be gone on with.
            Ok(LoopEnd::Parked) => (TurnOutcome::Stopped, None),
            Err(error) => {
                tracing::error!(%error, "what somebody may call cannot be read");
                (failed(TurnFault::DatabaseUnreachable), None)
            }
        };
        recorder.send(CompletionPart::End {
            outcome,
            stop,
            usage: usage.total(),
        });
    }
}

/// Streams to the client, and stores nothing but who called what.
struct CompletionRecorder {
    parts: mpsc::UnboundedSender<CompletionPart>,
    /// The client makes the calls.
    hands_over_calls: bool,
    /// Text came before some calls: the next text is another paragraph.
    starts_paragraph: AtomicBool,
    store: Store,
    user: UserId,
    entry: EntryPoint,
    address: String,
}

#[async_trait]
impl Recorder for CompletionRecorder {
    fn delta(&self, _message: &MessageId, _part: usize, kind: DeltaKind, text: String) {
        self.send(match kind {
            DeltaKind::Text if self.starts_paragraph.swap(false, Ordering::Relaxed) => {
                CompletionPart::Text(format!("\n\n{text}"))
            }
            DeltaKind::Text => CompletionPart::Text(text),
            DeltaKind::Thinking => CompletionPart::Thinking(text),
            DeltaKind::Input { .. } => return,
        });
    }

    async fn message_finished(
        &self,
        _message: &MessageId,
        parts: &[Part],
        _calls: &[CallRecord],
    ) -> StoreResult<()> {
        if !Part::words(parts).is_empty() {
            self.starts_paragraph.store(true, Ordering::Relaxed);
        }
        let calls: Vec<ToolCall> = parts.iter().filter_map(Part::as_call).cloned().collect();
        if self.hands_over_calls && !calls.is_empty() {
            self.send(CompletionPart::Calls(calls));
        }
        Ok(())
    }

    async fn call_finished(
        &self,
        call: &CallRecord,
        result: &ToolResult,
        _took: Duration,
    ) -> StoreResult<()> {
        let origin = (&self.user, &self.entry, self.address.as_str());
        let status = CallStatus::of(result);
        self.store.audit_call_behind(origin, call, status);
        Ok(())
    }
}

impl CompletionRecorder {
    fn send(&self, part: CompletionPart) {
        // Nobody may be there any more.
        let _ = self.parts.send(part);
    }
}

impl std::fmt::Debug for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Completion")
            .field("user", &self.access.user)
            .finish_non_exhaustive()
    }
}
