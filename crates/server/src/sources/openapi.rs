//! What an OpenAPI server offers, and the documents that somebody gives.

mod credentials;
mod draft;

use std::sync::Arc;

use tenon_domain::{SourceConfig, SourceId, UserId};
use tenon_sources::openapi::document::MAX_BYTES;
use tenon_sources::openapi::{Caller, Change, Preview, preview, preview_document};
use tokio::sync::Semaphore;

use super::documents::{self, Given};
use super::edit::{Refusal, may_be, trust, wrong};
use super::entry::Entry;
use super::fill::filled;
use super::instance::Instance;
use super::plan::Trust;
use super::{Network, Sources};
use crate::api::wire::NewSource;
use crate::auth::CurrentUser;

pub(super) use credentials::kinds;
pub(super) use draft::{ApiDraft, given};

/// As long as the longest descriptions there are.
const MAX_DOCUMENT: usize = MAX_BYTES;

/// What somebody who is no admin may leave here.
const MAX_OWN_DOCUMENT: usize = 4 * 1024 * 1024;

impl Sources {
    /// Of a request that brings a document. As a text in JSON it is longer: each of its
    /// quotes and the ends of its lines are two signs there.
    pub const MAX_BODY: usize = MAX_DOCUMENT + MAX_DOCUMENT / 2;

    /// What a server would offer, before it is saved.
    pub async fn preview(&self, user: &CurrentUser, new: NewSource) -> Result<Preview, Refusal> {
        if new.kind != "openapi" {
            return Err(wrong(
                "Only OpenAPI servers can be looked at before: `kind` is \"openapi\".",
            ));
        }
        let mine = new.mine.unwrap_or_else(|| !user.administers());
        let (draft, document) = ApiDraft::of(new).await?;
        let config = draft.config()?;
        let owner = mine.then_some(&user.id);
        let wrapped = SourceConfig::Openapi(config.clone());
        may_be(user, owner, &wrapped)?;
        if let Some(document) = document {
            let is_placed = config.base_url.is_some();
            return self.check_document(user, document.body, is_placed).await;
        }
        let trust = trust(user);
        let filled = filled(&self.0, &config, Some(&user.id), trust).await;
        let filled = filled.map_err(|why| Refusal::Wrong(why.to_string()))?;
        let caller = self.caller_for(user).map_err(Refusal::Wrong)?;
        let previewed = preview(filled, &caller, &self.parses(Some(&user.id))).await;
        previewed.map_err(Refusal::Unread)
    }

    /// Who sends requests to servers that this person chooses.
    pub fn caller_for(&self, user: &CurrentUser) -> Result<Caller, String> {
        self.0.callers.of(match trust(user) {
            Trust::Full => Network::Anywhere,
            Trust::Own => Network::PublicOnly,
        })
    }

    /// How many documents of one person are read into tools at once; nobody waits for those
    /// of somebody else. None: of what is everybody's.
    pub fn parses(&self, user: Option<&UserId>) -> Arc<Semaphore> {
        self.0.parses.of(user)
    }

    /// Does what needs a document that somebody gave, which is kept before. Where that is
    /// refused, nothing is left of it.
    pub(super) async fn with_document<T>(
        &self,
        user: &CurrentUser,
        document: Option<Given>,
        work: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let Some(document) = document else {
            return work.await;
        };
        let hash = document.hash.clone();
        // Who reads it takes it apart.
        let body = document.body.clone();
        self.check_document(user, body, true).await?;
        let _turn = self.0.giving.acquire().await.ok();
        document.keep(&self.0.store).await?;
        let done = work.await;
        if done.is_err()
            && let Err(error) = self.forget_unless_used(&hash).await
        {
            tracing::warn!(%error, "a document that nobody needs is still kept");
        }
        done
    }

    /// What a document offers, if it is one and somebody may leave it here; `is_placed` where
    /// they say as well where its server is.
    pub(super) async fn check_document(
        &self,
        user: &CurrentUser,
        document: Vec<u8>,
        is_placed: bool,
    ) -> Result<Preview, Refusal> {
        check_length(user, "document", &document)?;
        let seen = preview_document(document, is_placed, &self.parses(Some(&user.id))).await;
        seen.map_err(Refusal::Wrong)
    }

    /// Forgets a document that somebody gave, unless another server has the same.
    pub(super) async fn forget_document(&self, config: &SourceConfig) -> Result<(), Refusal> {
        let Some(document_hash) = documents::given_to(config) else {
            return Ok(());
        };
        let _turn = self.0.giving.acquire().await.ok();
        self.forget_unless_used(document_hash).await
    }

    /// What was kept for a server that never came to be, because whoever gave it, or
    /// Tenon, went away in the middle. For one that stays, once it knows all its files.
    pub async fn sweep_documents(&self) -> Result<(), Refusal> {
        for document_hash in documents::all_given(&self.0.store).await? {
            let _turn = self.0.giving.acquire().await.ok();
            self.forget_unless_used(&document_hash).await?;
        }
        Ok(())
    }

    async fn forget_unless_used(&self, document_hash: &str) -> Result<(), Refusal> {
        let rows = self.0.store.sources().await?;
        let vault = &self.0.vault;
        let has_it = |config: &Result<SourceConfig, String>| {
            let config = config.as_ref().ok();
            let given = config.and_then(documents::given_to);
            given.is_some_and(|given| given == document_hash)
        };
        let in_rows = rows
            .iter()
            .any(|row| has_it(&Entry::of_row(row, vault).config));
        let in_files = || {
            let files = super::lock(&self.0.files);
            files.values().flatten().any(|found| has_it(&found.config))
        };
        if !in_rows && !in_files() {
            documents::forget_given(&self.0.store, document_hash).await?;
        }
        Ok(())
    }

    /// Reads the document of a server now, and says what is different. Whoever may do that
    /// may read what the server writes, so why it failed is said in full.
    pub async fn refresh(&self, user: &CurrentUser, id: &SourceId) -> Result<Change, Refusal> {
        let entry = self.visible(user, id)?;
        let may_see_to = self.in_hand(user, &entry)?;
        // For those who look after it there are other people's as well.
        let is_theirs = |one: &Arc<Instance>| {
            let whose = one.wanted.user.as_ref();
            whose.is_none_or(|whose| *whose == user.id)
        };
        let instance = may_see_to.into_iter().find(is_theirs);
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

/// Whether a document is not too long for whoever gives it, in this field.
pub(super) fn check_length(user: &CurrentUser, field: &str, text: &[u8]) -> Result<(), Refusal> {
    let most = match trust(user) {
        Trust::Full => MAX_DOCUMENT,
        Trust::Own => MAX_OWN_DOCUMENT,
    };
    match text.len() <= most {
        true => Ok(()),
        false => Err(wrong(&format!(
            "What stands in `{field}` is longer than {} MiB.",
            most / 1024 / 1024
        ))),
    }
}
