//! Chat completions: answers for clients that send their whole conversation and store it
//! themselves.
//!
//! The same loop as a turn's, with nothing stored, and nobody to ask for approval.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::join_all;
use tenon_domain::{
    DeltaKind, EntryPoint, ErrorKind, Message, Part, StopReason, ToolAccess, ToolAnswer, ToolCall,
    ToolError, ToolResult, ToolSpec, TurnOutcome, Usage,
};
use tenon_llm::ModelRequest;
use tenon_store::Result as StoreResult;
use tenon_tools::{
    Asker, CallContext, CallOrigin, CallTimer, NoClient, PreparedCall, RequestTools, Toolset,
};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::model_step::{ModelStep, StreamSink};
use crate::request::TurnModel;
use crate::turn::{INTERNAL_ERROR, advice, ends_turn, failed, said_nothing, too_many};
use crate::{Agent, Error, prompt};

/// A conversation somebody wants continued.
pub struct Completion {
    pub model: TurnModel,
    /// Instead of Tenon's own.
    pub system: Option<String>,
    pub messages: Vec<Message>,
    pub tools: CompletionTools,
    pub door: EntryPoint,
    /// What they may call, before the switches are asked.
    pub access: ToolAccess,
    pub workspace: PathBuf,
}

/// What the model may call.
pub enum CompletionTools {
    /// Tools that Tenon runs: what the access sees, and sources that are there for this answer alone.
    Ours(RequestTools),
    /// Tools that the client runs: a call of one ends the answer.
    Theirs(Vec<Arc<ToolSpec>>),
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
        let run = CompletionRun {
            agent: self.clone(),
            completion,
            cancel: cancel.clone(),
            parts,
        };
        self.running.tasks.spawn(run.run());
        Ok(CompletionStream {
            parts: receiver,
            _stop: cancel.drop_guard(),
        })
    }
}

struct CompletionRun {
    agent: Agent,
    completion: Completion,
    cancel: CancellationToken,
    parts: mpsc::UnboundedSender<CompletionPart>,
}

impl CompletionRun {
    async fn run(mut self) {
        let mut usage = Usage::default();
        let steps = AssertUnwindSafe(self.steps(&mut usage)).catch_unwind();
        let (outcome, stop) = match steps.await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                tracing::error!(%error, "what somebody may call cannot be read");
                (failed("Tenon cannot reach its database."), None)
            }
            Err(_panic) => (failed(INTERNAL_ERROR), None),
        };
        let end = CompletionPart::End {
            outcome,
            stop,
            usage,
        };
        // Nobody may be there any more.
        let _ = self.parts.send(end);
    }

    async fn steps(&mut self, usage: &mut Usage) -> StoreResult<(TurnOutcome, Option<StopReason>)> {
        let mut messages = std::mem::take(&mut self.completion.messages);
        let mut has_spoken = false;
        for step in 0..self.agent.settings.step_limit {
            let toolset = self.toolset().await?;
            let tools = match &self.completion.tools {
                CompletionTools::Ours(_) => toolset.specs(),
                CompletionTools::Theirs(tools) => tools.clone(),
            };
            let system = self.completion.system.clone();
            let request = ModelRequest {
                system: system.unwrap_or_else(|| prompt::SYSTEM.into()),
                messages: messages.clone(),
                tools,
            };
            let model_step = ModelStep {
                model: &*self.completion.model.provider,
                toolset: &toolset,
                cancel: &self.cancel,
                settings: &self.agent.settings,
                sink: &CompletionSink::new(&self.parts, has_spoken),
            };
            let spoken = model_step.run(request).await;
            let reply = spoken.reply;
            *usage += reply.usage;
            has_spoken |= !Part::words(&reply.parts).is_empty();
            if let Some(outcome) = spoken.cut {
                return Ok((outcome, reply.stop));
            }
            let calls: Vec<ToolCall> = reply
                .parts
                .iter()
                .filter_map(Part::as_call)
                .cloned()
                .collect();
            if calls.is_empty() && reply.stop != Some(StopReason::Paused) {
                let nothing = step == 0 && reply.parts.is_empty();
                let outcome = if nothing {
                    said_nothing(&self.completion.model)
                } else {
                    TurnOutcome::Done
                };
                return Ok((outcome, reply.stop));
            }
            if let (CompletionTools::Theirs(_), false) = (&self.completion.tools, calls.is_empty())
            {
                let _ = self.parts.send(CompletionPart::Calls(calls));
                return Ok((TurnOutcome::Done, Some(StopReason::ToolCalls)));
            }
            let depends = |call: &ToolCall| toolset.needs_addresses(&call.tool_id, &call.input);
            let toolset = if calls.iter().any(depends) {
                toolset.knowing(&messages).await
            } else {
                toolset
            };
            messages.push(Message::Assistant { parts: reply.parts });
            if !calls.is_empty() {
                let answers = self.make(&toolset, calls).await;
                if self.cancel.is_cancelled() {
                    return Ok((TurnOutcome::Stopped, None));
                }
                let mut made = answers.iter().filter(|answer| answer.result.is_ok());
                if made.any(|answer| ends_turn(&toolset, &answer.tool_id)) {
                    return Ok((TurnOutcome::Done, None));
                }
                messages.push(Message::Tools { answers });
            }
            if self.cancel.is_cancelled() {
                return Ok((TurnOutcome::Stopped, None));
            }
        }
        Ok((TurnOutcome::StepLimit, None))
    }

    async fn toolset(&self) -> StoreResult<Toolset> {
        let access = &self.completion.access;
        let access = self.agent.access_now(access, None, &self.cancel).await?;
        let registry = &self.agent.registry;
        Ok(match &self.completion.tools {
            CompletionTools::Ours(request_tools) => {
                registry.toolset(access).with_request_tools(request_tools)
            }
            CompletionTools::Theirs(_) => registry.toolset(access),
        })
    }

    async fn make(&self, toolset: &Toolset, calls: Vec<ToolCall>) -> Vec<ToolAnswer> {
        let slots = Semaphore::new(self.agent.settings.parallel_calls);
        let limit = self.agent.settings.calls_per_step;
        let making = calls.iter().enumerate().map(|(index, call)| {
            let slots = &slots;
            async move {
                // It is closed never; without a slot there would be no bound, but still an answer.
                let _slot = slots.acquire().await.ok();
                if index >= limit {
                    return Err(too_many(limit));
                }
                self.call(toolset, call).await
            }
        });
        let results = join_all(making).await;
        let answers = calls.into_iter().zip(results);
        let answers = answers.map(|(call, result)| ToolAnswer {
            call_id: call.id,
            tool_id: call.tool_id,
            result,
        });
        answers.collect()
    }

    async fn call(&self, toolset: &Toolset, call: &ToolCall) -> ToolResult {
        if self.cancel.is_cancelled() {
            return Err(ToolError::new(
                ErrorKind::Cancelled,
                "Nobody waits for it any more.",
            ));
        }
        let context = CallContext {
            call_id: call.id.clone(),
            origin: CallOrigin {
                tool_id: Some(call.tool_id.clone()),
                ..CallOrigin::default()
            },
            user: self.completion.access.user.clone(),
            asker: Asker::Model,
            workspace: Some(self.completion.workspace.clone()),
            cancel: self.cancel.child_token(),
            client: Arc::new(NoClient),
            timer: CallTimer::default(),
        };
        let prepared = toolset.prepare(call, Asker::Model, &context.cancel).await?;
        match prepared {
            PreparedCall::Ready(ready) => ready.run(&context).await,
            PreparedCall::Ask(question) => {
                Err(question.refuse(&advice(&self.completion.door, call)))
            }
        }
    }
}

/// Sends text to the client.
struct CompletionSink<'a> {
    parts: &'a mpsc::UnboundedSender<CompletionPart>,
    /// Text came before some calls: the next text is another paragraph.
    starts_paragraph: AtomicBool,
}

impl<'a> CompletionSink<'a> {
    fn new(parts: &'a mpsc::UnboundedSender<CompletionPart>, has_spoken: bool) -> Self {
        Self {
            parts,
            starts_paragraph: AtomicBool::new(has_spoken),
        }
    }
}

impl StreamSink for CompletionSink<'_> {
    fn grown(&self, _part: usize, kind: DeltaKind, text: String) {
        let part = match kind {
            DeltaKind::Text if self.starts_paragraph.swap(false, Ordering::Relaxed) => {
                CompletionPart::Text(format!("\n\n{text}"))
            }
            DeltaKind::Text => CompletionPart::Text(text),
            DeltaKind::Thinking => CompletionPart::Thinking(text),
            DeltaKind::Input { .. } => return,
        };
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

impl std::fmt::Debug for CompletionTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ours(request_tools) => f.debug_tuple("Ours").field(request_tools).finish(),
            Self::Theirs(tools) => f.debug_tuple("Theirs").field(&tools.len()).finish(),
        }
    }
}
