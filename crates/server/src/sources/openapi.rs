//! How somebody wants an OpenAPI server to be reached, and what it would offer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tenon_domain::{Credential, OpenapiConfig, OpenapiOrigin, SourceConfig};
use tenon_sources::openapi::document::hash;
use tenon_sources::openapi::{Caller, Change, Preview, preview, preview_document};
use tokio::sync::Semaphore;

use super::check;
use super::documents;
use super::edit::{Refusal, may_be, trust, wrong};
use super::fill::filled;
use super::mask;
use super::merge;
use super::plan::Trust;
use super::{Network, Sources};
use crate::api::wire::{CredentialKind, NewSource, SourceChange};
use crate::auth::CurrentUser;

/// As long as the longest descriptions there are.
const MAX_DOCUMENT: usize = 32 * 1024 * 1024;

/// What somebody who is no admin may leave here.
const MAX_OWN_DOCUMENT: usize = 4 * 1024 * 1024;

const MAX_CREDENTIALS: usize = 50;

/// Everything that can be said, before it is known to make sense.
#[derive(Default)]
pub(super) struct ApiDraft {
    pub(super) url: Option<String>,
    pub(super) document: Option<Vec<u8>>,
    pub(super) base_url: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) credentials: BTreeMap<String, Credential>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) tool_timeouts_ms: BTreeMap<String, u64>,
    /// The document that is kept already.
    pub(super) kept: Option<String>,
}

impl ApiDraft {
    pub(super) fn of(new: NewSource) -> Result<Self, Refusal> {
        let strange = [
            ("transport", new.transport.is_some()),
            ("command", new.command.is_some()),
            ("args", new.args.is_some()),
            ("env", new.env.is_some()),
            ("cwd", new.cwd.is_some()),
            ("sleepAfterMs", new.sleep_after_ms.is_some()),
            ("clientId", new.client_id.is_some()),
            ("clientSecret", new.client_secret.is_some()),
        ];
        if let Some((field, _)) = strange.iter().find(|(_, is_given)| *is_given) {
            return Err(wrong(&format!(
                "`{field}` is for MCP servers; an OpenAPI server has none. Leave it out."
            )));
        }
        Ok(Self {
            url: new.url,
            document: new.document.map(written).transpose()?,
            base_url: new.base_url,
            headers: new.headers.unwrap_or_default(),
            credentials: new.credentials.unwrap_or_default(),
            timeout_ms: new.timeout_ms,
            tool_timeouts_ms: new.tool_timeouts_ms.unwrap_or_default(),
            kept: None,
        })
    }

    /// What somebody has from elsewhere, with the document that came along.
    pub(super) fn found(config: &OpenapiConfig, document: Option<&[u8]>) -> Self {
        let (url, kept) = match &config.origin {
            OpenapiOrigin::Url { url } => (Some(url.clone()), None),
            OpenapiOrigin::Given { document_hash } => (None, Some(document_hash.clone())),
        };
        Self {
            url,
            document: document.map(<[u8]>::to_vec),
            base_url: config.base_url.clone(),
            headers: config.headers.clone(),
            credentials: config.credentials.clone(),
            timeout_ms: config.timeout_ms,
            tool_timeouts_ms: config.tool_timeouts_ms.clone(),
            kept,
        }
    }

    /// What a change makes of how a server is reached.
    pub(super) fn changed(old: &OpenapiConfig, change: SourceChange) -> Result<Self, Refusal> {
        let (old_url, kept) = match &old.origin {
            OpenapiOrigin::Url { url } => (Some(url), None),
            OpenapiOrigin::Given { document_hash } => (None, Some(document_hash.clone())),
        };
        let url = match (change.url, old_url) {
            (Some(given), Some(old)) => Some(mask::unmask_url(&given, old).ok_or_else(elsewhere)?),
            (Some(given), None) => Some(given),
            (None, _) if change.document.is_some() => None,
            (None, old) => old.cloned(),
        };
        let base_url = match (change.base_url, &old.base_url) {
            (None, old) => old.clone(),
            (Some(None), _) => None,
            (Some(Some(given)), None) => Some(given),
            (Some(Some(given)), Some(old)) => {
                Some(mask::unmask_url(&given, old).ok_or_else(elsewhere)?)
            }
        };
        // A secret that was given to one server is not sent to another.
        let led = |url: Option<&String>, base: Option<&String>| base.or(url).cloned();
        let before = led(old_url, old.base_url.as_ref());
        let after = led(url.as_ref(), base_url.as_ref());
        let moves = change.document.is_some()
            || match (&before, &after) {
                (Some(before), Some(after)) => !mask::same_origin(before, after),
                (before, after) => before != after,
            };
        let headers = change.headers.unwrap_or_else(|| mask::hide(&old.headers));
        let keeps = headers.values().any(Option::is_none)
            || match &change.credentials {
                Some(given) => given.values().any(Option::is_none),
                None => !old.credentials.is_empty(),
            };
        if moves && keeps {
            return Err(elsewhere());
        }
        let credentials = match change.credentials {
            None => old.credentials.clone(),
            Some(given) => revealed(given, &old.credentials)?,
        };
        let is_given = url.is_none() && change.document.is_none();
        Ok(Self {
            url,
            document: change.document.map(written).transpose()?,
            base_url,
            headers: merge::reveal(headers, &old.headers)?,
            credentials,
            timeout_ms: change.timeout_ms.unwrap_or(old.timeout_ms),
            tool_timeouts_ms: change
                .tool_timeouts_ms
                .unwrap_or_else(|| old.tool_timeouts_ms.clone()),
            kept: kept.filter(|_| is_given),
        })
    }

    /// The configuration it means, and the document that has to be kept for it.
    pub(super) fn config(self) -> Result<(OpenapiConfig, Option<Vec<u8>>), Refusal> {
        check::times(self.timeout_ms, &self.tool_timeouts_ms)?;
        check::headers(&self.headers)?;
        check_credentials(&self.credentials)?;
        let origin = match (self.url.as_deref(), &self.document, self.kept) {
            (Some(_), Some(_), _) => {
                return Err(wrong(
                    "Say either `url`, where the document is, or `document`, which is it, not both.",
                ));
            }
            (Some(url), None, _) => OpenapiOrigin::Url {
                url: check::url("url", url)?,
            },
            (None, Some(document), _) => OpenapiOrigin::Given {
                document_hash: hash(document),
            },
            (None, None, Some(document_hash)) => OpenapiOrigin::Given { document_hash },
            (None, None, None) => {
                return Err(wrong(
                    "Say where its document is: `url`, or give it: `document`.",
                ));
            }
        };
        let base_url = self.base_url.filter(|url| !url.trim().is_empty());
        let base_url = base_url
            .map(|url| check::url("baseUrl", &url))
            .transpose()?;
        let config = OpenapiConfig {
            origin,
            base_url,
            headers: self.headers,
            credentials: self.credentials,
            timeout_ms: self.timeout_ms,
            tool_timeouts_ms: self.tool_timeouts_ms,
        };
        check::size(&config)?;
        Ok((config, self.document))
    }
}

impl Sources {
    /// What a server would offer, before it is saved.
    pub async fn preview(&self, user: &CurrentUser, new: NewSource) -> Result<Preview, Refusal> {
        if new.kind != "openapi" {
            return Err(wrong(
                "Only OpenAPI servers can be looked at before: `kind` is \"openapi\".",
            ));
        }
        let mine = new.mine.unwrap_or_else(|| !user.administers());
        let (config, document) = ApiDraft::of(new)?.config()?;
        let owner = mine.then_some(&user.id);
        let wrapped = SourceConfig::Openapi(config.clone());
        may_be(user, owner, &wrapped)?;
        if let Some(document) = document {
            check_length(user, &document)?;
            let previewed = preview_document(document, &self.0.parses).await;
            return previewed.map_err(Refusal::Wrong);
        }
        let trust = trust(user);
        let filled = filled(&self.0, &config, Some(&user.id), trust).await;
        let filled = filled.map_err(|why| Refusal::Wrong(why.to_string()))?;
        let caller = self.caller_for(user).map_err(Refusal::Wrong)?;
        let previewed = preview(filled, &caller, &self.0.parses).await;
        previewed.map_err(Refusal::Wrong)
    }

    /// Who sends requests to servers that this person chooses.
    pub fn caller_for(&self, user: &CurrentUser) -> Result<Caller, String> {
        self.0.callers.of(match trust(user) {
            Trust::Full => Network::Anywhere,
            Trust::Own => Network::PublicOnly,
        })
    }

    /// How many documents are read into tools at once.
    pub fn parses(&self) -> Arc<Semaphore> {
        self.0.parses.clone()
    }

    /// Keeps a document that somebody gave, once it is known to be one.
    pub(super) async fn take_document(
        &self,
        user: &CurrentUser,
        document: Option<Vec<u8>>,
    ) -> Result<(), Refusal> {
        let Some(document) = document else {
            return Ok(());
        };
        self.check_document(user, &document).await?;
        documents::keep_given(&self.0.store, &document).await?;
        Ok(())
    }

    /// Whether somebody may leave it here, and it is one.
    pub(super) async fn check_document(
        &self,
        user: &CurrentUser,
        document: &[u8],
    ) -> Result<(), Refusal> {
        check_length(user, document)?;
        let seen = preview_document(document.to_vec(), &self.0.parses).await;
        seen.map(drop).map_err(Refusal::Wrong)
    }

    /// Forgets a document that somebody gave, unless another server has the same.
    pub(super) async fn forget_document(&self, config: &SourceConfig) -> Result<(), Refusal> {
        let Some(document_hash) = documents::given_to(config) else {
            return Ok(());
        };
        let rows = self.0.store.sources().await?;
        let vault = &self.0.vault;
        let has_it = |config: &Result<SourceConfig, String>| {
            let config = config.as_ref().ok();
            config.and_then(documents::given_to) == Some(document_hash)
        };
        let in_rows = rows
            .iter()
            .any(|row| has_it(&super::entry::Entry::of_row(row, vault).config));
        let in_files = || {
            let files = super::lock(&self.0.files);
            files.values().flatten().any(|found| has_it(&found.config))
        };
        if !in_rows && !in_files() {
            documents::forget_given(&self.0.store, document_hash).await?;
        }
        Ok(())
    }

    /// Reads the document of a server now, and says what is different.
    pub async fn refresh(
        &self,
        user: &CurrentUser,
        id: &tenon_domain::SourceId,
    ) -> Result<Change, Refusal> {
        self.visible(user, id)?;
        let instance = self.0.seen().of(id, &user.id);
        let instance = instance.ok_or(Refusal::Idle(
            "It does not run for you: switch it on, or give it what it lacks first.",
        ))?;
        let server = instance.server.openapi();
        let server =
            server.ok_or_else(|| wrong("It has no document to read again. Restart it instead."))?;
        let change = server.refresh().await.map_err(Refusal::Unreachable)?;
        Ok(Change::clone(&change))
    }
}

/// How credentials are shown: by what they are.
pub(super) fn kinds(
    credentials: &BTreeMap<String, Credential>,
) -> BTreeMap<String, CredentialKind> {
    let kind = |credential: &Credential| match credential {
        Credential::Key { .. } => CredentialKind::Key,
        Credential::Basic { .. } => CredentialKind::Basic,
        Credential::Client { .. } => CredentialKind::Client,
    };
    let all = credentials.iter();
    all.map(|(name, credential)| (name.clone(), kind(credential)))
        .collect()
}

fn check_credentials(credentials: &BTreeMap<String, Credential>) -> Result<(), Refusal> {
    if credentials.len() > MAX_CREDENTIALS {
        return Err(wrong("There are too many `credentials`."));
    }
    for (name, credential) in credentials {
        let texts: Vec<&String> = match credential {
            Credential::Key { value } => vec![value],
            Credential::Basic { user, password } => vec![user, password],
            Credential::Client {
                id,
                secret,
                token_url,
                scopes,
            } => {
                if let Some(url) = token_url {
                    check::url("credentials", url)?;
                }
                [id, secret].into_iter().chain(scopes).collect()
            }
        };
        let is_odd = |text: &&String| text.len() > 16 * 1024 || text.contains(char::is_control);
        if name.is_empty() || name.len() > 200 || texts.iter().any(is_odd) {
            return Err(wrong(
                "`credentials` are named as the document's security schemes, and are one line each.",
            ));
        }
    }
    Ok(())
}

/// Whether a document is not too long for whoever gives it.
pub(super) fn check_length(user: &CurrentUser, document: &[u8]) -> Result<(), Refusal> {
    let most = match trust(user) {
        Trust::Full => MAX_DOCUMENT,
        Trust::Own => MAX_OWN_DOCUMENT,
    };
    match document.len() <= most {
        true => Ok(()),
        false => Err(wrong(&format!(
            "The `document` is longer than {} MiB.",
            most / 1024 / 1024
        ))),
    }
}

/// A document as text, or as the JSON it is.
fn written(document: Value) -> Result<Vec<u8>, Refusal> {
    match document {
        Value::String(text) => Ok(text.into_bytes()),
        object @ Value::Object(_) => Ok(object.to_string().into_bytes()),
        _ => Err(wrong(
            "`document` is an OpenAPI document: its text, or the JSON object itself.",
        )),
    }
}

fn revealed(
    given: BTreeMap<String, Option<Credential>>,
    old: &BTreeMap<String, Credential>,
) -> Result<BTreeMap<String, Credential>, Refusal> {
    let meant = given.into_iter().map(|(name, credential)| {
        match credential.or_else(|| old.get(&name).cloned()) {
            Some(credential) => Ok((name, credential)),
            None => Err(wrong(&format!(
                "Nothing is kept in `credentials` under `{name}`. Write it out."
            ))),
        }
    });
    meant.collect()
}

fn elsewhere() -> Refusal {
    wrong(
        "What is kept in `headers` and `credentials` was kept for another address. Enter it again, or leave it out, together with the new one.",
    )
}
