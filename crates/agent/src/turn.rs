//! One user message and everything it sets off.
//!
//! Each step: the model speaks, what it said is on record, its calls are on
//! record, then they run, then it is told what they gave. A failed tool is a
//! result; only a model that cannot be used fails a turn.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use futures::{FutureExt, StreamExt, TryFutureExt, TryStreamExt, stream};
use tenon_domain::{
    Access, CallRecord, CallStatus, ChatId, EventBody, LeftOut, Message, MessageId, MessageRecord,
    ModelRef, Part, Prices, Role, RunsOn, StopReason, ToolAnswer, ToolCall, ToolError, ToolId,
    ToolResult, TurnId, TurnOutcome, Usage, UserId, tool_id,
};
use tenon_llm::{Provider, Request};
use tenon_store::{Result as StoreResult, fresh_id, now};
use tenon_tools::{Asker, CallContext, Toolset};
use tokio::sync::oneshot;

use crate::end::End;
use crate::running::Place;
use crate::speak::{Speech, Spoken};
use crate::{Agent, Error, prompt};

/// A message is words; whoever has a book puts it into a file.
const MAX_MESSAGE: usize = 1024 * 1024;

/// A title is a line in a side bar.
const TITLE_CHARS: usize = 60;

/// What somebody wants answered.
pub struct TurnRequest {
    pub user: UserId,
    pub chat: ChatId,
    pub text: String,
    /// The tools that are switched on. None: all of them.
    pub tools: Option<Vec<ToolId>>,
    pub model: Model,
}

/// Who is asked, under which name, and what that costs.
#[derive(Clone)]
pub struct Model {
    pub provider: Arc<dyn Provider>,
    pub shown: ModelRef,
    pub prices: Option<Prices>,
}

/// A turn that is running.
struct Turn {
    agent: Agent,
    id: TurnId,
    chat: ChatId,
    access: Access,
    model: Model,
    /// The tools that were said to be left out: said once is enough.
    left_out: Mutex<Vec<LeftOut>>,
    place: Place,
}

impl Agent {
    /// Puts the message on record and sets off the turn, which runs on its own
    /// whether anybody watches or not.
    pub async fn start(&self, request: TurnRequest) -> Result<TurnId, Error> {
        if request.text.trim().is_empty() {
            return Err(Error::Empty);
        }
        if request.text.len() > MAX_MESSAGE {
            return Err(Error::TooLong(MAX_MESSAGE));
        }
        let chat = self.store.chat(&request.user, &request.chat).await?;
        let id = TurnId(fresh_id());
        let place = self.running.take(&chat.id, &id)?;

        let message = record(&chat.id, &id, Role::User, vec![Part::text(request.text)]);
        let title = chat.title.is_empty().then(|| title(&message.text()));
        let mut events = vec![EventBody::TurnStarted {
            turn_id: id.clone(),
            message,
            model: Some(request.model.shown.clone()),
        }];
        events.extend(title.map(|title| EventBody::ChatTitled { title }));

        let access = Access::all(&request.user);
        let turn = Turn {
            agent: self.clone(),
            id: id.clone(),
            chat: chat.id,
            access: match request.tools {
                None => access,
                Some(tools) => access.only(tools),
            },
            model: request.model,
            left_out: Mutex::default(),
            place,
        };
        // On a task of its own: a client that hangs up now must not leave a
        // turn that is on record and never runs.
        let (begun, beginning) = oneshot::channel();
        self.running.tasks.spawn(async move {
            let written = turn.emit(events).await;
            let is_written = written.is_ok();
            let _ = begun.send(written);
            if is_written {
                turn.run().await;
            }
        });
        // The sender is only ever dropped unused by a runtime that is going away.
        beginning.await.map_err(|_| Error::Closing)??;
        Ok(id)
    }
}

impl Turn {
    async fn run(self) {
        let started = Instant::now();
        tracing::info!(chat = %self.chat, turn = %self.id, "turn started");
        let mut usage = Usage::default();
        let steps = AssertUnwindSafe(self.steps(&mut usage))
            .catch_unwind()
            .await;
        let outcome = match steps {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => {
                tracing::error!(%error, chat = %self.chat, turn = %self.id, "a turn could not be written down");
                failed("Tenon could not store this answer. Its log says why.")
            }
            Err(_panic) => failed("Tenon made a mistake in this answer. Its log says which."),
        };
        tracing::info!(chat = %self.chat, turn = %self.id, took = ?started.elapsed(), ?outcome, "turn finished");
        // The place is given up first: whoever sees the end may speak again at once.
        let Self {
            agent,
            id,
            chat,
            place,
            model,
            ..
        } = self;
        drop(place);
        let prices = model.prices.filter(|_| usage != Usage::default());
        let end = End {
            outcome,
            usage,
            cost: prices.map(|prices| prices.cost(&usage)),
        };
        agent.end(&chat, &id, end).await;
    }

    async fn steps(&self, usage: &mut Usage) -> StoreResult<TurnOutcome> {
        let mut messages = prompt::history(&self.agent.store, &self.chat).await?;
        for step in 0..self.agent.settings.step_limit {
            // A fresh snapshot each step: a tool that came or went meanwhile is seen at once.
            let toolset = self.agent.registry.toolset(self.access.clone());
            let (message_id, spoken) = self.speak(&toolset, messages.clone()).await?;
            let reply = spoken.reply;
            *usage += reply.usage;

            let calls: Vec<ToolCall> = reply
                .parts
                .iter()
                .filter_map(Part::as_call)
                .cloned()
                .collect();
            self.record(&toolset, message_id, &reply.parts, &calls)
                .await?;
            if let Some(outcome) = spoken.cut {
                return Ok(outcome);
            }
            if calls.is_empty() && reply.stop == Some(StopReason::Paused) {
                messages.push(Message::Assistant { parts: reply.parts });
                continue;
            }
            if calls.is_empty() {
                let nothing_said = step == 0 && reply.parts.is_empty();
                return Ok(if nothing_said {
                    self.nothing()
                } else {
                    TurnOutcome::Done
                });
            }

            let results = self.run_calls(&toolset, &calls).await?;
            if self.place.cancel.is_cancelled() {
                return Ok(TurnOutcome::Stopped);
            }
            if calls
                .iter()
                .zip(&results)
                .any(|(call, result)| result.is_ok() && ends_turn(&toolset, call))
            {
                return Ok(TurnOutcome::Done);
            }
            let answers = calls
                .into_iter()
                .zip(results)
                .map(|(call, result)| ToolAnswer {
                    call_id: call.id,
                    tool_id: call.tool_id,
                    result,
                });
            messages.push(Message::Assistant { parts: reply.parts });
            messages.push(Message::Tools {
                answers: answers.collect(),
            });
        }
        Ok(TurnOutcome::StepLimit)
    }

    async fn speak(
        &self,
        toolset: &Toolset,
        messages: Vec<Message>,
    ) -> StoreResult<(MessageId, Spoken)> {
        let message = record(&self.chat, &self.id, Role::Assistant, Vec::new());
        let message_id = message.id.clone();
        self.emit(vec![EventBody::MessageStarted { message }])
            .await?;

        let speech = Speech {
            chat: &self.chat,
            turn: &self.id,
            message: &message_id,
            model: &*self.model.provider,
            left_out: &self.left_out,
            toolset,
            feed: &self.agent.feed,
            store: &self.agent.store,
            cancel: &self.place.cancel,
            settings: &self.agent.settings,
        };
        let request = Request {
            system: prompt::SYSTEM.into(),
            messages,
            tools: toolset.specs(),
        };
        let mut spoken = speech.run(request).await;
        for part in &mut spoken.reply.parts {
            if let Part::Call { call, .. } = part {
                call.tool_id = tool_id::sanitise(call.tool_id.as_str());
            }
        }
        Ok((message_id, spoken))
    }

    /// What was said and the calls in it, on record together and before any is dispatched.
    async fn record(
        &self,
        toolset: &Toolset,
        message_id: MessageId,
        parts: &[Part],
        calls: &[ToolCall],
    ) -> StoreResult<()> {
        let requests = calls.iter().map(|call| EventBody::CallRequested {
            call: request(toolset, &message_id, call),
        });
        let requests: Vec<EventBody> = requests.collect();
        let said = EventBody::MessageFinished {
            message_id,
            parts: parts.to_vec(),
        };
        self.emit([said].into_iter().chain(requests).collect())
            .await
    }

    /// Runs the calls of a step, some at a time. Their results come in the order of the calls.
    async fn run_calls(
        &self,
        toolset: &Toolset,
        calls: &[ToolCall],
    ) -> StoreResult<Vec<ToolResult>> {
        let running = calls.iter().enumerate().map(|(place, call)| {
            self.run_call(toolset, place, call)
                .map_ok(move |result| (place, result))
                .boxed()
        });
        let running: Vec<_> = running.collect();
        let mut results: Vec<(usize, ToolResult)> = stream::iter(running)
            .buffer_unordered(self.agent.settings.parallel_calls)
            .try_collect()
            .await?;
        results.sort_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    async fn run_call(
        &self,
        toolset: &Toolset,
        place: usize,
        call: &ToolCall,
    ) -> StoreResult<ToolResult> {
        let started = Instant::now();
        let limit = self.agent.settings.calls_per_step;
        let result = if self.place.cancel.is_cancelled() {
            Err(ToolError::cancelled())
        } else if place >= limit {
            Err(ToolError::denied(format!(
                "More than {limit} calls at once are not made. Ask for this one again."
            )))
        } else {
            self.emit(vec![EventBody::CallStarted {
                call_id: call.id.clone(),
            }])
            .await?;
            let context = CallContext {
                call_id: call.id.clone(),
                user: self.access.user.clone(),
                asker: Asker::Model,
                workspace: Some(self.agent.workspace(&self.chat)),
                cancel: self.place.cancel.child_token(),
            };
            toolset.call(call, &context).await
        };
        self.emit(vec![EventBody::CallFinished {
            call_id: call.id.clone(),
            status: CallStatus::of(&result),
            output: result.as_ref().ok().cloned(),
            error: result.as_ref().err().cloned(),
            duration_ms: started.elapsed().as_millis() as u64,
        }])
        .await?;
        Ok(result)
    }

    async fn emit(&self, events: Vec<EventBody>) -> StoreResult<()> {
        self.agent.feed.emit(&self.chat, events).await
    }

    fn nothing(&self) -> TurnOutcome {
        failed(&format!(
            "{} said nothing. Try again, or choose another model.",
            self.model.shown.name
        ))
    }
}

fn failed(message: &str) -> TurnOutcome {
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

fn request(toolset: &Toolset, message: &MessageId, call: &ToolCall) -> CallRecord {
    let tool = toolset.get(&call.tool_id);
    CallRecord {
        id: call.id.clone(),
        message_id: message.clone(),
        tool_id: call.tool_id.clone(),
        display_name: tool.map_or_else(|| call.tool_id.0.clone(), |t| t.spec.display_name.clone()),
        runs_on: tool.map_or(RunsOn::Server, |tool| tool.spec.runs_on),
        input: call.input.clone(),
        status: CallStatus::Pending,
        output: None,
        error: None,
        duration_ms: None,
    }
}

fn ends_turn(toolset: &Toolset, call: &ToolCall) -> bool {
    toolset
        .get(&call.tool_id)
        .is_some_and(|tool| tool.spec.annotations.ends_turn)
}

/// The first line of a message, cut between characters, never inside one.
fn title(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim();
    match line.char_indices().nth(TITLE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

impl std::fmt::Debug for TurnRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnRequest")
            .field("chat", &self.chat)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Model").field(&self.shown).finish()
    }
}
