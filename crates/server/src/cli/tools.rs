//! `tenon tools`: the registry from a shell.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;
use tenon_domain::search::Index;
use tenon_domain::{Content, ToolId};
use tenon_tools::Toolset;

use super::say;
use crate::api::tools::{access, call_by_hand, view, views};
use crate::api::wire::ToolView;
use crate::app::{App, no_such_tool};
use crate::auth::CurrentUser;
use crate::config::{Common, Config};

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

impl Tools {
    pub(super) async fn run(self, common: &Common) -> Result<ExitCode> {
        let app = App::open(&common.data, &Config::load(common)?).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        app.open_sources(&user).await;
        let ended = self.answer(&app, &user).await;
        app.sources.close().await;
        ended
    }

    async fn answer(self, app: &App, user: &CurrentUser) -> Result<ExitCode> {
        let toolset = app.registry.toolset(access(app, user, None).await?);
        match self {
            Self::List { json } => list(&views(app, &toolset), json)?,
            Self::Search { query, json } => list(&search(app, &toolset, &query), json)?,
            Self::Show { id, json } => {
                let id = ToolId(id);
                let tool = toolset.listed().into_iter().find(|tool| tool.spec.id == id);
                let tool = tool.with_context(|| no_such_tool(&id))?;
                show(&view(app, &toolset, tool), json)?;
            }
            Self::Call {
                id,
                arguments,
                json,
            } => {
                return call(app, user, ToolId(id), &arguments, json).await;
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
    say(serde_json::to_string_pretty(&tool.parameters)?);
    Ok(())
}

fn search(app: &App, toolset: &Toolset, query: &str) -> Vec<ToolView> {
    let tools = toolset.listed();
    let index = Index::new(tools.iter().map(|tool| {
        let spec = &tool.spec;
        [
            (spec.id.as_str(), 2.0),
            (spec.display_name.as_str(), 2.0),
            (spec.description.as_str(), 1.0),
        ]
    }));
    let hits = index.rank(query).into_iter().take(MAX_HITS);
    hits.map(|(number, _)| view(app, toolset, tools[number]))
        .collect()
}

async fn call(
    app: &App,
    user: &CurrentUser,
    id: ToolId,
    arguments: &str,
    json: bool,
) -> Result<ExitCode> {
    let input: Value = serde_json::from_str(arguments).context(
        "the arguments are not JSON; write them as one object, such as '{\"expression\":\"6*7\"}'",
    )?;
    let Some(answer) = call_by_hand(app, user, "", id.clone(), input).await? else {
        bail!(no_such_tool(&id));
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
    say(serde_json::to_string_pretty(value)?);
    Ok(())
}
