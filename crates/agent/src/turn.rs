//! A turn: one user message and all model steps and tool calls that follow.
//!
//! Each step streams a reply, records it with its calls, runs the calls, and sends their results
//! to the model. A failed tool is a result; only a model that cannot be used fails a turn.

mod approval;
mod call_client;
mod calls;
mod progress_throttle;
mod stream_sink;

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use tenon_domain::{
    CallRecord, ChatId, EntryPoint, EventBody, Message, MessageId, MessageRecord, OmittedTool,
    Part, Role, StopReason, TitledBy, ToolAccess, TurnId, TurnOutcome, Usage,
};
use tenon_llm::ModelRequest;
use tenon_store::{Error as StoreError, Result as StoreResult, fresh_id, now};
use tenon_tools::Toolset;
use tokio::sync::oneshot;

use crate::model_step::{ModelStep, StepResult};
use crate::request::{TurnModel, TurnRequest};
use crate::running_turns::TurnSlot;
use crate::turn_end::TurnEnd;
use crate::{Agent, Error, prompt, title};

pub(crate) use approval::advice;
pub(crate) use calls::{ends_turn, too_many};
use calls::{knowing, request};
use stream_sink::TurnSink;

/// What users see of a panic.
pub(crate) const INTERNAL_ERROR: &str = "Tenon made a mistake in this answer. Its log says which.";

/// Longer texts belong into a file of the chat.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

/// How long it may take until what was done in another process is noticed while
/// a person is waited for: an answer, or that nobody is left to give one.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A turn that is running.
pub(crate) struct Turn {
    pub(crate) agent: Agent,
    pub(crate) id: TurnId,
    pub(crate) chat: ChatId,
    /// What the user may call, before the switches are asked.
    pub(crate) access: ToolAccess,
    pub(crate) door: EntryPoint,
    pub(crate) can_ask: bool,
    pub(crate) model: TurnModel,
    /// The tools that were said to be left out: said once is enough.
    pub(crate) left_out: Mutex<Vec<OmittedTool>>,
    /// What it took so far.
    pub(crate) usage: Mutex<Usage>,
    pub(crate) slot: TurnSlot,
}

/// Where a turn begins to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// With its message.
    Anew,
    /// In the middle of a step, where another process left it.
    Again,
}

/// Why a turn no longer runs here.
#[derive(Debug)]
enum TurnStop {
    Ended(TurnOutcome),
    /// It waits for a person, and Tenon is shutting down: the next start goes on with it.
    Parked,
}

impl Agent {
    /// Puts the message on record and sets off the turn, which runs on its own
    /// whether anybody watches or not.
    pub async fn start(&self, request: TurnRequest) -> Result<TurnId, Error> {
        let chat = self.store.chat(&request.user, &request.chat).await?;
        let mut text = request.text;
        let mut branch = None;
        if let Some(replaced) = &request.replaces {
            let (beside, said_there) = self.beside(&chat.id, replaced).await?;
            branch = Some(beside);
            text = text.or(said_there);
        }
        let text = text.unwrap_or_default();
        if text.trim().is_empty() {
            return Err(Error::Empty);
        }
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(Error::TooLong(MAX_MESSAGE_BYTES));
        }
        self.settings.free_space.check()?;
        let id = TurnId(fresh_id());
        let slot = self.running.take(&chat.id, &id)?;

        let message = record(&chat.id, &id, Role::User, vec![Part::text(text)]);
        let title = chat.title.is_empty().then(|| title::cut(&message.text()));
        let begin = EventBody::TurnStarted {
            turn_id: id.clone(),
            message,
            branch,
            tools: request.tools.clone(),
            door: request.door.clone(),
            model: Some(request.model.shown.clone()),
        };

        let access = ToolAccess::all(&request.user).granting(request.granted);
        let turn = Turn {
            agent: self.clone(),
            id: id.clone(),
            chat: chat.id,
            access: match request.tools {
                None => access,
                Some(tools) => access.only(tools),
            },
            door: request.door,
            can_ask: request.can_ask,
            model: request.model,
            left_out: Mutex::default(),
            usage: Mutex::default(),
            slot,
        };
        // On a task of its own: a client that hangs up now must not leave a
        // turn that is on record and never runs.
        let (begun, beginning) = oneshot::channel();
        self.running.tasks.spawn(async move {
            let written = turn.emit(vec![begin]).await;
            if let (Ok(()), Some(title)) = (&written, title) {
                turn.entitle(title).await;
            }
            let is_written = written.is_ok();
            let _ = begun.send(written);
            if is_written {
                turn.run(Begin::Anew).await;
            }
        });
        // The sender is only ever dropped unused by a runtime that is going away.
        match beginning.await.map_err(|_| Error::Closing)? {
            Ok(()) => Ok(id),
            // Another process answers in this chat.
            Err(StoreError::TooLate(_)) => Err(Error::Busy),
            Err(error) => Err(error.into()),
        }
    }
}

impl Turn {
    pub(crate) async fn run(self, begin: Begin) {
        let started = Instant::now();
        tracing::info!(chat = %self.chat, turn = %self.id, ?begin, "turn started");
        let steps = AssertUnwindSafe(self.steps(begin)).catch_unwind().await;
        let outcome = match steps {
            Ok(Ok(TurnStop::Ended(outcome))) => outcome,
            Ok(Ok(TurnStop::Parked)) => {
                tracing::info!(chat = %self.chat, turn = %self.id, "turn waits for a person; the next start goes on with it");
                return;
            }
            Ok(Err(error)) => {
                tracing::error!(%error, chat = %self.chat, turn = %self.id, "a turn could not be written down");
                failed(match error {
                    StoreError::DiskFull(_) => {
                        "The server's disk is full, so this answer could not be stored. Free some space on it and ask again."
                    }
                    _ => "Tenon could not store this answer. Its log says why.",
                })
            }
            Err(_panic) => failed(INTERNAL_ERROR),
        };
        tracing::info!(chat = %self.chat, turn = %self.id, took = ?started.elapsed(), ?outcome, "turn finished");
        let usage = self.usage();
        // The place is given up first: whoever sees the end may speak again at once.
        let Self {
            agent,
            id,
            chat,
            slot,
            model,
            ..
        } = self;
        drop(slot);
        let prices = model.prices.as_ref().filter(|_| usage != Usage::default());
        let is_done = outcome == TurnOutcome::Done;
        let end = TurnEnd {
            outcome,
            usage,
            cost: prices.map(|prices| prices.cost(&usage)),
        };
        agent.end(&chat, &id, end).await;
        if is_done {
            agent.entitle(&chat, &id, &model).await;
        }
    }

    async fn steps(&self, begin: Begin) -> StoreResult<TurnStop> {
        let mut spoken_before = 0;
        if begin == Begin::Again {
            if let Some(stop) = self.finish_step().await? {
                return Ok(stop);
            }
            spoken_before = self.spoken().await?;
        }
        let mut messages = prompt::history(&self.agent.store, &self.chat, &self.id).await?;
        for step in spoken_before..self.agent.settings.step_limit {
            // A fresh snapshot each step: a tool that came or went meanwhile is seen at once.
            let toolset = self.toolset().await?;
            let (message_id, spoken) = self.speak(&toolset, messages.clone()).await?;
            let reply = spoken.reply;
            self.count(reply.usage);

            let calls = self.record(&toolset, message_id, &reply.parts).await?;
            if let Some(outcome) = spoken.cut {
                return Ok(TurnStop::Ended(outcome));
            }
            if calls.is_empty() && reply.stop == Some(StopReason::Paused) {
                messages.push(Message::Assistant { parts: reply.parts });
                continue;
            }
            if calls.is_empty() {
                let nothing_said = step == 0 && reply.parts.is_empty();
                return Ok(TurnStop::Ended(if nothing_said {
                    said_nothing(&self.model)
                } else {
                    TurnOutcome::Done
                }));
            }
            let toolset = knowing(toolset, &messages, &calls).await;
            let answers = match self.run_calls(&toolset, calls).await? {
                Ok(answers) => answers,
                Err(stop) => return Ok(stop),
            };
            messages.push(Message::Assistant { parts: reply.parts });
            messages.push(Message::Tools { answers });
        }
        Ok(TurnStop::Ended(TurnOutcome::StepLimit))
    }

    /// What the user may call now, as the switches stand.
    async fn toolset(&self) -> StoreResult<Toolset> {
        let (chat, cancel) = (Some(&self.chat), &self.slot.cancel);
        let access = self.agent.access_now(&self.access, chat, cancel).await?;
        Ok(self.agent.registry.toolset(access))
    }

    /// The beginning of the message is the chat's name, unless somebody gave it
    /// one meanwhile. Without a name the turn goes on all the same.
    async fn entitle(&self, title: String) {
        let by = TitledBy::Cut;
        match self.emit(vec![EventBody::ChatTitled { title, by }]).await {
            Ok(()) | Err(StoreError::TooLate(_)) => {}
            Err(error) => tracing::warn!(%error, chat = %self.chat, "a chat could not be named"),
        }
    }

    /// How often the model has spoken in this turn.
    async fn spoken(&self) -> StoreResult<usize> {
        let turn = std::slice::from_ref(&self.id);
        let messages = self.agent.store.messages_of(&self.chat, turn).await?;
        let by_model = |message: &&MessageRecord| message.role == Role::Assistant;
        Ok(messages.iter().filter(by_model).count())
    }

    async fn speak(
        &self,
        toolset: &Toolset,
        messages: Vec<Message>,
    ) -> StoreResult<(MessageId, StepResult)> {
        let message = record(&self.chat, &self.id, Role::Assistant, Vec::new());
        let message_id = message.id.clone();
        self.emit(vec![EventBody::MessageStarted { message }])
            .await?;

        let sink = TurnSink {
            turn: self,
            message: &message_id,
        };
        let model_step = ModelStep {
            model: &*self.model.provider,
            toolset,
            cancel: &self.slot.cancel,
            settings: &self.agent.settings,
            sink: &sink,
        };
        let request = ModelRequest {
            system: prompt::SYSTEM.into(),
            messages,
            tools: toolset.specs(),
        };
        let spoken = model_step.run(request).await;
        Ok((message_id, spoken))
    }

    /// What was said and the calls in it, on record together and before any is dispatched.
    async fn record(
        &self,
        toolset: &Toolset,
        message_id: MessageId,
        parts: &[Part],
    ) -> StoreResult<Vec<CallRecord>> {
        let calls = parts.iter().filter_map(Part::as_call);
        let calls: Vec<CallRecord> = calls
            .map(|call| request(toolset, &message_id, call))
            .collect();
        let said = EventBody::MessageFinished {
            message_id,
            parts: parts.to_vec(),
        };
        let requests = calls.iter().cloned();
        let requests = requests.map(|call| EventBody::CallRequested { call });
        self.emit([said].into_iter().chain(requests).collect())
            .await?;
        Ok(calls)
    }

    async fn emit(&self, events: Vec<EventBody>) -> StoreResult<()> {
        self.agent.feed.emit(&self.chat, events).await
    }

    fn count(&self, usage: Usage) {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) += usage;
    }

    fn usage(&self) -> Usage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn said_nothing(model: &TurnModel) -> TurnOutcome {
    failed(&format!(
        "{} said nothing. Try again, or choose another model.",
        model.shown.name
    ))
}

pub(crate) fn failed(message: &str) -> TurnOutcome {
    TurnOutcome::Failed {
        message: message.into(),
    }
}

fn record(chat: &ChatId, turn: &TurnId, role: Role, parts: Vec<Part>) -> MessageRecord {
    MessageRecord {
        id: MessageId(fresh_id()),
        chat_id: chat.clone(),
        turn_id: turn.clone(),
        role,
        parts,
        created_at: now(),
    }
}
