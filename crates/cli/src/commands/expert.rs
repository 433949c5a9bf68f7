//! `tenon expert`: experts as files. Commands work on the data folder; a server that runs with it
//! sees what they change at once.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Subcommand;
use serde_json::json;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::experts::{
    ExpertView, MODEL_PREFIX, read_expert, with_skill_ids, with_skill_names, write_expert,
};
use tenon_domain::Visibility;

use super::say;
use crate::flags::CommonFlags;

#[derive(Debug, Subcommand)]
pub(super) enum ExpertCommand {
    /// All experts, one a line
    List {
        #[arg(long)]
        json: bool,
    },
    /// Write an expert as YAML to standard output
    Export { name: String },
    /// Add an expert from a file of YAML or JSON, or change your own of the same name
    Import {
        /// `-` for standard input
        file: PathBuf,
        /// Share it with everybody who has an account here
        #[arg(long)]
        team: bool,
    },
}

impl ExpertCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let app = App::open(&common.data, &common.load_config()?).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        match self {
            Self::List { json } => list(&app.experts.list(&user).await?, json)?,
            Self::Export { name } => {
                let expert = app.experts.named(&user.id, &name).await;
                let expert = expert.with_context(|| {
                    format!("{name:?} cannot be exported; `tenon expert list` shows all of them")
                })?;
                let skills = app.skills.list(&user).await?;
                let definition = with_skill_names(expert.definition, &skills);
                say(write_expert(&definition).trim_end());
            }
            Self::Import { file, team } => import(&app, &user, &file, team).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(experts: &[ExpertView], json: bool) -> Result<()> {
    if json {
        say(serde_json::to_string_pretty(experts)?);
        return Ok(());
    }
    let names = experts.iter().map(|expert| expert.definition.name.len());
    let width = names.max().unwrap_or_default();
    for expert in experts {
        let (name, title) = (&expert.definition.name, &expert.definition.title);
        let whose = match expert.visibility {
            _ if expert.builtin => "comes with Tenon",
            Visibility::Team => "the team's",
            Visibility::Private => "private",
        };
        say(format_args!("{name:width$}  {title} ({whose})"));
    }
    Ok(())
}

async fn import(app: &App, user: &CurrentUser, file: &Path, team: bool) -> Result<()> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        std::fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read", file.display()))?
    };
    let visibility = team.then_some(Visibility::Team);
    let skills = app.skills.list(user).await?;
    let definition = with_skill_ids(read_expert(&text)?, &skills)?;
    let imported = app.experts.import(user, visibility, definition).await?;
    let (action, expert) = imported.into_audited();
    let name = &expert.definition.name;
    let detail = json!({"name": name, "visibility": expert.visibility});
    user.note(&app.store, "", action, expert.id.as_str(), detail)
        .await;
    say(format_args!("{MODEL_PREFIX}{name}"));
    Ok(())
}
