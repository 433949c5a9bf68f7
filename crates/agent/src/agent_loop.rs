//! The loop: a model step, the calls it asks for, their results, and again, until it asks for none.
//!
//! Turns of chats and completions of `/v1` run the same one. What is written down, and who is asked,
//! is up to the [`Recorder`]. A failed tool is a result; only a model that cannot be used fails a run.

mod calls;
mod repeats;

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use tenon_domain::{
    ChatId, Message, MessageId, Part, StopReason, ToolAccess, ToolSpec, TurnOutcome, Usage,
};
use tenon_llm::ModelRequest;
use tenon_store::{Result as StoreResult, fresh_id};
use tenon_tools::{OfferSize, RequestTools, Toolset};
use tokio_util::sync::CancellationToken;

use crate::model_step::{ModelStep, StepResult};
use crate::recorder::Recorder;
use crate::request::TurnModel;
use crate::{Agent, TurnFault, prompt};
use repeats::RepeatDetector;

/// One run of the loop.
pub(crate) struct AgentLoop<'a> {
    pub agent: &'a Agent,
    pub model: &'a TurnModel,
    /// None: as the tools call for.
    pub system: Option<&'a str>,
    pub tools: ModelTools,
    /// What the user may call, before the switches are asked.
    pub access: &'a ToolAccess,
    /// The chat whose switches count, too.
    pub chat: Option<&'a ChatId>,
    pub workspace: PathBuf,
    pub cancel: &'a CancellationToken,
    pub usage: &'a UsageMeter,
    pub recorder: &'a dyn Recorder,
}

/// What the model may call.
#[derive(Debug)]
pub enum ModelTools {
    /// Tools that Tenon runs: what the access sees, and sources that are there for this answer alone.
    Server(RequestTools),
    /// Tools that the client runs: a call of one ends the answer.
    Client(Vec<Arc<ToolSpec>>),
}

/// What a model is asked for in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    /// Whatever it wants: words, calls.
    Open,
    /// Words alone: its calls only repeated themselves.
    AnswerOnly,
}

/// Why a run is over.
#[derive(Debug)]
pub(crate) enum LoopEnd {
    Ended {
        outcome: TurnOutcome,
        /// Why the model stopped, where that ended it.
        stop: Option<StopReason>,
    },
    /// It waits for a person, and Tenon is shutting down: the next start goes on with it.
    Parked,
}

/// What a run took so far.
#[derive(Debug, Default)]
pub(crate) struct UsageMeter(Mutex<Usage>);

impl AgentLoop<'_> {
    /// Continues the conversation with its step number `first_step`.
    pub(crate) async fn run(
        &self,
        mut messages: Vec<Message>,
        first_step: usize,
    ) -> StoreResult<LoopEnd> {
        let mut repeats = RepeatDetector::replay(&messages, self.model.provider.is_small());
        let mut kind = StepKind::Open;
        for step in first_step..self.agent.settings.step_limit {
            // A fresh snapshot each step: a tool that came or went meanwhile is seen at once.
            let toolset = self.toolset().await?;
            let (message, StepResult { mut reply, mut cut }) =
                self.run_model_step(&toolset, &messages, kind).await?;
            self.usage.add(reply.usage);
            if kind == StepKind::AnswerOnly {
                let is_call = |part: &mut Part| matches!(part, Part::Call { .. });
                let calls = reply.parts.extract_if(.., is_call).count();
                if cut.is_none() && (calls > 0 || reply.parts.is_empty()) {
                    let name = (&self.model.shown.name).into();
                    cut = Some(interrupted(TurnFault::Repeats { name }));
                }
            }

            let calls = calls::requested(&toolset, &message, &reply.parts);
            let recorder = self.recorder;
            recorder
                .message_finished(&message, &reply.parts, &calls)
                .await?;
            if let Some(outcome) = cut {
                return Ok(LoopEnd::stopped(outcome, reply.stop));
            }
            if calls.is_empty() && reply.stop != Some(StopReason::Paused) {
                let outcome = if step == 0 && reply.parts.is_empty() {
                    let name = (&self.model.shown.name).into();
                    failed(TurnFault::Empty { name })
                } else {
                    TurnOutcome::Done
                };
                return Ok(LoopEnd::stopped(outcome, reply.stop));
            }
            if matches!(self.tools, ModelTools::Client(_)) && !calls.is_empty() {
                let stop = Some(StopReason::ToolCalls);
                return Ok(LoopEnd::stopped(TurnOutcome::Done, stop));
            }

            let toolset = calls::with_known_addresses(toolset, &messages, &calls).await;
            let mut answers = match self.run_calls(&toolset, calls).await? {
                ControlFlow::Continue(answers) => answers,
                ControlFlow::Break(end) => return Ok(end),
            };
            if repeats.observe(&reply.parts, &answers) {
                repeats::add_note(&mut answers);
                kind = StepKind::AnswerOnly;
            }
            messages.push(Message::Assistant { parts: reply.parts });
            if !answers.is_empty() {
                messages.push(Message::Tools { answers });
            }
        }
        Ok(LoopEnd::stopped(TurnOutcome::StepLimit, None))
    }

    /// What the user may call now, as the switches stand. One who was disabled meanwhile, in
    /// another process maybe, is stopped by asking.
    async fn toolset(&self) -> StoreResult<Toolset> {
        let store = &self.agent.store;
        if !store.is_active(&self.access.user).await? {
            self.cancel.cancel();
        }
        let settings = store.tool_settings(&self.access.user, None, self.chat);
        let access = self.access.clone().with_settings(settings.await?);
        let toolset = self.agent.registry.toolset(access);
        Ok(match &self.tools {
            ModelTools::Server(request_tools) => toolset.with_request_tools(request_tools),
            ModelTools::Client(_) => toolset,
        })
    }

    async fn run_model_step(
        &self,
        toolset: &Toolset,
        messages: &[Message],
        kind: StepKind,
    ) -> StoreResult<(MessageId, StepResult)> {
        let message = MessageId(fresh_id());
        self.recorder.message_started(&message).await?;
        let step = ModelStep {
            model: &*self.model.provider,
            toolset,
            cancel: self.cancel,
            settings: &self.agent.settings,
            message: &message,
            recorder: self.recorder,
        };
        let provider = &self.model.provider;
        let tools = match (&self.tools, kind) {
            (_, StepKind::AnswerOnly) => Vec::new(),
            (ModelTools::Server(_), StepKind::Open) if provider.is_small() => {
                toolset.offer(messages, OfferSize::Compact)
            }
            (ModelTools::Server(_), StepKind::Open) => toolset.offer(messages, OfferSize::Full),
            (ModelTools::Client(tools), StepKind::Open) => tools.clone(),
        };
        let system = match kind {
            StepKind::AnswerOnly => prompt::ANSWER,
            StepKind::Open if tools.is_empty() || !provider.offers_tools() => prompt::WITHOUT_TOOLS,
            StepKind::Open if provider.is_small() => prompt::SMALL,
            StepKind::Open => prompt::SYSTEM,
        };
        let result = step.run(ModelRequest {
            system: self.system.unwrap_or(system).into(),
            messages: messages.to_vec(),
            tools,
        });
        let result = result.await;
        Ok((message, result))
    }
}

/// A run that panics has failed: whoever waits for it is told so.
pub(crate) async fn catch_panic(
    run: impl Future<Output = StoreResult<LoopEnd>>,
) -> StoreResult<LoopEnd> {
    let run = AssertUnwindSafe(run).catch_unwind().await;
    run.unwrap_or_else(|_panic| Ok(LoopEnd::stopped(failed(TurnFault::Internal), None)))
}

pub(crate) fn failed(fault: TurnFault) -> TurnOutcome {
    TurnOutcome::Failed(fault.into())
}

fn interrupted(fault: TurnFault) -> TurnOutcome {
    TurnOutcome::Interrupted(fault.into())
}

impl LoopEnd {
    fn stopped(outcome: TurnOutcome, stop: Option<StopReason>) -> Self {
        Self::Ended { outcome, stop }
    }
}

impl UsageMeter {
    pub(crate) fn new(usage: Usage) -> Self {
        Self(Mutex::new(usage))
    }

    pub(crate) fn total(&self) -> Usage {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, usage: Usage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += usage;
    }
}
