//! Sources from a text in the format of another program, each added or refused on its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tenon_domain::{CodedError, ErrorDetail, SourceConfig, SourceId, SourceKind, UserId};
use tenon_sources::import::{self, ImportResult, ImportedServer};
use tenon_sources::parse_queue::acquire;
use tenon_sources::variables::{Variable, misplaced, unset};
use tenon_store::{NewSourceRow, StoredSource};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Sources;
use super::check;
use super::documents::{UploadedDocument, uploaded_hash};
use super::entry::SourceEntry;
use super::error::SourceError;
use super::input_error::SourceInputError;
use super::merge::to_draft;
use super::openapi::{OpenapiDraft, check_length};
use super::rights::trust;
use super::secrets::secret_name;
use super::trust::Trust;
use crate::auth::CurrentUser;
use crate::sources::read_model::ImportedSource;
use crate::sources::requests::ImportSources;

/// Longer than what somebody imports at once takes to be read.
const TURN_DEADLINE: Duration = Duration::from_secs(60);

/// What became of one server of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    pub name: String,
    /// How it is reached, in a line; empty where that is not known.
    pub summary: String,
    pub outcome: ImportOutcome,
    /// The variables in it that nobody has set yet, as secrets are named.
    pub unset: Vec<Variable>,
    /// What was left out or changed.
    pub notes: Vec<ErrorDetail>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It was added; in a preview, it would be.
    Added(SourceId),
    /// The same server was there already.
    There(SourceId),
    /// Why it was not added.
    Refused(ErrorDetail),
}

/// What is known before the first one is looked at.
struct ImportContext<'a> {
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
    ) -> Result<Vec<ImportReport>, SourceError> {
        check_length(user, "text", asked.text.as_bytes())?;
        let turns = self.parses(Some(&user.id));
        let reading = read(&turns, asked.text.clone(), file.map(str::to_owned)).await?;
        let mine = asked.mine.unwrap_or_else(|| !user.administers());
        let secrets = self.0.store.secrets().await?.into_iter();
        let context = ImportContext {
            user,
            owner: mine.then_some(&user.id),
            preview: asked.preview,
            rows: self.0.store.sources().await?,
            secrets: secrets.map(|secret| (secret.owner, secret.name)).collect(),
        };
        let is_asked_for = |found: &ImportedServer| match &asked.only {
            Some(names) => names.contains(&found.name),
            None => true,
        };
        let mut imported = Vec::new();
        for found in reading.servers.into_iter().filter(is_asked_for) {
            imported.push(self.import_one(&context, found).await?);
        }
        if !asked.preview {
            self.sync().await;
        }
        Ok(imported)
    }

    async fn import_one(
        &self,
        context: &ImportContext<'_>,
        found: ImportedServer,
    ) -> Result<ImportReport, SourceError> {
        let outcome = match found.config.clone() {
            Ok(config) => self.outcome(context, &found, config).await,
            Err(refusal) => Err(SourceError::Invalid(refusal.into())),
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // Somebody else was quicker.
            Err(SourceError::Store(tenon_store::Error::Taken(_))) => {
                ImportOutcome::Refused(taken(&found.name))
            }
            Err(SourceError::Store(error)) => return Err(error.into()),
            Err(refusal) => ImportOutcome::Refused(refusal.detail()),
        };
        let config = found.config.ok();
        let unset = config.as_ref().map(|config| context.unset(config));
        let mut notes = found.notes;
        let misplaced = config.as_ref().and_then(misplaced);
        notes.extend(misplaced.map(ErrorDetail::from));
        Ok(ImportReport {
            summary: config.as_ref().map(import::summary).unwrap_or_default(),
            name: found.name,
            outcome,
            unset: unset.unwrap_or_default(),
            notes,
        })
    }

    async fn outcome(
        &self,
        context: &ImportContext<'_>,
        found: &ImportedServer,
        config: SourceConfig,
    ) -> Result<ImportOutcome, SourceError> {
        let name = check::name(&found.name)?;
        let title = check::title(Some(&found.title), name)?;
        let (kind, config, document) = match config {
            SourceConfig::Mcp(config) => {
                let config = to_draft(&config).config()?;
                (SourceKind::Mcp, SourceConfig::Mcp(config), None)
            }
            SourceConfig::Openapi(config) => {
                let config = SourceConfig::Openapi(OpenapiDraft::found(&config).config()?);
                let document = found.document.as_ref().zip(uploaded_hash(&config));
                let document = document.map(|(body, hash)| UploadedDocument {
                    hash: hash.clone(),
                    body: body.to_vec(),
                });
                (SourceKind::Openapi, config, document)
            }
        };
        self.check_may_add(context.user, context.owner, &config)
            .await?;
        let same = |row: &&StoredSource| row.owner.as_ref() == context.owner && row.name == name;
        if let Some(row) = context.rows.iter().find(same) {
            let there = SourceEntry::of_row(row, &self.0.vault);
            return Ok(if there.config == Ok(config) {
                ImportOutcome::There(row.id.clone())
            } else {
                ImportOutcome::Refused(taken(name))
            });
        }
        let new = NewSourceRow {
            kind,
            name,
            title: &title,
            owner: context.owner,
            enabled: found.enabled,
            // Whoever wrote the text is not the admin who pastes it.
            trust_hints: false,
        };
        if context.preview {
            if let Some(document) = document {
                self.check_document(context.user, document.body, true)
                    .await?;
            }
            return Ok(ImportOutcome::Added(new.id()));
        }
        let keeping = self.keep(new, &config);
        let id = self.with_document(context.user, document, keeping).await?;
        Ok(ImportOutcome::Added(id))
    }
}

impl ImportContext<'_> {
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

impl From<ImportReport> for ImportedSource {
    fn from(imported: ImportReport) -> Self {
        let (id, refused) = match imported.outcome {
            ImportOutcome::Added(id) => (Some(id), None),
            ImportOutcome::There(_) => (None, Some(SourceInputError::ImportThere.into())),
            ImportOutcome::Refused(why) => (None, Some(why)),
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
) -> Result<ImportResult, SourceError> {
    let slot = timeout(TURN_DEADLINE, acquire(turns)).await;
    let slot = slot.map_err(|_elapsed| SourceInputError::ImportBusy)?;
    let work = slot.run(move || import::read(&text, file.as_deref()).map_err(ErrorDetail::from));
    work.await.map_err(SourceError::Invalid)
}

fn taken(name: &str) -> ErrorDetail {
    let name = name.into();
    SourceInputError::ImportTaken { name }.into()
}
