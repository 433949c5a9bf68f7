//! Servers out of a text somebody has from elsewhere, each added or refused on its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tenon_domain::{SourceConfig, SourceId, SourceKind, UserId};
use tenon_sources::apart::turn;
use tenon_sources::import::{self, Found, Reading};
use tenon_sources::variables::{Variable, misplaced, unset};
use tenon_store::{NewSource, StoredSource};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Sources;
use super::check;
use super::documents::{Given, given_to};
use super::edit::{Refusal, trust, wrong};
use super::entry::Entry;
use super::merge::kept;
use super::openapi::{ApiDraft, check_length};
use super::plan::Trust;
use super::secrets::secret_name;
use crate::api::wire::{ImportSources, ImportedSource};
use crate::auth::CurrentUser;

/// Longer than what somebody imports at once takes to be read.
const TURN_DEADLINE: Duration = Duration::from_secs(60);

/// What became of one server of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub name: String,
    /// How it is reached, in a line; empty where that is not known.
    pub summary: String,
    pub outcome: Outcome,
    /// The variables in it that nobody has set yet, as secrets are named.
    pub unset: Vec<Variable>,
    /// What was left out or changed, as sentences.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was added; in a preview, it would be.
    Added(SourceId),
    /// The same server was there already.
    There(SourceId),
    /// Why it was not added, as a sentence.
    Refused(String),
}

/// What is known before the first one is looked at.
struct Desk<'a> {
    user: &'a CurrentUser,
    owner: Option<&'a UserId>,
    preview: bool,
    rows: Vec<StoredSource>,
    secrets: BTreeSet<(Option<UserId>, String)>,
}

impl Sources {
    /// Adds the servers of a text. One without a name is called as its `file` is.
    pub async fn import(
        &self,
        user: &CurrentUser,
        asked: &ImportSources,
        file: Option<&str>,
    ) -> Result<Vec<Imported>, Refusal> {
        check_length(user, "text", asked.text.as_bytes())?;
        let turns = self.parses(Some(&user.id));
        let reading = read(&turns, asked.text.clone(), file.map(str::to_owned)).await?;
        let mine = asked.mine.unwrap_or_else(|| !user.administers());
        let secrets = self.0.store.secrets().await?.into_iter();
        let desk = Desk {
            user,
            owner: mine.then_some(&user.id),
            preview: asked.preview,
            rows: self.0.store.sources().await?,
            secrets: secrets.map(|secret| (secret.owner, secret.name)).collect(),
        };
        let is_asked_for = |found: &Found| match &asked.only {
            Some(names) => names.contains(&found.name),
            None => true,
        };
        let mut imported = Vec::new();
        for found in reading.servers.into_iter().filter(is_asked_for) {
            imported.push(self.import_one(&desk, found).await?);
        }
        if !asked.preview {
            self.sync().await;
        }
        Ok(imported)
    }

    async fn import_one(&self, desk: &Desk<'_>, found: Found) -> Result<Imported, Refusal> {
        let config = found.config.clone();
        let outcome = match config.clone().map_err(Refusal::Wrong) {
            Ok(config) => self.outcome(desk, &found, config).await,
            Err(refusal) => Err(refusal),
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(Refusal::Wrong(why) | Refusal::Forbidden(why) | Refusal::Unreachable(why)) => {
                Outcome::Refused(why)
            }
            Err(Refusal::Unread(unread)) => Outcome::Refused(unread.why),
            Err(Refusal::Idle(why)) => Outcome::Refused(why.to_owned()),
            // Somebody else was quicker.
            Err(Refusal::Store(tenon_store::Error::Taken(_))) => {
                Outcome::Refused(taken(&found.name))
            }
            Err(Refusal::Store(error)) => return Err(error.into()),
        };
        let config = config.ok();
        let unset = config.as_ref().map(|config| desk.unset(config));
        let mut notes = found.notes;
        notes.extend(config.as_ref().and_then(misplaced));
        Ok(Imported {
            summary: config.as_ref().map(import::summary).unwrap_or_default(),
            name: found.name,
            outcome,
            unset: unset.unwrap_or_default(),
            notes,
        })
    }

    async fn outcome(
        &self,
        desk: &Desk<'_>,
        found: &Found,
        config: SourceConfig,
    ) -> Result<Outcome, Refusal> {
        let name = check::name(&found.name)?;
        let title = check::title(Some(&found.title), name)?;
        let (kind, config, document) = match config {
            SourceConfig::Mcp(config) => {
                let config = kept(&config).config()?;
                (SourceKind::Mcp, SourceConfig::Mcp(config), None)
            }
            SourceConfig::Openapi(config) => {
                let config = SourceConfig::Openapi(ApiDraft::found(&config).config()?);
                let document = found.document.as_ref().zip(given_to(&config));
                let document = document.map(|(body, hash)| Given {
                    hash: hash.clone(),
                    body: body.to_vec(),
                });
                (SourceKind::Openapi, config, document)
            }
        };
        self.may_keep(desk.user, desk.owner, &config).await?;
        let same = |row: &&StoredSource| row.owner.as_ref() == desk.owner && row.name == name;
        if let Some(row) = desk.rows.iter().find(same) {
            let there = Entry::of_row(row, &self.0.vault);
            return Ok(match there.config == Ok(config) {
                true => Outcome::There(row.id.clone()),
                false => Outcome::Refused(taken(name)),
            });
        }
        let new = NewSource {
            kind,
            name,
            title: &title,
            owner: desk.owner,
            enabled: found.enabled,
        };
        if desk.preview {
            if let Some(document) = document {
                self.check_document(desk.user, document.body, true).await?;
            }
            return Ok(Outcome::Added(new.id()));
        }
        let keeping = self.keep(new, &config);
        let id = self.with_document(desk.user, document, keeping).await?;
        Ok(Outcome::Added(id))
    }
}

impl Desk<'_> {
    fn unset(&self, config: &SourceConfig) -> Vec<Variable> {
        let has = |owner: Option<&UserId>, name: &str| {
            self.secrets.contains(&(owner.cloned(), name.to_owned()))
        };
        let is_set = |variable: &Variable| match variable {
            Variable::Personal(name) => has(Some(&self.user.id), name),
            Variable::Shared(name) => {
                trust(self.user) == Trust::Full
                    && (has(None, name) || std::env::var_os(name).is_some())
            }
        };
        unset(config, &|variable| is_set(variable).then(String::new))
    }
}

impl From<Imported> for ImportedSource {
    fn from(imported: Imported) -> Self {
        let (id, refused) = match imported.outcome {
            Outcome::Added(id) => (Some(id), None),
            Outcome::There(_) => (None, Some("It is there already.".into())),
            Outcome::Refused(why) => (None, Some(why)),
        };
        Self {
            name: imported.name,
            summary: imported.summary,
            id,
            refused,
            unset: imported.unset.iter().map(secret_name).collect(),
            notes: imported.notes,
        }
    }
}

/// On the side and not many of one person at once: a document may be long.
async fn read(
    turns: &Arc<Semaphore>,
    text: String,
    file: Option<String>,
) -> Result<Reading, Refusal> {
    let turn = timeout(TURN_DEADLINE, turn(turns)).await;
    let turn = turn.map_err(|_elapsed| {
        wrong("Others of your imports are still being read. Try again when they are done.")
    })?;
    let work =
        turn.work(move || import::read(&text, file.as_deref()).map_err(|error| error.to_string()));
    work.await.map_err(Refusal::Wrong)
}

fn taken(name: &str) -> String {
    format!(
        "Another server is called `{name}` already. Remove that one, or give this one another name."
    )
}
