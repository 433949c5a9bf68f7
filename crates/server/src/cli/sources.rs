//! `tenon sources`: the servers from a shell.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use tenon_domain::{SourceId, SourceState};

use super::say;
use crate::api::wire::SourceDetail;
use crate::app::App;
use crate::auth::CurrentUser;
use crate::config::{Common, Config};
use crate::sources::Life;

#[derive(Debug, Subcommand)]
pub(super) enum Sources {
    /// All servers that offer tools, and how they are, one a line
    List {
        #[arg(long)]
        json: bool,
    },
    /// Remove a server; one that runs elsewhere ends within seconds
    Remove {
        #[arg(value_name = "SOURCE_ID")]
        id: String,
    },
}

impl Sources {
    pub(super) async fn run(self, common: &Common) -> Result<ExitCode> {
        let app = App::open(&common.data, &Config::load(common)?).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        match &self {
            Self::List { .. } => app.open_sources(&user).await,
            Self::Remove { .. } => {
                app.take_in_files().await;
                app.sources.open(Life::Once(user.id.clone())).await;
            }
        }
        let ended = self.answer(&app, &user).await;
        app.sources.close().await;
        ended
    }

    async fn answer(self, app: &App, user: &CurrentUser) -> Result<ExitCode> {
        match self {
            Self::List { json: true } => {
                say(serde_json::to_string_pretty(&app.sources.list(user))?);
            }
            Self::List { json: false } => list(&app.sources.list(user)),
            Self::Remove { id } => {
                let id = SourceId(id);
                app.sources.remove(user, &id).await?;
                user.note(
                    app,
                    "",
                    "source.removed",
                    id.as_str(),
                    serde_json::json!({}),
                )
                .await;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(sources: &[SourceDetail]) {
    let ids = sources.iter().map(|source| source.id.as_str().len());
    let width = ids.max().unwrap_or_default();
    for source in sources {
        let state = match &source.state {
            SourceState::Starting => "starting".to_owned(),
            SourceState::Ready => "ready".to_owned(),
            SourceState::Sleeping => "starts when it is called".to_owned(),
            SourceState::Off => "off".to_owned(),
            SourceState::Offline => "offline".to_owned(),
            SourceState::Degraded { why } => format!("degraded: {why}"),
            SourceState::Failed { why } => format!("failed: {why}"),
        };
        let tools = match source.tools {
            1 => "1 tool".to_owned(),
            tools => format!("{tools} tools"),
        };
        let (id, title) = (source.id.as_str(), &source.title);
        say(format_args!("{id:width$}  {title}, {tools}, {state}"));
    }
}
