//! `tenon run`: a turn without a page.

mod meter;
mod printer;
mod terminal;

use std::collections::HashMap;
use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use tenon_agent::{TurnModel, TurnRequest};
use tenon_domain::EntryPoint;
use tenon_domain::pattern::Pattern;

use self::meter::Meter;
use self::printer::Printer;
use self::terminal::Terminal;
use crate::flags::CommonFlags;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;

#[derive(Debug, Args)]
pub(super) struct RunCommand {
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

impl RunCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
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
        let app = App::open(&common.data, &common.load_config()?).await?;
        let named = match self.model.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => Some(app.models.named(name).await?),
            None => None,
        };
        let model = TurnModel {
            // The process ends with the answer; nobody would hear of a title.
            makes_titles: false,
            ..app.models.choose(named.as_ref()).await?
        };
        let user = CurrentUser::of_shell(&app.store).await?;
        app.open_sources(&user).await;
        let sources = app.sources.clone();
        let chat = app.store.create_chat(&user.id, "").await?.id;
        let watch = app.agent.feed().watch(&chat);
        let terminal = (!from_input && Terminal::is_there()).then(Terminal::default);
        let allowed = self.allow.into_iter().chain(self.yes.then(|| "*".into()));
        let request = TurnRequest {
            door: EntryPoint::Shell,
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
            printed: String::new(),
            calls: HashMap::new(),
            terminal,
            meter: Meter::default(),
        };
        let ended = printer.follow(watch).await;
        sources.close().await;
        ended
    }
}
