//! `tenon tools`: the registry from a shell.
//!
//! The server that runs with the same data folder is asked, so that nothing has to be started;
//! where none does, this process is the host for as long as it takes.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;
use tenon_domain::{Content, ToolId};

use super::say;
use super::server_client::{ServerClient, ServerGone};
use crate::flags::CommonFlags;
use tenon_app::app::{App, no_such_tool};
use tenon_app::auth::CurrentUser;
use tenon_app::tools::{ToolCaller, ToolListFilter};
use tenon_server::wire::{CallToolAnswer, ToolView};
use tokio_util::sync::CancellationToken;

/// More hits than this are no longer an answer.
const MAX_HITS: usize = 20;

#[derive(Debug, Subcommand)]
pub(super) enum Tools {
    /// All tools, one a line
    List {
        #[arg(long)]
        json: bool,
    },
    /// What a tool does and what it takes
    Show {
        #[arg(value_name = "TOOL_ID")]
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// Call a tool with a JSON object
    Call {
        #[arg(value_name = "TOOL_ID")]
        id: String,
        #[arg(default_value = "{}", value_name = "JSON")]
        arguments: String,
        #[arg(long)]
        json: bool,
    },
    /// Find tools by words
    Search {
        query: String,
        #[arg(long)]
        json: bool,
    },
}

/// Who has the tools.
enum ToolHost<'a> {
    /// The server that runs with this data folder.
    Server(&'a ServerClient),
    /// This process, where none does.
    Here(&'a App, &'a CurrentUser),
}

impl ToolHost<'_> {
    /// All that the user can see.
    async fn tools(&self) -> Result<Vec<ToolView>> {
        match self {
            Self::Server(server) => server.tools().await,
            Self::Here(app, user) => {
                let access = app.tools.access(user, None).await?;
                Ok(app.tools.views(&app.registry.toolset(access)))
            }
        }
    }

    /// The best first, as `/api/tools` finds them.
    async fn search(&self, query: &str) -> Result<Vec<ToolView>> {
        match self {
            Self::Server(server) => server.search_tools(query, MAX_HITS).await,
            Self::Here(app, user) => {
                let access = app.tools.access(user, None).await?;
                let filter = ToolListFilter {
                    query: Some(query),
                    limit: MAX_HITS,
                    ..ToolListFilter::ALL
                };
                Ok(app.tools.page(&app.registry.toolset(access), &filter).tools)
            }
        }
    }

    /// None: there is no such tool.
    async fn call(&self, id: &ToolId, input: Value) -> Result<Option<CallToolAnswer>> {
        match self {
            Self::Server(server) => server.call(id, &input).await,
            Self::Here(app, user) => {
                let cancel = CancellationToken::new();
                let caller = ToolCaller::new(user, "");
                Ok(app.tools.call(caller, id.clone(), input, cancel).await?)
            }
        }
    }
}

impl Tools {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let config = common.load_config()?;
        if let Some(server) = ServerClient::find(common, &config) {
            match self.answer(&ToolHost::Server(&server)).await {
                Err(error) if error.is::<ServerGone>() => {}
                answered => return answered,
            }
        }
        let app = App::open(&common.data, &config).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        app.open_sources(&user).await;
        let ended = self.answer(&ToolHost::Here(&app, &user)).await;
        app.sources.close().await;
        app.store.drain().await;
        ended
    }

    async fn answer(&self, host: &ToolHost<'_>) -> Result<ExitCode> {
        match self {
            Self::List { json } => list(&host.tools().await?, *json)?,
            Self::Search { query, json } => list(&host.search(query).await?, *json)?,
            Self::Show { id, json } => {
                let id = ToolId(id.clone());
                let tools = host.tools().await?;
                let tool = tools.iter().find(|tool| tool.tool_id == id);
                show(tool.with_context(|| no_such_tool(&id))?, *json)?;
            }
            Self::Call {
                id,
                arguments,
                json,
            } => {
                return call(host, &ToolId(id.clone()), arguments, *json).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(tools: &[ToolView], json: bool) -> Result<()> {
    if json {
        return print_json(tools);
    }
    let width = tools
        .iter()
        .map(|tool| tool.tool_id.as_str().len())
        .max()
        .unwrap_or_default();
    for tool in tools {
        say(format_args!(
            "{:width$}  {}",
            tool.tool_id.as_str(),
            tool.display_name
        ));
    }
    Ok(())
}

fn show(tool: &ToolView, json: bool) -> Result<()> {
    if json {
        return print_json(tool);
    }
    say(format_args!(
        "{}  ({}, runs on the {})",
        tool.display_name,
        tool.tool_id,
        tool.runs_on.as_str()
    ));
    say(&tool.description);
    if let Some(parameters) = &tool.parameters {
        print_json(&parameters.value())?;
    }
    Ok(())
}

async fn call(host: &ToolHost<'_>, id: &ToolId, arguments: &str, json: bool) -> Result<ExitCode> {
    let input: Value = serde_json::from_str(arguments).context(
        "the arguments are not JSON; write them as one object, such as '{\"expression\":\"6*7\"}'",
    )?;
    let Some(answer) = host.call(id, input).await? else {
        bail!(no_such_tool(id));
    };
    if json {
        print_json(&answer)?;
    } else {
        answer.content.iter().map(Content::to_text).for_each(say);
    }
    if let Some(error) = answer.error {
        if !json {
            eprintln!("{error}");
        }
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_json<T: Serialize + ?Sized>(value: &T) -> Result<()> {
    // A schema is text inside: as a value it is written in lines like the rest.
    say(format_args!("{:#}", serde_json::to_value(value)?));
    Ok(())
}
