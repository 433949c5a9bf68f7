//! A turn of a chat: one user message and all model steps and tool calls that follow, each recorded
//! in the chat's feed before it goes on.

mod approval;
mod call_client;
mod client;
mod progress_throttle;
mod recorder;
mod start;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tenon_domain::{
    ChatId, EntryPoint, EventBody, MessageId, MessageRecord, OmittedTool, PageLanguage, Part, Role,
    ToolAccess, TurnId, TurnOutcome, Usage,
};
use tenon_net::TraceContext;
use tenon_store::{Error as StoreError, Result as StoreResult, now};
use tracing::Instrument;

use crate::agent_loop::{AgentLoop, LoopEnd, UsageMeter, catch_panic, failed, interrupted};
use crate::metrics::RunKind;
use crate::prompt::PictureData;
use crate::request::{TurnModel, TurnOverrides, TurnProfile};
use crate::running_turns::TurnSlot;
use crate::step_request::StepRequest;
use crate::turn_end::TurnEnd;
use crate::{Agent, TurnFault, prompt, turn_span};
pub use client::ClientResults;
pub(crate) use client::{ClientSession, ClientSessions};

/// How soon answers stored by another process, or its end, are noticed while waiting for a person.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A turn that is running.
pub(crate) struct Turn {
    pub(crate) agent: Agent,
    pub(crate) id: TurnId,
    pub(crate) chat: ChatId,
    /// What the user may call, before the switches are asked.
    pub(crate) access: ToolAccess,
    /// How it came in: the page, a key or a shell.
    pub(crate) door: EntryPoint,
    /// Whether somebody is there who can fill in a form.
    pub(crate) can_ask: bool,
    pub(crate) model: TurnModel,
    /// Of the page that asked; not on record, so a resumed turn has none.
    pub(crate) language: Option<PageLanguage>,
    /// The omitted tools that were reported last: once is enough.
    pub(crate) omitted_tools: Mutex<Vec<OmittedTool>>,
    /// The API client that follows it, where one does.
    pub(crate) client: Option<Arc<ClientSession>>,
    pub(crate) usage: UsageMeter,
    pub(crate) profile: TurnProfile,
    pub(crate) overrides: TurnOverrides,
    /// Where it was asked for. Not on record, so a resumed turn has none.
    pub(crate) trace: Option<TraceContext>,
    pub(crate) slot: TurnSlot,
}

/// Where a turn begins to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnStart {
    /// With its message.
    New,
    /// In the middle of a step, where another process left it.
    Resumed,
}

impl Turn {
    pub(crate) async fn run(self, begin: TurnStart) {
        let started = Instant::now();
        let (trace, turn) = (self.trace.as_ref(), (&self.chat, &self.id));
        let span = turn_span::open(trace, &self.model, &self.profile, Some(turn));
        span.in_scope(
            || tracing::info!(chat = %self.chat, turn = %self.id, ?begin, "turn started"),
        );
        let mut stop = None;
        let outcome = match catch_panic(self.steps(begin))
            .instrument(span.clone())
            .await
        {
            Ok(LoopEnd::Ended {
                outcome,
                stop: by_model,
            }) => {
                stop = by_model;
                if outcome == TurnOutcome::Stopped && self.slot.cut_off.is_cancelled() {
                    interrupted(TurnFault::server_stopped(self.agent.store.has_leases()))
                } else {
                    outcome
                }
            }
            Ok(LoopEnd::Parked) => {
                self.agent.clients.remove(&self.chat);
                tracing::info!(chat = %self.chat, turn = %self.id, "turn waits for a person; the next start goes on with it");
                return;
            }
            Err(error) => {
                tracing::error!(%error, chat = %self.chat, turn = %self.id, "a turn could not be written down");
                failed(match error {
                    StoreError::DiskFull(_) => TurnFault::DiskFull,
                    StoreError::NotOwner | StoreError::LeaseLost => TurnFault::ServerLost,
                    _ => TurnFault::NotStored,
                })
            }
        };
        span.in_scope(|| {
            tracing::info!(chat = %self.chat, turn = %self.id, took = ?started.elapsed(), ?outcome, "turn finished");
        });
        let usage = self.usage.total();
        turn_span::finish(&span, &outcome, &usage);
        // Free the slot first: a client that sees the end may send the next message at once.
        let Self {
            agent,
            id,
            chat,
            slot,
            model,
            client,
            ..
        } = self;
        agent.clients.remove(&chat);
        drop(slot);
        let prices = model.prices.as_ref().filter(|_| usage != Usage::default());
        let is_done = outcome == TurnOutcome::Done;
        let name = &model.shown.name;
        agent.metrics.ended(RunKind::Turn, &outcome, name, usage);
        let end = TurnEnd {
            outcome: outcome.clone(),
            usage,
            cost: prices.map(|prices| prices.cost(&usage)),
        };
        agent.end(&chat, &id, end).await;
        if let Some(client) = client {
            client.stream.end(outcome, stop, usage);
        }
        if is_done {
            let title_span = turn_span::open_title(&span);
            drop(span);
            agent
                .set_title(&chat, &id, &model)
                .instrument(title_span)
                .await;
        }
    }

    async fn steps(&self, begin: TurnStart) -> StoreResult<LoopEnd> {
        let (overrides, settings) = (&self.overrides, &self.agent.settings);
        let run = AgentLoop {
            agent: &self.agent,
            request: StepRequest {
                model: &self.model,
                profile: &self.profile,
                system: overrides.system.as_deref(),
                language: self.language,
                tools: &overrides.tools,
            },
            options: &overrides.options,
            access: &self.access,
            entry: &self.door,
            chat: Some(&self.chat),
            workspace: match &overrides.workspace {
                Some(workspace) => workspace.clone(),
                None => self.agent.workspace(&self.chat),
            },
            step_limit: overrides.step_limit.unwrap_or(settings.step_limit),
            context: overrides.context.as_deref(),
            cancel: &self.slot.cancel,
            usage: &self.usage,
            recorder: self,
        };
        let steps = Box::pin(self.steps_of(&run, begin));
        run.while_authorized(steps).await
    }

    async fn steps_of(&self, run: &AgentLoop<'_>, begin: TurnStart) -> StoreResult<LoopEnd> {
        let (store, chat, id) = (&self.agent.store, &self.chat, &self.id);
        let mut messages = prompt::history(store, (chat, id), PictureData::Whole).await?;
        let mut first_step = 0;
        if begin == TurnStart::Resumed {
            let mut calls = store.calls_of(id).await?;
            let last = calls.last().map(|call| call.message_id.clone());
            calls.retain(|call| Some(&call.message_id) == last.as_ref());
            if let ControlFlow::Break(end) = run.finish_step(&messages, calls).await? {
                return Ok(end);
            }
            messages = prompt::history(store, (chat, id), PictureData::Whole).await?;
            first_step = self.model_steps().await?;
        }
        run.run(messages, first_step).await
    }

    /// How many model steps this turn has taken.
    async fn model_steps(&self) -> StoreResult<usize> {
        let turn = std::slice::from_ref(&self.id);
        let messages = self.agent.store.messages_of(&self.chat, turn).await?;
        let by_model = |message: &&MessageRecord| message.role == Role::Assistant;
        Ok(messages.iter().filter(by_model).count())
    }

    async fn emit(&self, events: Vec<EventBody>) -> StoreResult<()> {
        self.agent.feed.emit(&self.chat, events).await
    }

    fn message(&self, id: MessageId, role: Role, parts: Vec<Part>) -> MessageRecord {
        MessageRecord {
            id,
            chat_id: self.chat.clone(),
            turn_id: self.id.clone(),
            role,
            parts,
            created_at: now(),
        }
    }
}
