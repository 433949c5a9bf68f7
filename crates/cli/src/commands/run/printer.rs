//! Printing a turn while it runs: the answer to standard output, the rest to standard error.

use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use tenon_agent::feed::{ChatWatch, LiveUpdate, WatchEvent};
use tenon_domain::{
    CallId, CallProgress, CallRecord, ChatId, Delta, DeltaKind, Event, EventBody, Part, TurnId,
    TurnOutcome,
};

use super::meter::Meter;
use super::terminal::{Terminal, TerminalAnswer};
use crate::commands::{GAVE_UP, INTERRUPTED, say};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::calls;
use tenon_server::wire::ServerFrame;

/// A turn has far fewer events.
const ALL: u64 = u32::MAX as u64;

/// Follows one turn and prints it.
pub(super) struct Printer {
    pub(super) app: App,
    pub(super) user: CurrentUser,
    pub(super) chat: ChatId,
    pub(super) turn: TurnId,
    pub(super) json: bool,
    pub(super) last: i64,
    /// What of the message in progress is on the screen.
    pub(super) printed: String,
    /// The calls that have no result yet.
    pub(super) calls: HashMap<CallId, CallRecord>,
    /// Where somebody can be asked.
    pub(super) terminal: Option<Terminal>,
    pub(super) meter: Meter,
}

impl Printer {
    pub(super) async fn follow(mut self, mut watch: ChatWatch) -> Result<ExitCode> {
        // Listened to without a gap: a signal that nobody waits for is lost.
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let mut stopping = false;
        loop {
            let next = tokio::select! {
                next = watch.next() => next,
                answer = answer(&mut self.terminal) => {
                    self.submit(answer).await?;
                    continue;
                }
                _ = &mut interrupt => {
                    interrupt.set(tokio::signal::ctrl_c());
                    if stopping {
                        return Ok(ExitCode::from(INTERRUPTED));
                    }
                    stopping = true;
                    self.app.agent.cancel(&self.turn);
                    continue;
                }
            };
            let news = match next {
                WatchEvent::Live(LiveUpdate::Event(event)) => vec![(*event).clone()],
                WatchEvent::Live(LiveUpdate::Delta(delta)) => {
                    self.print_delta(&delta);
                    continue;
                }
                WatchEvent::Live(LiveUpdate::Progress(progress)) => {
                    self.print_progress(&progress)?;
                    continue;
                }
                WatchEvent::Live(LiveUpdate::PromptProgress(progress)) => {
                    if !self.json {
                        self.meter.draw_prompt(&progress);
                    }
                    continue;
                }
                WatchEvent::Live(LiveUpdate::Waiting(waiting)) => {
                    if !self.json {
                        self.meter.clear();
                        let seconds = waiting.wait_ms.div_ceil(1000);
                        eprintln!("No answer yet; asking again in {seconds} s.");
                    }
                    continue;
                }
                WatchEvent::Behind => self.app.store.events(&self.chat, self.last, ALL).await?,
                WatchEvent::Closed => bail!("the chat was deleted"),
            };
            for event in news {
                if event.seq <= self.last {
                    continue;
                }
                self.last = event.seq;
                if let Some(code) = self.print(event)? {
                    return Ok(code);
                }
            }
        }
    }

    /// Another door may have been faster; then it is decided.
    async fn submit(&mut self, answer: TerminalAnswer) -> Result<()> {
        use tenon_agent::Error::{FormClosed, Misfit, NotWaiting};
        let (store, agent, user) = (&self.app.store, &self.app.agent, &self.user);
        let submitted = match &answer {
            TerminalAnswer::Call(call, verdict) => {
                calls::decide(store, agent, user, "", call, *verdict).await
            }
            TerminalAnswer::Form(call, form, answer) => {
                calls::answer_form(store, agent, user, "", call, form, answer.clone()).await
            }
        };
        let Some(terminal) = &mut self.terminal else {
            return Ok(());
        };
        match submitted {
            Ok(()) | Err(NotWaiting | FormClosed) => terminal.answered(&answer),
            Err(Misfit(why)) => terminal.again(&why.to_string()),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Keeps up with which calls there are, and asks about those that wait.
    fn follow_call(&mut self, body: &EventBody) {
        match body {
            EventBody::CallRequested { call } => {
                self.calls.insert(call.id.clone(), call.clone());
            }
            EventBody::CallAsked { call_id } => {
                if let (Some(terminal), Some(call)) = (&mut self.terminal, self.calls.get(call_id))
                {
                    terminal.ask(call.clone());
                }
            }
            EventBody::CallAnswered { call_id, .. } => {
                if let Some(terminal) = &mut self.terminal {
                    terminal.settled(call_id);
                }
            }
            EventBody::FormShown { call_id, form } => {
                if let (Some(terminal), Some(call)) = (&mut self.terminal, self.calls.get(call_id))
                {
                    terminal.fill_in(call, form);
                }
            }
            EventBody::FormAnswered { form_id, .. } => {
                if let Some(terminal) = &mut self.terminal {
                    terminal.form_settled(form_id);
                }
            }
            EventBody::CallFinished { call_id, .. } => {
                self.calls.remove(call_id);
                if let Some(terminal) = &mut self.terminal {
                    terminal.settled(call_id);
                }
            }
            _ => {}
        }
    }

    fn print_progress(&mut self, progress: &CallProgress) -> Result<()> {
        if self.json {
            say(serde_json::to_string(&ServerFrame::Progress(
                progress.clone(),
            ))?);
        } else if !self.terminal.as_ref().is_some_and(Terminal::is_asking)
            && let Some(call) = self.calls.get(&progress.call_id)
        {
            self.meter.draw(&call.display_name, progress);
        }
        Ok(())
    }

    fn print_delta(&mut self, delta: &Delta) {
        if !self.json && delta.kind == DeltaKind::Text {
            self.meter.clear();
            write(&delta.text);
            self.printed.push_str(&delta.text);
        }
    }

    /// Prints what of a message is not on the screen yet: a slow reader misses deltas.
    fn finish_message(&mut self, parts: &[Part]) {
        let whole: String = parts.iter().filter_map(Part::as_text).collect();
        let printed = std::mem::take(&mut self.printed);
        match whole.strip_prefix(printed.as_str()) {
            Some(rest) => write(rest),
            None => write(&format!("\n{whole}")),
        }
        if !whole.is_empty() {
            write("\n");
        }
    }

    /// Prints an event; a code means the turn is over.
    fn print(&mut self, event: Event) -> Result<Option<ExitCode>> {
        let ended = match &event.body {
            EventBody::TurnFinished { outcome, .. } => Some(outcome.clone()),
            _ => None,
        };
        self.meter.clear();
        self.follow_call(&event.body);
        if self.json {
            say(serde_json::to_string(&ServerFrame::Event(event))?);
        } else if let EventBody::MessageFinished { parts, .. } = &event.body {
            self.finish_message(parts);
        } else {
            tell(&event.body);
        }
        Ok(ended.map(|outcome| match outcome {
            TurnOutcome::Done => ExitCode::SUCCESS,
            TurnOutcome::Stopped => ExitCode::from(INTERRUPTED),
            TurnOutcome::StepLimit => ExitCode::from(GAVE_UP),
            TurnOutcome::Interrupted(_) | TurnOutcome::Failed(_) => ExitCode::FAILURE,
        }))
    }
}

/// What the person at the terminal says; nothing, where there is none.
async fn answer(terminal: &mut Option<Terminal>) -> TerminalAnswer {
    match terminal {
        Some(terminal) => terminal.answer().await,
        None => std::future::pending().await,
    }
}

/// The work goes to standard error, so that standard output is the answer alone.
fn tell(body: &EventBody) {
    match body {
        EventBody::CallRequested { call } => eprintln!("▸ {} {}", call.display_name, call.input),
        EventBody::CallFinished {
            status,
            error,
            duration_ms,
            ..
        } => match error {
            Some(error) => eprintln!("  {status}: {error}"),
            None => eprintln!("  {status}, {duration_ms} ms"),
        },
        EventBody::ToolsLeftOut { tools, .. } => {
            for tool in tools {
                eprintln!(
                    "! {} was not offered to the model: {}",
                    tool.display_name, tool.why
                );
            }
        }
        EventBody::TurnFinished { outcome, .. } => match outcome {
            TurnOutcome::Done => {}
            TurnOutcome::Stopped => eprintln!("Stopped."),
            TurnOutcome::StepLimit => eprintln!("Stopped: the step limit is reached."),
            TurnOutcome::Interrupted(why) | TurnOutcome::Failed(why) => {
                eprintln!("{why}")
            }
        },
        EventBody::ChatTitled { .. }
        | EventBody::BranchChosen { .. }
        | EventBody::CallAsked { .. }
        | EventBody::CallAnswered { .. }
        | EventBody::TurnStarted { .. }
        | EventBody::MessageStarted { .. }
        | EventBody::MessageFinished { .. }
        | EventBody::CallStarted { .. }
        | EventBody::FormShown { .. }
        | EventBody::FormAnswered { .. } => {}
    }
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
