//! OpenAPI servers: previews, refreshes, and uploaded documents.

mod credentials;
mod draft;

use std::sync::Arc;

use tenon_domain::{CodedError, SourceConfig, SourceId, UserId};
use tenon_sources::ToolChanges;
use tenon_sources::openapi::document::MAX_BYTES;
use tenon_sources::openapi::{
    OpenapiError, OpenapiHttpClient, OpenapiPreview, preview, preview_document,
};
use tokio::sync::Semaphore;

use super::documents::{self, UploadedDocument};
use super::entry::SourceEntry;
use super::error::{SourceError, in_field};
use super::fill::filled;
use super::input_error::{SourceIdle, SourceInputError};
use super::instance::Instance;
use super::rights::{check_config, trust};
use super::trust::Trust;
use super::{Network, Sources};
use crate::auth::CurrentUser;
use crate::sources::requests::AddSource;

pub(super) use credentials::kinds;
pub(super) use draft::{OpenapiDraft, given};

/// As long as the longest descriptions there are.
const MAX_DOCUMENT_BYTES: usize = MAX_BYTES;

/// What somebody who is no admin may leave here.
const MAX_OWN_DOCUMENT_BYTES: usize = 4 * 1024 * 1024;

impl Sources {
    /// Of a request that brings a document. As a text in JSON it is longer: each of its
    /// quotes and the ends of its lines are two signs there.
    pub const MAX_BODY_BYTES: usize = MAX_DOCUMENT_BYTES + MAX_DOCUMENT_BYTES / 2;

    /// What a server would offer, before it is saved.
    pub async fn preview(
        &self,
        user: &CurrentUser,
        new: AddSource,
    ) -> Result<OpenapiPreview, SourceError> {
        if new.kind != "openapi" {
            return Err(SourceInputError::NoPreview.into());
        }
        let mine = new.mine.unwrap_or_else(|| !user.administers());
        let (draft, document) = OpenapiDraft::of(new).await?;
        let config = draft.config()?;
        let owner = mine.then_some(&user.id);
        let wrapped = SourceConfig::Openapi(config.clone());
        check_config(user, owner, &wrapped)?;
        if let Some(document) = document {
            let is_placed = config.base_url.is_some();
            return self.check_document(user, document.body, is_placed).await;
        }
        let trust = trust(user);
        let filled = filled(&self.0, &config, Some(&user.id), trust).await;
        let filled = filled?;
        let caller = self.caller_for(user);
        let caller = caller.map_err(|error| SourceError::Invalid(error.detail()))?;
        let previewed = preview(filled, &caller, &self.parses(Some(&user.id))).await;
        previewed.map_err(SourceError::Unread)
    }

    /// The HTTP client for servers that this person chooses: non-admins only reach public
    /// addresses.
    pub fn caller_for(&self, user: &CurrentUser) -> Result<OpenapiHttpClient, OpenapiError> {
        self.0.callers.of(match trust(user) {
            Trust::Full => Network::Anywhere,
            Trust::Own => Network::PublicOnly,
        })
    }

    /// How many documents of one person are read into tools at once; nobody waits for those
    /// of somebody else. None: of what is everybody's.
    pub fn parses(&self, user: Option<&UserId>) -> Arc<Semaphore> {
        self.0.parse_permits.of(user)
    }

    /// Does what needs a document that somebody gave, which is kept before. Where that is
    /// refused, nothing is left of it.
    pub(super) async fn with_document<T>(
        &self,
        user: &CurrentUser,
        document: Option<UploadedDocument>,
        work: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let Some(document) = document else {
            return work.await;
        };
        let hash = document.hash.clone();
        // Who reads it takes it apart.
        let body = document.body.clone();
        self.check_document(user, body, true).await?;
        let _turn = self.0.uploads.acquire().await.ok();
        document.keep(&self.0.store).await?;
        let done = work.await;
        if done.is_err()
            && let Err(error) = self.forget_unless_used(&hash).await
        {
            tracing::warn!(%error, "a document that nobody needs is still kept");
        }
        done
    }

    /// Checks a document and previews its tools, if the user may store one of this size.
    /// `is_placed` tells whether they also give a base address.
    pub(super) async fn check_document(
        &self,
        user: &CurrentUser,
        document: Vec<u8>,
        is_placed: bool,
    ) -> Result<OpenapiPreview, SourceError> {
        check_length(user, "document", &document)?;
        let seen = preview_document(document, is_placed, &self.parses(Some(&user.id))).await;
        seen.map_err(|error| SourceError::Invalid(error.detail()))
    }

    /// Forgets a document that somebody gave, unless another server has the same.
    pub(super) async fn forget_document(&self, config: &SourceConfig) -> Result<(), SourceError> {
        let Some(document_hash) = documents::uploaded_hash(config) else {
            return Ok(());
        };
        let _turn = self.0.uploads.acquire().await.ok();
        self.forget_unless_used(document_hash).await
    }

    /// Deletes documents that no server uses, such as those of an addition that was interrupted.
    pub async fn sweep_documents(&self) -> Result<(), SourceError> {
        for document_hash in documents::uploaded_hashes(&self.0.store).await? {
            let _turn = self.0.uploads.acquire().await.ok();
            self.forget_unless_used(&document_hash).await?;
        }
        Ok(())
    }

    async fn forget_unless_used(&self, document_hash: &str) -> Result<(), SourceError> {
        let rows = self.0.store.sources().await?;
        let vault = &self.0.vault;
        let has_it = |config: Option<&SourceConfig>| {
            let given = config.and_then(documents::uploaded_hash);
            given.is_some_and(|given| given == document_hash)
        };
        let in_rows = rows
            .iter()
            .any(|row| has_it(SourceEntry::of_row(row, vault).config.as_ref().ok()));
        let in_files = || {
            let files = super::lock(&self.0.files);
            files
                .values()
                .flatten()
                .any(|found| has_it(found.config.as_ref().ok()))
        };
        if !in_rows && !in_files() {
            documents::delete_uploaded(&self.0.store, document_hash).await?;
        }
        Ok(())
    }

    /// Reads a server's document now and reports changes. The caller may read its log, so errors
    /// are reported in full.
    pub async fn refresh(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<ToolChanges, SourceError> {
        let entry = self.visible(user, id)?;
        let may_see_to = self.controlled_instances(user, &entry)?;
        // For those who look after it there are other people's as well.
        let is_theirs = |one: &Arc<Instance>| {
            let whose = one.wanted.user.as_ref();
            whose.is_none_or(|whose| *whose == user.id)
        };
        let instance = may_see_to.into_iter().find(is_theirs);
        let instance = instance.ok_or(SourceIdle::Lacks)?;
        let server = instance.openapi.as_ref();
        let server = server.ok_or(SourceInputError::NothingToRefresh)?;
        let change = server.refresh().await;
        let change = change.map_err(|error| SourceError::Unreachable(error.detail()))?;
        Ok(ToolChanges::clone(&change))
    }
}

/// Whether a document is not too long for whoever gives it, in this field.
pub(super) fn check_length(
    user: &CurrentUser,
    field: &str,
    text: &[u8],
) -> Result<(), SourceError> {
    let most = match trust(user) {
        Trust::Full => MAX_DOCUMENT_BYTES,
        Trust::Own => MAX_OWN_DOCUMENT_BYTES,
    };
    if text.len() <= most {
        Ok(())
    } else {
        let error = SourceInputError::DocumentTooLong {
            field: field.into(),
            mb: most / 1024 / 1024,
        };
        Err(in_field(field, error))
    }
}
