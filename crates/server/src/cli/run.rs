//! `tenon run`: a turn without a page.

use std::io::{Read, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use tenon_agent::TurnRequest;
use tenon_agent::feed::{Live, Next, Watch};
use tenon_domain::{ChatId, Delta, DeltaKind, Event, EventBody, TurnId, TurnOutcome};

use super::say;
use crate::api::wire::ServerFrame;
use crate::app::App;
use crate::auth::CurrentUser;
use crate::config::{Common, Config};

/// The shell's number for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

#[derive(Debug, Args)]
pub(super) struct Run {
    /// What to ask; `-` reads it from standard input
    prompt: String,
    /// Print every event as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Follows one turn and prints it.
struct Printer {
    app: App,
    chat: ChatId,
    turn: TurnId,
    json: bool,
    last: i64,
}

impl Run {
    pub(super) async fn run(self, common: &Common) -> Result<ExitCode> {
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
        let user = CurrentUser::local();
        let chat = app.store.create_chat(&user.id, "").await?.id;
        let watch = app.agent.feed().watch(&chat);
        let request = TurnRequest {
            user: user.id,
            chat: chat.clone(),
            text,
            tools: None,
            model: app.model.clone(),
        };
        let turn = app.agent.start(request).await?;
        Printer {
            app,
            chat,
            turn,
            json: self.json,
            last: 0,
        }
        .follow(watch)
        .await
    }
}

impl Printer {
    async fn follow(mut self, mut watch: Watch) -> Result<ExitCode> {
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let mut asked_to_stop = false;
        loop {
            let next = tokio::select! {
                next = watch.next() => next,
                _ = &mut interrupt, if !asked_to_stop => {
                    asked_to_stop = true;
                    self.app.agent.cancel(&self.turn);
                    continue;
                }
            };
            let missed = match next {
                Next::Live(Live::Event(event)) => vec![(*event).clone()],
                Next::Live(Live::Delta(delta)) => {
                    self.speak(&delta);
                    continue;
                }
                Next::Behind | Next::Closed => {
                    self.app
                        .store
                        .events(&self.chat, self.last, u64::from(u16::MAX))
                        .await?
                }
            };
            for event in missed {
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

    fn speak(&self, delta: &Delta) {
        if !self.json && delta.kind == DeltaKind::Text {
            let mut out = std::io::stdout().lock();
            let _ = out
                .write_all(delta.text.as_bytes())
                .and_then(|()| out.flush());
        }
    }

    /// Prints an event; a code means the turn is over.
    fn print(&self, event: Event) -> Result<Option<ExitCode>> {
        let ended = match &event.body {
            EventBody::TurnFinished { outcome, .. } => Some(outcome.clone()),
            _ => None,
        };
        if self.json {
            say(serde_json::to_string(&ServerFrame::Event(event))?);
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
        EventBody::MessageFinished { parts, .. } => {
            if parts.iter().any(|part| part.as_text().is_some()) {
                say("");
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
        | EventBody::TurnStarted { .. }
        | EventBody::MessageStarted { .. }
        | EventBody::CallStarted { .. } => {}
    }
}
