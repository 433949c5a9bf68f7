//! One prompt, answered as in a chat: with all tools, and a person at the terminal to ask.

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::Result;
use tenon_agent::{TurnModel, TurnRequest};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::EntryPoint;
use tenon_domain::pattern::Pattern;

use super::meter::Meter;
use super::printer::Printer;
use super::terminal::Terminal;
use crate::flags::CommonFlags;

pub(super) struct PromptRun {
    pub(super) text: String,
    /// Standard input was read: nobody can answer there.
    pub(super) from_input: bool,
    pub(super) json: bool,
    pub(super) model: Option<String>,
    /// Tools that may be used without asking.
    pub(super) granted: Vec<Pattern>,
}

impl PromptRun {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
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
        app.start_embedding();
        app.open_sources(&user).await;
        let sources = app.sources.clone();
        let chat = app.store.create_chat(&user.id, "").await?.id;
        let watch = app.agent.feed().watch(&chat);
        let terminal = (!self.from_input && Terminal::is_there()).then(Terminal::default);
        let request = TurnRequest {
            door: EntryPoint::Shell,
            can_ask: terminal.is_some(),
            granted: self.granted,
            ..TurnRequest::new(user.id.clone(), chat.clone(), self.text, model)
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
