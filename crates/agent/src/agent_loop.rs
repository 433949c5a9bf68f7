//! The loop: a model step, the calls it asks for, their results, and again, until it asks for none.
//!
//! Turns of chats and completions of `/v1` run the same one. What is written down, and who is asked,
//! is up to the [`Recorder`]. A failed tool is a result; only a model that cannot be used fails a run.

mod calls;
mod repeats;

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Mutex;

use futures::FutureExt;
use tenon_domain::{
    ChatId, EntryPoint, Message, MessageId, Part, StopReason, ToolAccess, TurnOutcome, Usage,
};
use tenon_llm::GenerationOptions;
use tenon_store::{Result as StoreResult, fresh_id};
use tenon_tools::{RequestTools, Toolset};
use tokio_util::sync::CancellationToken;

use crate::context_window::ContextWindow;
use crate::lock::lock;
use crate::model_step::{ModelStep, StepResult};
use crate::recorder::Recorder;
use crate::request::ModelTools;
use crate::step_request::{StepKind, StepRequest};
use crate::{Agent, TurnFault};
use repeats::RepeatDetector;

/// One run of the loop.
pub(crate) struct AgentLoop<'a> {
    pub agent: &'a Agent,
    pub request: StepRequest<'a>,
    /// Options of the first step. A tool choice that requires a call applies to that step only.
    pub options: &'a GenerationOptions,
    /// The user's access before tool settings are applied.
    pub access: &'a ToolAccess,
    /// How its request came in: it runs while that counts.
    pub entry: &'a EntryPoint,
    /// The chat whose switches count, too.
    pub chat: Option<&'a ChatId>,
    pub workspace: PathBuf,
    pub step_limit: usize,
    /// Where steps can be dropped from what the model is told.
    pub context: Option<&'a ContextWindow>,
    pub cancel: &'a CancellationToken,
    pub usage: &'a UsageMeter,
    pub recorder: &'a dyn Recorder,
}

/// Why a run is over.
#[derive(Debug)]
pub(crate) enum LoopEnd {
    Ended {
        outcome: TurnOutcome,
        /// Why the model stopped, where that ended it.
        stop: Option<StopReason>,
    },
    /// The run waits for a person while Tenon shuts down; the next start resumes it.
    Parked,
}

/// Tokens used by a run so far.
#[derive(Debug, Default)]
pub(crate) struct UsageMeter(Mutex<Usage>);

impl AgentLoop<'_> {
    /// Continues the conversation with its step number `first_step`.
    pub(crate) async fn run(
        &self,
        mut messages: Vec<Message>,
        first_step: usize,
    ) -> StoreResult<LoopEnd> {
        let given = messages.len();
        let mut repeats = RepeatDetector::replay(&messages, self.request.model.provider.is_small());
        let mut kind = StepKind::Open;
        for step in first_step..self.step_limit {
            // A fresh snapshot each step: a tool that came or went meanwhile is seen at once.
            let toolset = self.toolset().await?;
            let (message, StepResult { mut reply, mut cut }) =
                self.run_model_step(&toolset, &messages, step, kind).await?;
            self.usage.add(reply.usage);
            if let Some(context) = self.context {
                context.add_usage(reply.usage);
            }
            if kind == StepKind::AnswerOnly {
                let is_call = |part: &mut Part| matches!(part, Part::Call { .. });
                let calls = reply.parts.extract_if(.., is_call).count();
                if cut.is_none() && (calls > 0 || reply.parts.is_empty()) {
                    let name = (&self.request.model.shown.name).into();
                    cut = Some(interrupted(TurnFault::Repeats { name }));
                }
            }

            calls::resolve(&toolset, &mut reply.parts);
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
                    let name = (&self.request.model.shown.name).into();
                    failed(TurnFault::Empty { name })
                } else {
                    TurnOutcome::Done
                };
                return Ok(LoopEnd::stopped(outcome, reply.stop));
            }

            let toolset = calls::with_known_addresses(toolset, &messages, &calls).await;
            let split = self.split(&toolset, calls).await?;
            let mut answers = match self.run_calls(&toolset, split.own).await? {
                ControlFlow::Continue(answers) => answers,
                ControlFlow::Break(end) => return Ok(end),
            };
            answers.extend(split.refused);
            if !split.handed_over.is_empty() {
                let steps = calls::steps_before(&messages[given..], &reply.parts, &answers);
                let Some(results) = recorder.hand_over(&split.handed_over, steps).await? else {
                    let stop = Some(StopReason::ToolCalls);
                    return Ok(LoopEnd::stopped(TurnOutcome::Done, stop));
                };
                answers.extend(results);
            }
            calls::sort_by_calls(&mut answers, &reply.parts);
            if repeats.observe(&reply.parts, &answers) {
                repeats::add_note(&mut answers);
                kind = StepKind::AnswerOnly;
            }
            let said = messages.len();
            messages.push(Message::Assistant { parts: reply.parts });
            if !answers.is_empty() {
                messages.push(Message::Tools { answers });
            }
            if let Some(context) = self.context {
                context.push(&messages[said..]);
            }
        }
        Ok(LoopEnd::stopped(TurnOutcome::StepLimit, None))
    }

    /// Works for this run, and cancels it once its user is disabled or its key revoked. Both
    /// futures are boxed: they are large.
    pub(crate) async fn while_authorized<T>(&self, work: Pin<Box<impl Future<Output = T>>>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = Box::pin(self.cancel_when_revoked()) => match never {},
        }
    }

    async fn cancel_when_revoked(&self) -> Infallible {
        let mut changes = self.agent.store.watch_accounts();
        // A store that cannot be read ends nothing; it is asked again at the next step.
        while self.is_authorized().await.unwrap_or(true) && changes.changed().await.is_ok() {}
        self.cancel.cancel();
        std::future::pending().await
    }

    async fn is_authorized(&self) -> StoreResult<bool> {
        let store = &self.agent.store;
        let is_active = store.is_active(&self.access.user).await?;
        Ok(match self.entry {
            EntryPoint::Key(key) => is_active && store.key_exists(key).await?,
            EntryPoint::Page | EntryPoint::Shell => is_active,
        })
    }

    /// What the user may call now, as the switches stand.
    async fn toolset(&self) -> StoreResult<Toolset> {
        if !self.is_authorized().await? {
            self.cancel.cancel();
        }
        let none = RequestTools::default();
        let request_tools = match self.request.tools {
            ModelTools::Server(request_tools) => request_tools,
            ModelTools::Client(_) => &none,
        };
        let profile = self.request.profile;
        self.agent
            .toolset(self.access, profile, self.chat, request_tools)
            .await
    }

    async fn run_model_step(
        &self,
        toolset: &Toolset,
        messages: &[Message],
        step: usize,
        kind: StepKind,
    ) -> StoreResult<(MessageId, StepResult)> {
        let message = MessageId(fresh_id());
        self.recorder.message_started(&message).await?;
        let options = if step == 0 {
            self.options.clone()
        } else {
            self.options.after_first_step()
        };
        let step = ModelStep {
            model: &*self.request.model.provider,
            toolset,
            cancel: self.cancel,
            settings: &self.agent.settings,
            message: &message,
            recorder: self.recorder,
        };
        let told = match self.context {
            Some(context) => context.visible(messages),
            None => messages.to_vec(),
        };
        self.request.prepare(toolset, messages, kind).await;
        let request = self.request.build(toolset, messages, told, (kind, options));
        let result = step.run(request);
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

pub(crate) fn interrupted(fault: TurnFault) -> TurnOutcome {
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
        *lock(&self.0)
    }

    fn add(&self, usage: Usage) {
        *lock(&self.0) += usage;
    }
}
