//! An answer without a chat: for clients that bring their whole conversation
//! along and keep it themselves.
//!
//! The same loop as a turn's, with nothing on record: the model speaks, tools
//! answer, until nothing is left to ask. Nobody can be asked on the way.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::future::join_all;
use tenon_domain::{
    Access, DeltaKind, Door, ErrorKind, Message, Part, StopReason, ToolAnswer, ToolCall, ToolError,
    ToolResult, ToolSpec, TurnOutcome, Usage,
};
use tenon_llm::Request;
use tenon_store::Result as StoreResult;
use tenon_tools::{Asker, CallContext, Errand, Guests, Nobody, Prepared, Pulse, Toolset};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::request::Model;
use crate::speak::{Listener, Speech};
use crate::turn::{MISTAKE, advice, ends_turn, failed, said_nothing, too_many};
use crate::{Agent, Error, prompt};

/// A conversation somebody wants continued.
pub struct Completion {
    pub model: Model,
    /// Instead of Tenon's own.
    pub system: Option<String>,
    pub messages: Vec<Message>,
    pub tools: Offered,
    pub door: Door,
    /// What they may call, before the switches are asked.
    pub access: Access,
    pub workspace: PathBuf,
}

/// What the model may call.
pub enum Offered {
    /// Tools that Tenon runs: what the access sees, and sources that are there for this answer alone.
    Ours(Guests),
    /// Tools that the client runs: a call of one ends the answer.
    Theirs(Vec<Arc<ToolSpec>>),
}

/// A piece of an answer, as it comes.
#[derive(Debug)]
pub enum Piece {
    Text(String),
    Thinking(String),
    /// Calls that the client has to make.
    Calls(Vec<ToolCall>),
    /// There is no piece after this.
    End {
        outcome: TurnOutcome,
        /// Why the model stopped, where it did.
        stop: Option<StopReason>,
        usage: Usage,
    },
}

/// An answer that is being made. Dropped, it is stopped.
#[derive(Debug)]
pub struct Completing {
    /// What is not read yet is bounded by what a model may say.
    pieces: mpsc::UnboundedReceiver<Piece>,
    _stop: DropGuard,
}

impl Completing {
    /// None: that was all.
    pub async fn next(&mut self) -> Option<Piece> {
        self.pieces.recv().await
    }
}

impl Agent {
    pub fn complete(&self, completion: Completion) -> Result<Completing, Error> {
        self.settings.free_space.check()?;
        let cancel = self.running.begin()?;
        let (pieces, receiver) = mpsc::unbounded_channel();
        let run = Run {
            agent: self.clone(),
            completion,
            cancel: cancel.clone(),
            pieces,
        };
        self.running.tasks.spawn(run.run());
        Ok(Completing {
            pieces: receiver,
            _stop: cancel.drop_guard(),
        })
    }
}

struct Run {
    agent: Agent,
    completion: Completion,
    cancel: CancellationToken,
    pieces: mpsc::UnboundedSender<Piece>,
}

impl Run {
    async fn run(mut self) {
        let mut usage = Usage::default();
        let steps = AssertUnwindSafe(self.steps(&mut usage)).catch_unwind();
        let (outcome, stop) = match steps.await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                tracing::error!(%error, "what somebody may call cannot be read");
                (failed("Tenon cannot reach its database."), None)
            }
            Err(_panic) => (failed(MISTAKE), None),
        };
        let end = Piece::End {
            outcome,
            stop,
            usage,
        };
        // Nobody may be there any more.
        let _ = self.pieces.send(end);
    }

    async fn steps(&mut self, usage: &mut Usage) -> StoreResult<(TurnOutcome, Option<StopReason>)> {
        let mut messages = std::mem::take(&mut self.completion.messages);
        let mut has_spoken = false;
        for step in 0..self.agent.settings.step_limit {
            let toolset = self.toolset().await?;
            let tools = match &self.completion.tools {
                Offered::Ours(_) => toolset.specs(),
                Offered::Theirs(tools) => tools.clone(),
            };
            let system = self.completion.system.clone();
            let request = Request {
                system: system.unwrap_or_else(|| prompt::SYSTEM.into()),
                messages: messages.clone(),
                tools,
            };
            let speech = Speech {
                model: &*self.completion.model.provider,
                toolset: &toolset,
                cancel: &self.cancel,
                settings: &self.agent.settings,
                listener: &Telling::new(&self.pieces, has_spoken),
            };
            let spoken = speech.run(request).await;
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
                let outcome = match nothing {
                    true => said_nothing(&self.completion.model),
                    false => TurnOutcome::Done,
                };
                return Ok((outcome, reply.stop));
            }
            if let (Offered::Theirs(_), false) = (&self.completion.tools, calls.is_empty()) {
                let _ = self.pieces.send(Piece::Calls(calls));
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
            Offered::Ours(guests) => registry.toolset(access).with(guests),
            Offered::Theirs(_) => registry.toolset(access),
        })
    }

    async fn make(&self, toolset: &Toolset, calls: Vec<ToolCall>) -> Vec<ToolAnswer> {
        let slots = Semaphore::new(self.agent.settings.parallel_calls);
        let limit = self.agent.settings.calls_per_step;
        let making = calls.iter().enumerate().map(|(place, call)| {
            let slots = &slots;
            async move {
                // It is closed never; without a slot there would be no bound, but still an answer.
                let _slot = slots.acquire().await.ok();
                match place < limit {
                    true => self.call(toolset, call).await,
                    false => Err(too_many(limit)),
                }
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
            errand: Errand {
                tool_id: Some(call.tool_id.clone()),
                ..Errand::default()
            },
            user: self.completion.access.user.clone(),
            asker: Asker::Model,
            workspace: Some(self.completion.workspace.clone()),
            cancel: self.cancel.child_token(),
            attendant: Arc::new(Nobody),
            pulse: Pulse::default(),
        };
        let prepared = toolset.prepare(call, Asker::Model, &context.cancel).await?;
        match prepared {
            Prepared::Ready(ready) => ready.run(&context).await,
            Prepared::Ask(question) => {
                Err(question.nobody_to_ask(&advice(&self.completion.door, call)))
            }
        }
    }
}

/// Tells the client what it can be told.
struct Telling<'a> {
    pieces: &'a mpsc::UnboundedSender<Piece>,
    /// Something was said before some tools were called: this is another paragraph.
    goes_on: AtomicBool,
}

impl<'a> Telling<'a> {
    fn new(pieces: &'a mpsc::UnboundedSender<Piece>, has_spoken: bool) -> Self {
        Self {
            pieces,
            goes_on: AtomicBool::new(has_spoken),
        }
    }
}

impl Listener for Telling<'_> {
    fn grown(&self, _part: usize, kind: DeltaKind, text: String) {
        let piece = match kind {
            DeltaKind::Text if self.goes_on.swap(false, Ordering::Relaxed) => {
                Piece::Text(format!("\n\n{text}"))
            }
            DeltaKind::Text => Piece::Text(text),
            DeltaKind::Thinking => Piece::Thinking(text),
            DeltaKind::Input { .. } => return,
        };
        let _ = self.pieces.send(piece);
    }
}

impl std::fmt::Debug for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Completion")
            .field("user", &self.access.user)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Offered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ours(guests) => f.debug_tuple("Ours").field(guests).finish(),
            Self::Theirs(tools) => f.debug_tuple("Theirs").field(&tools.len()).finish(),
        }
    }
}
