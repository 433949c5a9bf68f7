//! `tenon run`: a turn without a page.

mod terminal;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use tenon_agent::feed::{Live, Next, Watch};
use tenon_agent::{Model, TurnRequest};
use tenon_domain::pattern::Pattern;
use tenon_domain::{
    CallId, CallRecord, ChatId, Delta, DeltaKind, Door, Event, EventBody, Part, TurnId,
    TurnOutcome, Verdict,
};

use self::terminal::Terminal;
use super::say;
use crate::api::calls;
use crate::api::wire::ServerFrame;
use crate::app::App;
use crate::auth::CurrentUser;
use crate::config::{Common, Config};

/// The shell's number for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// A turn has far fewer events.
const ALL: u64 = u32::MAX as u64;

#[derive(Debug, Args)]
pub(super) struct Run {
    /// What to ask; `-` reads it from standard input
    prompt: String,
    /// Print every event as a line of JSON
    #[arg(long)]
    json: bool,
    /// Which model to ask, by id or name; `tenon models list` shows them
    #[arg(long, short, env = "TENON_MODEL", value_name = "NAME")]
    model: Option<String>,
    /// A tool that may be used without asking, by its id; `*` stands for any characters
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<String>,
    /// Use every tool without asking, except those that are denied
    #[arg(long, short)]
    yes: bool,
}

/// Follows one turn and prints it.
struct Printer {
    app: App,
    user: CurrentUser,
    chat: ChatId,
    turn: TurnId,
    json: bool,
    last: i64,
    /// What of the message in progress is on the screen.
    spoken: String,
    /// The calls that have no result yet.
    calls: HashMap<CallId, CallRecord>,
    /// Where somebody can be asked.
    terminal: Option<Terminal>,
}

impl Run {
    pub(super) async fn run(self, common: &Common) -> Result<ExitCode> {
        let from_input = self.prompt == "-";
        let text = match self.prompt.as_str() {
            "-" => {
                let mut text = String::new();
                std::io::stdin()
                    .read_to_string(&mut text)
                    .context("standard input cannot be read")?;
                text
            }
            prompt => prompt.to_owned(),
        };
        let app = App::open(&common.data, &Config::load(common)?).await?;
        let named = match self.model.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => Some(app.models.named(name).await?),
            None => None,
        };
        let model = Model {
            // The process ends with the answer; nobody would hear of a title.
            makes_titles: false,
            ..app.models.choose(named.as_ref()).await?
        };
        let user = CurrentUser::of_shell(&app.store).await?;
        let chat = app.store.create_chat(&user.id, "").await?.id;
        let watch = app.agent.feed().watch(&chat);
        let terminal = (!from_input && Terminal::is_there()).then(Terminal::default);
        let allowed = self.allow.into_iter().chain(self.yes.then(|| "*".into()));
        let request = TurnRequest {
            door: Door::Shell,
            can_ask: terminal.is_some(),
            granted: allowed.map(Pattern).collect(),
            ..TurnRequest::new(user.id.clone(), chat.clone(), text, model)
        };
        let turn = app.agent.start(request).await?;
        let printer = Printer {
            app,
            user,
            chat,
            turn,
            json: self.json,
            last: 0,
            spoken: String::new(),
            calls: HashMap::new(),
            terminal,
        };
        printer.follow(watch).await
    }
}

impl Printer {
    async fn follow(mut self, mut watch: Watch) -> Result<ExitCode> {
        // Listened to without a gap: a signal that nobody waits for is lost.
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let mut stopping = false;
        loop {
            let next = tokio::select! {
                next = watch.next() => next,
                (call, verdict) = answer(&mut self.terminal) => {
                    self.decide(&call, verdict).await?;
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
                Next::Live(Live::Event(event)) => vec![(*event).clone()],
                Next::Live(Live::Delta(delta)) => {
                    self.speak(&delta);
                    continue;
                }
                Next::Live(Live::Waiting(waiting)) => {
                    if !self.json {
                        let seconds = waiting.wait_ms.div_ceil(1000);
                        eprintln!("No answer yet; asking again in {seconds} s.");
                    }
                    continue;
                }
                Next::Behind => self.app.store.events(&self.chat, self.last, ALL).await?,
                Next::Closed => bail!("the chat was deleted"),
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
    async fn decide(&mut self, call: &CallId, verdict: Verdict) -> Result<()> {
        match calls::decide(&self.app, &self.user, "", call, verdict).await {
            Ok(()) | Err(tenon_agent::Error::NotWaiting) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(terminal) = &mut self.terminal {
            terminal.settled(call);
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
            EventBody::CallFinished { call_id, .. } => {
                self.calls.remove(call_id);
                if let Some(terminal) = &mut self.terminal {
                    terminal.settled(call_id);
                }
            }
            _ => {}
        }
    }

    fn speak(&mut self, delta: &Delta) {
        if !self.json && delta.kind == DeltaKind::Text {
            write(&delta.text);
            self.spoken.push_str(&delta.text);
        }
    }

    /// Prints what of a message is not on the screen yet: a slow reader misses deltas.
    fn finish_speaking(&mut self, parts: &[Part]) {
        let whole: String = parts.iter().filter_map(Part::as_text).collect();
        let spoken = std::mem::take(&mut self.spoken);
        match whole.strip_prefix(spoken.as_str()) {
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
        self.follow_call(&event.body);
        if self.json {
            say(serde_json::to_string(&ServerFrame::Event(event))?);
        } else if let EventBody::MessageFinished { parts, .. } = &event.body {
            self.finish_speaking(parts);
        } else {
            tell(&event.body);
        }
        Ok(ended.map(|outcome| match outcome {
            TurnOutcome::Done => ExitCode::SUCCESS,
            TurnOutcome::Stopped => ExitCode::from(INTERRUPTED),
            TurnOutcome::StepLimit
            | TurnOutcome::Interrupted { .. }
            | TurnOutcome::Failed { .. } => ExitCode::FAILURE,
        }))
    }
}

/// What the person at the terminal says; nothing, where there is none.
async fn answer(terminal: &mut Option<Terminal>) -> (CallId, Verdict) {
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
            TurnOutcome::Interrupted { message } | TurnOutcome::Failed { message } => {
                eprintln!("{message}")
            }
        },
        EventBody::ChatTitled { .. }
        | EventBody::BranchChosen { .. }
        | EventBody::CallAsked { .. }
        | EventBody::CallAnswered { .. }
        | EventBody::TurnStarted { .. }
        | EventBody::MessageStarted { .. }
        | EventBody::MessageFinished { .. }
        | EventBody::CallStarted { .. } => {}
    }
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
