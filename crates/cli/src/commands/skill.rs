//! `tenon skill`: skills, installed from folders and archives. Commands work on the data folder; a
//! server that runs with it sees what they change at once.

mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::json;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::skills::{SkillInput, SkillInstall, SkillView};
use tenon_domain::{SourceState, Visibility};
use tenon_sources::skill::package::template::SkillTemplate;

use super::{confirm, say};
use crate::flags::CommonFlags;

const NOBODY_TO_ASK: &str = "nobody can be asked here; say so with --yes";

#[derive(Debug, Subcommand)]
pub(super) enum SkillCommand {
    /// Install the skills of a folder, a Git checkout, an archive or a SKILL.md; installed ones are
    /// updated
    Install {
        path: PathBuf,
        /// Agree to what it runs and asks for, the network included
        #[arg(long, short)]
        yes: bool,
        /// For yourself alone
        #[arg(long)]
        private: bool,
        #[arg(long)]
        json: bool,
    },
    /// All skills, one a line
    List {
        #[arg(long)]
        json: bool,
    },
    /// What a skill has, runs and asks for
    Show {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Read a skill again from where it was installed from
    Update {
        name: String,
        #[arg(long, short)]
        yes: bool,
    },
    /// Remove a skill with its settings
    Remove {
        name: String,
        #[arg(long, short)]
        yes: bool,
    },
    /// Write a new skill that works, to begin with
    New {
        name: String,
        /// python, node, http or instructions
        #[arg(long, default_value = "python", value_parser = template)]
        template: SkillTemplate,
        /// Where; a folder of this name otherwise
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// Check a skill, and call its tools with the `examples` of their parameters
    Test {
        path: PathBuf,
        /// Call this tool alone
        #[arg(long)]
        tool: Option<String>,
        /// With these arguments, as JSON
        #[arg(long, requires = "tool")]
        arguments: Option<String>,
    },
}

impl SkillCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        if let Self::New {
            name,
            template,
            dir,
        } = &self
        {
            new(name, *template, dir.as_deref())?;
            return Ok(ExitCode::SUCCESS);
        }
        let app = App::open(&common.data, &common.load_config()?).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        match self {
            Self::New { .. } => {}
            Self::Install {
                path,
                yes,
                private,
                json,
            } => {
                let input = SkillInput {
                    path: Some(path.display().to_string()),
                    ..SkillInput::default()
                };
                let install = SkillInstall {
                    input,
                    visibility: private.then_some(Visibility::Private),
                    allow_network: Some(true),
                    hashes: None,
                };
                return install_all(&app, &user, install, yes, json).await;
            }
            Self::Update { name, yes } => {
                let skill = named(&app, &user, &name).await?;
                let install = SkillInstall {
                    input: SkillInput {
                        skill_id: Some(skill.id),
                        ..SkillInput::default()
                    },
                    allow_network: Some(true),
                    ..SkillInstall::default()
                };
                return install_all(&app, &user, install, yes, false).await;
            }
            Self::List { json } => show::list(&app.skills.list(&user).await?, json)?,
            Self::Show { name, json } => {
                let skill = named(&app, &user, &name).await?;
                show::detail(&app.skills.show(&user, &skill.id).await?, json)?;
            }
            Self::Remove { name, yes } => {
                let skill = named(&app, &user, &name).await?;
                if !yes
                    && !confirm(
                        &format!("Remove {} with its settings?", skill.title),
                        NOBODY_TO_ASK,
                    )?
                {
                    bail!("nothing was removed");
                }
                app.skills.remove(&user, &skill.id).await?;
                let (id, detail) = (skill.id.as_str(), json!({"name": skill.name}));
                user.note(&app.store, "", "skill.removed", id, detail).await;
                say(format_args!("Removed {}.", skill.name));
            }
            Self::Test {
                path,
                tool,
                arguments,
            } => {
                let arguments = arguments.as_deref().map(serde_json::from_str).transpose();
                let arguments = arguments.context("the arguments are not JSON")?;
                return test(&app, &user, &path, tool.as_deref(), arguments).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn template(name: &str) -> Result<SkillTemplate, String> {
    SkillTemplate::from_name(name).ok_or_else(|| {
        let names = SkillTemplate::ALL.map(SkillTemplate::name);
        format!("choose one of {}", names.join(", "))
    })
}

/// Shows what is to be installed, asks, installs, and waits until it can be used.
async fn install_all(
    app: &App,
    user: &CurrentUser,
    mut install: SkillInstall,
    yes: bool,
    json: bool,
) -> Result<ExitCode> {
    let preview = app.skills.preview(user, install.input.clone()).await?;
    for refused in &preview.refused {
        let line = refused.line.map(|line| format!(":{line}"));
        eprintln!(
            "Not installed: {}{}: {}",
            Path::new(&refused.folder).join(&refused.file).display(),
            line.unwrap_or_default(),
            refused.message
        );
    }
    if preview.skills.is_empty() {
        bail!("no skill can be installed from there");
    }
    for skill in &preview.skills {
        show::preview(skill);
    }
    if preview.skills.iter().all(|skill| skill.diff.is_empty()) {
        eprintln!("Nothing has changed.");
    } else if !yes && !confirm("Install this?", NOBODY_TO_ASK)? {
        bail!("nothing was installed");
    }
    // What was shown is what is installed, though the folder may change meanwhile.
    install.hashes = Some(preview.skills.into_iter().map(|skill| skill.hash).collect());
    let installed = app.skills.install(user, install).await?;
    let mut code = match preview.refused.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    };
    for skill in &installed {
        let detail = json!({"name": skill.name, "hash": skill.hash});
        user.note(&app.store, "", "skill.installed", skill.id.as_str(), detail)
            .await;
        let state = app.skills.settled(&skill.id, |line| eprintln!("  {line}"));
        match state.await {
            SourceState::Failed { why } => {
                eprintln!("{} cannot be used yet: {}", skill.name, why.message);
                code = ExitCode::FAILURE;
            }
            SourceState::Degraded { why } => {
                eprintln!("{}: {}", skill.name, why.message);
                code = ExitCode::FAILURE;
            }
            SourceState::Starting
            | SourceState::Ready
            | SourceState::Sleeping
            | SourceState::Off
            | SourceState::Offline => {}
        }
    }
    if json {
        say(serde_json::to_string_pretty(&installed)?);
    } else {
        installed.iter().for_each(show::installed);
    }
    Ok(code)
}

/// One that the user of the shell sees, by its name or id.
async fn named(app: &App, user: &CurrentUser, name: &str) -> Result<SkillView> {
    let skills = app.skills.list(user).await?;
    let found = skills
        .into_iter()
        .find(|skill| skill.name == name || skill.id.as_str() == name);
    found.with_context(|| {
        format!("there is no skill {name:?}; `tenon skill list` shows all of them")
    })
}

fn new(name: &str, template: SkillTemplate, dir: Option<&Path>) -> Result<()> {
    let files = template.files(name)?;
    let folder = dir.map_or_else(|| PathBuf::from(name), Path::to_owned);
    if folder.exists() {
        bail!(
            "{} is there already; say --dir for another folder",
            folder.display()
        );
    }
    files.write_to(&folder)?;
    say(format_args!("{}", folder.display()));
    eprintln!(
        "Change it, then: tenon skill test {0} && tenon skill install {0}",
        folder.display()
    );
    Ok(())
}

async fn test(
    app: &App,
    user: &CurrentUser,
    path: &Path,
    tool: Option<&str>,
    arguments: Option<serde_json::Value>,
) -> Result<ExitCode> {
    let input = SkillInput {
        path: Some(path.display().to_string()),
        ..SkillInput::default()
    };
    let report = app.skills.test(user, input, tool, arguments).await?;
    for skill in &report.skills {
        show::tested(skill);
    }
    for refused in &report.refused {
        let line = refused.line.map(|line| format!(":{line}"));
        eprintln!(
            "✗ {}{}: {}",
            refused.file,
            line.unwrap_or_default(),
            refused.message
        );
    }
    Ok(if report.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
