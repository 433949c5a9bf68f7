//! `tenon sources`: the servers from a shell.

use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use clap::Subcommand;
use serde::Deserialize;
use serde_json::Value;
use tenon_domain::{SourceId, SourceState};
use tenon_sources::StartupStep;

use super::say;
use super::server_client::{ServerClient, ServerGone};
use crate::flags::CommonFlags;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::config::Config;
use tenon_app::sources::RunMode;
use tenon_server::wire::StartupView;

#[derive(Debug, Subcommand)]
pub(super) enum SourcesCommand {
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

/// What a line tells of a server.
#[derive(Deserialize)]
struct SourceLine {
    id: SourceId,
    title: String,
    tools: usize,
    #[serde(flatten)]
    state: SourceState,
    startup: Option<StartupView>,
}

impl SourcesCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let config = common.load_config()?;
        match self {
            Self::List { json } => show(listed(common, &config).await?, json)?,
            Self::Remove { id } => remove(common, &config, SourceId(id)).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// As the server that runs with this data folder has them; where none does, as they are for this
/// process.
async fn listed(common: &CommonFlags, config: &Config) -> Result<Vec<Value>> {
    if let Some(server) = ServerClient::find(common, config) {
        match server.sources().await {
            Err(error) if error.is::<ServerGone>() => {}
            answered => return answered,
        }
    }
    let app = App::open(&common.data, config).await?;
    let user = CurrentUser::of_shell(&app.store).await?;
    app.open_sources(&user).await;
    let all = app.sources.list(&user);
    app.sources.close().await;
    let all = all.iter().map(serde_json::to_value);
    Ok(all.collect::<Result<_, _>>()?)
}

async fn remove(common: &CommonFlags, config: &Config, id: SourceId) -> Result<()> {
    let app = App::open(&common.data, config).await?;
    let user = CurrentUser::of_shell(&app.store).await?;
    app.load_files().await;
    app.sources.open(RunMode::Once(user.id.clone())).await;
    let removed = app.sources.remove(&user, &id).await;
    if removed.is_ok() {
        let nothing = serde_json::json!({});
        user.note(&app.store, "", "source.removed", id.as_str(), nothing)
            .await;
    }
    app.sources.close().await;
    Ok(removed?)
}

fn show(sources: Vec<Value>, json: bool) -> Result<()> {
    if json {
        say(serde_json::to_string_pretty(&sources)?);
        return Ok(());
    }
    let lines = sources.into_iter().map(serde_json::from_value);
    let lines: Vec<SourceLine> = lines.collect::<Result<_, _>>()?;
    let ids = lines.iter().map(|source| source.id.as_str().len());
    let width = ids.max().unwrap_or_default();
    for source in lines {
        let state = match &source.state {
            SourceState::Starting => starting(source.startup.as_ref()),
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
    Ok(())
}

/// "installing for 42 s: fetching …"
fn starting(startup: Option<&StartupView>) -> String {
    let Some(startup) = startup else {
        return "starting".to_owned();
    };
    let step = match startup.step {
        StartupStep::Queued => "waiting for other servers to start",
        StartupStep::Installing => "installing",
        StartupStep::Starting => "starting",
    };
    let since = u64::try_from(startup.since).unwrap_or_default();
    let since = UNIX_EPOCH + Duration::from_millis(since);
    let seconds = since.elapsed().unwrap_or_default().as_secs();
    match &startup.line {
        Some(line) => format!("{step} for {seconds} s: {line}"),
        None => format!("{step} for {seconds} s"),
    }
}
