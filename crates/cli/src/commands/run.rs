//! `tenon run`: turns without a page. One prompt is answered as in a chat; tasks are run without a
//! person.

mod batch;
mod interrupts;
mod meter;
mod printer;
mod prompt;
mod summary;
mod task_view;
mod terminal;

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::tasks::runner::{RunSettings, TaskRunner};
use tenon_app::tasks::servers::ServerFolder;
use tenon_app::tasks::tokens::TokenFile;
use tenon_app::tasks::{self, TaskArgument};
use tenon_domain::pattern::Pattern;

use self::batch::TaskBatch;
use self::prompt::PromptRun;
use crate::flags::CommonFlags;

/// More at once would only wait for the model.
const MAX_JOBS: usize = 64;

const EXAMPLES: &str = "\
Examples:
  tenon run \"what time is it in Tokyo?\"
  tenon run --yes tidy-notes.yaml
  tenon run --yes --servers configs/mcp_servers --tokens tokens.json --out results tasks/finalpool/one-task
  tenon run --yes --servers configs/mcp_servers --out results --jobs 4 tasks/finalpool

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 gave up (a limit was reached, or the model never
said that it is done), 130 interrupted. Of several tasks the worst counts.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunCommand {
    /// A question, a YAML file, a task folder in the layout of Toolathlon, or a folder of tasks;
    /// `-` reads a question from standard input
    #[arg(required = true, value_name = "TASK")]
    tasks: Vec<String>,
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
    /// A folder with the configuration of tasks' servers, one file each; without it tasks use your
    /// own tool servers by name
    #[arg(long, value_name = "DIR")]
    servers: Option<PathBuf>,
    /// A file with values for ${token.NAME}: JSON, YAML, or Python with plain values
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// The value of another variable of the servers' configuration, such as local_servers_paths
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = variable)]
    variables: Vec<(String, String)>,
    /// How many tasks run at once
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// How often the model may be asked in one task, instead of what the task says; 100 where
    /// nothing is said
    #[arg(long, value_name = "N")]
    max_turns: Option<usize>,
    /// Where each task gets a folder with its work folder and trajectory.json
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep no chat of it
    #[arg(long)]
    no_record: bool,
}

impl RunCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let from_input = self.tasks.iter().any(|task| task == "-");
        let arguments = self.tasks.iter().map(|task| match task.as_str() {
            "-" => {
                let mut text = String::new();
                std::io::stdin()
                    .read_to_string(&mut text)
                    .context("standard input cannot be read")?;
                Ok(TaskArgument::Prompt(text))
            }
            task => Ok(TaskArgument::new(task)),
        });
        let mut arguments = arguments.collect::<Result<Vec<TaskArgument>>>()?;
        let allowed = self.allow.iter().cloned();
        let allowed = allowed.chain(self.yes.then(|| "*".into()));
        let granted: Vec<Pattern> = allowed.map(Pattern).collect();
        let is_plain = self.out.is_none() && !self.no_record && self.max_turns.is_none();
        if is_plain && let [TaskArgument::Prompt(text)] = arguments.as_mut_slice() {
            let prompt = PromptRun {
                text: std::mem::take(text),
                from_input,
                json: self.json,
                model: self.model,
                granted,
            };
            return prompt.run(common).await;
        }
        self.run_tasks(arguments, granted, common).await
    }

    async fn run_tasks(
        self,
        arguments: Vec<TaskArgument>,
        granted: Vec<Pattern>,
        common: &CommonFlags,
    ) -> Result<ExitCode> {
        let tasks = tasks::load(arguments)?;
        let servers = match &self.servers {
            Some(folder) => ServerFolder::read(folder)?,
            None => ServerFolder::default(),
        };
        let tokens = match &self.tokens {
            Some(file) => TokenFile::read(file)?,
            None => TokenFile::default(),
        };
        for note in &servers.notes {
            eprintln!("! {note}");
        }
        for name in &tokens.unread {
            eprintln!("! The token `{name}` is no plain value and was left out.");
        }
        let app = App::open(&common.data, &common.load_config()?).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        let settings = RunSettings {
            model: self.model,
            granted,
            servers,
            tokens: tokens.values,
            variables: self.variables.into_iter().collect(),
            max_turns: self.max_turns,
            out: self.out,
            keeps_chats: !self.no_record,
        };
        let runner = TaskRunner::new(app.clone(), user.clone(), settings);
        if tasks.iter().flatten().any(|task| runner.needs_hub(task)) {
            app.start_embedding();
            app.open_sources(&user).await;
        }
        let batch = TaskBatch::new(runner, self.jobs.clamp(1, MAX_JOBS), self.json, tasks.len());
        let code = batch.run(tasks).await;
        app.sources.close().await;
        code
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("write it as NAME=VALUE".into()),
    }
}
