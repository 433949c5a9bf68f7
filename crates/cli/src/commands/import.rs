//! `tenon import`: servers out of the configuration people already have.
//!
//! It writes to the store. A server that runs on the same data looks there every few
//! seconds and starts what has come.

mod locations;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use tenon_sources::import::MAX_WITH_DOCUMENTS_BYTES;
use tenon_sources::openapi::bundle::folder::bundled;
use tenon_sources::variables::Variable;

use super::{confirm, say};
use crate::flags::CommonFlags;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::sources::folder::is_source_file;
use tenon_app::sources::{ImportOutcome, ImportReport, SourceError};
use tenon_server::wire::{ImportSources, ImportedSource};

/// Stands for standard input.
const INPUT: &str = "-";

#[derive(Debug, Args)]
pub(super) struct ImportCommand {
    /// Files with servers or OpenAPI documents, folders of such files, the address of an OpenAPI
    /// server, or `-` for standard input; what Claude Desktop, Cursor, Windsurf and VS Code have
    /// here when nothing is given
    #[arg(value_name = "FILE|FOLDER|URL|-")]
    from: Vec<PathBuf>,
    /// Only say what would be added
    #[arg(long)]
    preview: bool,
    /// Add them for yourself alone, not for everybody
    #[arg(long)]
    mine: bool,
    /// Add this one alone; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Do not ask before what was found here is imported
    #[arg(long)]
    yes: bool,
    /// Say it as JSON
    #[arg(long)]
    json: bool,
}

/// What came out of one file.
struct Outcomes {
    file: String,
    servers: Result<Vec<ImportReport>, ImportFileError>,
}

/// Why nothing in a file was looked at.
#[derive(Debug, thiserror::Error)]
enum ImportFileError {
    #[error("{}", super::explain(.0))]
    Unreadable(anyhow::Error),
    #[error("{0}")]
    Refused(SourceError),
}

impl ImportCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let files = match self.from.as_slice() {
            [] => self.found_here()?,
            given => files(given)?,
        };
        let app = App::open(&common.data, &common.load_config()?).await?;
        let user = CurrentUser::of_shell(&app.store).await?;
        let mut all = Vec::new();
        for file in &files {
            let servers = self.import(&app, &user, file).await?;
            let file = file.display().to_string();
            all.push(Outcomes { file, servers });
        }
        if self.json {
            say(serde_json::to_string_pretty(&views(&all))?)
        } else {
            self.tell(&all)
        }
        Ok(code(&all))
    }

    /// What the programs of this user have, once they said yes.
    fn found_here(&self) -> Result<Vec<PathBuf>> {
        let places = locations::existing();
        if places.is_empty() {
            bail!(
                "Claude Desktop, Cursor, Windsurf and VS Code keep no servers here; \
                 say where yours are: tenon import FILE"
            );
        }
        eprintln!("Found here:");
        for place in &places {
            eprintln!("  {:14}  {}", place.product, place.path.display());
        }
        let files = places.into_iter().map(|place| place.path).collect();
        if self.yes || self.preview {
            return Ok(files);
        }
        let nobody = "nothing was imported; say which file, or --yes for all of these";
        if confirm("Import the servers in these files?", nobody)? {
            Ok(files)
        } else {
            bail!("nothing was imported")
        }
    }

    /// The inner error is about the file, the outer one ends everything.
    async fn import(
        &self,
        app: &App,
        user: &CurrentUser,
        file: &Path,
    ) -> Result<Result<Vec<ImportReport>, ImportFileError>> {
        let text = match read(file) {
            Ok(text) => text,
            Err(error) => return Ok(Err(ImportFileError::Unreadable(error))),
        };
        let asked = ImportSources {
            text,
            preview: self.preview,
            mine: Some(self.mine),
            only: (!self.only.is_empty()).then(|| self.only.clone()),
        };
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.filter(|_| file != Path::new(INPUT) && address(file).is_none());
        let imported = match app.sources.import(user, &asked, stem).await {
            Ok(imported) => imported,
            Err(SourceError::Store(error)) => return Err(error.into()),
            Err(refusal) => return Ok(Err(ImportFileError::Refused(refusal))),
        };
        for one in &imported {
            if let (ImportOutcome::Added(id), false) = (&one.outcome, self.preview) {
                let detail = json!({"name": one.name, "mine": self.mine});
                user.note(&app.store, "", "source.added", id.as_str(), detail)
                    .await;
            }
        }
        Ok(Ok(imported))
    }

    fn tell(&self, all: &[Outcomes]) {
        let servers = || {
            all.iter()
                .filter_map(|one| one.servers.as_ref().ok())
                .flatten()
        };
        let width = servers()
            .map(|one| one.name.len())
            .max()
            .unwrap_or_default();
        for outcomes in all {
            let servers = match &outcomes.servers {
                Ok(servers) => servers,
                Err(why) => {
                    eprintln!("{}: {why}", outcomes.file);
                    continue;
                }
            };
            for one in servers {
                let (what, about) = match &one.outcome {
                    ImportOutcome::Added(_) if self.preview => ("would be added", &one.summary),
                    ImportOutcome::Added(_) => ("added", &one.summary),
                    ImportOutcome::There(_) => ("there already", &one.summary),
                    ImportOutcome::Refused(why) => ("refused", &why.message),
                };
                say(format_args!("{what:14}  {:width$}  {about}", one.name));
                for note in &one.notes {
                    say(format_args!("{:14}  {:width$}  {note}", "", ""));
                }
            }
        }
        let unset = wanted(servers());
        if !unset.is_empty() {
            say("\nNot set yet:");
        }
        for (variable, names) in unset {
            let (name, whose) = match &variable {
                Variable::Shared(name) => (name, ""),
                Variable::Personal(name) => (name, " --mine"),
            };
            let names = names.join(", ");
            say(format_args!(
                "  {variable} for {names}: tenon secrets set {name}{whose}"
            ));
        }
    }
}

/// All files: those of a folder by name, as the watched folder has them.
fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in given {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unreadable = || format!("the folder {} cannot be read", path.display());
        let mut inside = Vec::new();
        for entry in path.read_dir().with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            if entry.file_name().to_str().is_some_and(is_source_file) && entry.path().is_file() {
                inside.push(entry.path());
            }
        }
        if inside.is_empty() {
            if path.join("SKILL.md").exists() {
                bail!("{0} is a skill: tenon skill install {0}", path.display());
            }
            bail!("there is no .json or .yaml file in {}", path.display());
        }
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

/// What is no file, but where a server is.
fn address(given: &Path) -> Option<&str> {
    let given = given.to_str()?;
    let is_address = given.starts_with("http://") || given.starts_with("https://");
    is_address.then_some(given)
}

/// One byte more than may be read, so that too long is noticed.
fn read(file: &Path) -> Result<String> {
    let mut text = String::new();
    let most = MAX_WITH_DOCUMENTS_BYTES as u64 + 1;
    if let Some(address) = address(file) {
        return Ok(address.to_owned());
    }
    if file == Path::new(INPUT) {
        let input = std::io::stdin().take(most).read_to_string(&mut text);
        input.context("standard input cannot be read")?;
    } else {
        let opened = std::fs::File::open(file).context("it cannot be read")?;
        let read = opened.take(most).read_to_string(&mut text);
        read.context("it cannot be read")?;
        // A description may be in several files.
        text = bundled(file, text);
    }
    Ok(text)
}

/// Each variable that is not set, with the servers that want it.
fn wanted<'a>(servers: impl Iterator<Item = &'a ImportReport>) -> Vec<(Variable, Vec<&'a str>)> {
    let mut wanted: Vec<(Variable, Vec<&str>)> = Vec::new();
    for one in servers.filter(|one| !matches!(one.outcome, ImportOutcome::Refused(_))) {
        for variable in &one.unset {
            match wanted.iter_mut().find(|(known, _)| known == variable) {
                Some((_, names)) => names.push(&one.name),
                None => wanted.push((variable.clone(), vec![&one.name])),
            }
        }
    }
    wanted
}

/// Well, unless a file could not be read, a server was refused or there was none: a script
/// goes on only with everything it asked for.
fn code(all: &[Outcomes]) -> ExitCode {
    let servers = || {
        all.iter()
            .filter_map(|one| one.servers.as_ref().ok())
            .flatten()
    };
    let refused = |one: &ImportReport| matches!(one.outcome, ImportOutcome::Refused(_));
    let is_read = all.iter().all(|one| one.servers.is_ok());
    let is_taken = servers().next().is_some() && !servers().any(refused);
    if is_read && is_taken {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[derive(Serialize)]
struct View {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    servers: Vec<ImportedSource>,
}

fn views(all: &[Outcomes]) -> Vec<View> {
    let view = |one: &Outcomes| View {
        file: one.file.clone(),
        error: one.servers.as_ref().err().map(ToString::to_string),
        servers: match &one.servers {
            Ok(servers) => servers.iter().cloned().map(Into::into).collect(),
            Err(_) => Vec::new(),
        },
    };
    all.iter().map(view).collect()
}
