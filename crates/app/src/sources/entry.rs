//! A configured source: a row of the store, or a part of a file.

use tenon_domain::{CodedError, ErrorDetail, SourceConfig, SourceId, SourceKind, UserId};
use tenon_sources::import::ImportedServer;
use tenon_sources::variables::{Variable, mentioned};
use tenon_store::{StoredSource, Vault};

use super::check;
use super::config;
use super::input_error::SourceInputError;
use crate::sources::read_model::SourceOrigin;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceEntry {
    pub(super) id: SourceId,
    pub(super) kind: SourceKind,
    pub(super) name: String,
    pub(super) title: String,
    /// None: everybody's.
    pub(super) owner: Option<UserId>,
    pub(super) origin: SourceOrigin,
    pub(super) enabled: bool,
    pub(super) wants_login: bool,
    /// An admin trusts what it says of its own tools.
    pub(super) trust_hints: bool,
    /// An error if the sealed configuration cannot be decrypted.
    pub(super) config: Result<SourceConfig, ErrorDetail>,
    /// What is worth knowing about how it is written.
    pub(super) notes: Vec<ErrorDetail>,
}

impl SourceEntry {
    pub(super) fn of_row(row: &StoredSource, vault: &Vault) -> Self {
        Self {
            id: row.id.clone(),
            kind: row.kind,
            name: row.name.clone(),
            title: row.title.clone(),
            owner: row.owner.clone(),
            origin: SourceOrigin::Added,
            enabled: row.enabled,
            wants_login: row.wants_login,
            trust_hints: row.trust_hints,
            config: open(row, vault),
            notes: Vec::new(),
        }
    }

    pub(super) fn of_file(file: &str, found: &ImportedServer, wants_login: bool) -> Self {
        Self {
            id: SourceId(format!("file-{}", found.name)),
            kind: match &found.config {
                Ok(SourceConfig::Openapi(_)) => SourceKind::Openapi,
                Ok(SourceConfig::Mcp(_)) | Err(_) => SourceKind::Mcp,
            },
            name: found.name.clone(),
            title: found.title.clone(),
            owner: None,
            origin: SourceOrigin::File {
                file: file.to_owned(),
            },
            enabled: found.enabled,
            wants_login,
            trust_hints: false,
            config: found
                .config
                .clone()
                .map_err(ErrorDetail::from)
                .and_then(|config| {
                    check::keeps_shared_secrets(&config)?;
                    Ok(config)
                }),
            notes: found.notes.clone(),
        }
    }

    pub(super) fn variables(&self) -> Vec<Variable> {
        self.config.as_ref().map(mentioned).unwrap_or_default()
    }

    /// The secrets that everybody who uses it has to have of their own.
    pub(super) fn personal_secrets(&self) -> Vec<String> {
        let variables = self.variables().into_iter();
        let personal = variables.filter_map(|variable| match variable {
            Variable::Personal(name) => Some(name),
            Variable::Shared(_) => None,
        });
        personal.collect()
    }

    /// Whether each person has a server of their own.
    pub(super) fn is_personal(&self) -> bool {
        self.wants_login || !self.personal_secrets().is_empty()
    }

    pub(super) fn is_seen_by(&self, user: &UserId) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner == user)
    }
}

/// The associated data that a configuration is sealed with.
pub(super) fn about(id: &SourceId) -> String {
    format!("source:{id}")
}

fn open(row: &StoredSource, vault: &Vault) -> Result<SourceConfig, ErrorDetail> {
    let opened = vault.open_sealed(&about(&row.id), &row.sealed_config);
    let opened = opened.map_err(|error| error.detail())?;
    config::read(row.kind, &opened).ok_or_else(|| SourceInputError::OtherVersion.into())
}
