//! OpenAPI documents in the store: the last good ones of servers, and those that people uploaded.

use std::borrow::Cow;

use async_trait::async_trait;
use tenon_domain::{CodedError, ErrorDetail, OpenapiConfig, OpenapiOrigin, SourceConfig, SourceId};
use tenon_sources::openapi::document::hash;
use tenon_sources::openapi::{DocumentRecord, DocumentStore, DocumentStoreError};
use tenon_store::{Store, StoredDocument};

use super::time::{millis, moment};

/// No server has such an id: theirs begin with their kind.
const UPLOADED_PREFIX: &str = "given-";

/// The stored documents of one server.
pub(super) struct SourceDocuments {
    store: Store,
    /// The server's own id, or the key of an uploaded document.
    key: SourceId,
    /// The address, so that documents of an earlier address are not used for a new one.
    address: String,
}

impl SourceDocuments {
    pub(super) fn of(store: &Store, server: &SourceId, config: &OpenapiConfig) -> Self {
        let (key, address) = match &config.origin {
            // It may hold a secret.
            OpenapiOrigin::Url { url } => (server.clone(), hash(url.as_bytes())),
            OpenapiOrigin::Uploaded { document_hash } => {
                (uploaded_key(document_hash), String::new())
            }
        };
        Self {
            store: store.clone(),
            key,
            address,
        }
    }
}

#[async_trait]
impl DocumentStore for SourceDocuments {
    async fn load(&self) -> Result<Vec<DocumentRecord>, DocumentStoreError> {
        let stored = self.store.source_documents(&self.key).await;
        let stored = stored.map_err(|error| {
            tracing::warn!(%error, source = %self.key, "the documents of a server cannot be read");
            DocumentStoreError(error.detail())
        })?;
        let stored = stored.into_iter();
        let here = stored.filter(|document| document.address == self.address);
        Ok(here.map(kept).collect())
    }

    async fn store(
        &self,
        documents: Vec<DocumentRecord>,
        names: Vec<String>,
    ) -> Result<(), DocumentStoreError> {
        let documents = documents.into_iter();
        let documents = documents.map(|kept| stored(kept, &self.address)).collect();
        let keeping = self
            .store
            .put_source_documents(&self.key, documents, &names);
        let kept = keeping.await;
        kept.map_err(|error| DocumentStoreError(ErrorDetail::other(error.to_string())))
    }
}

/// The hash of the document that was uploaded for a server, if one was.
pub(super) fn uploaded_hash(config: &SourceConfig) -> Option<&String> {
    match config {
        SourceConfig::Openapi(OpenapiConfig {
            origin: OpenapiOrigin::Uploaded { document_hash },
            ..
        }) => Some(document_hash),
        SourceConfig::Openapi(_) | SourceConfig::Mcp(_) => None,
    }
}

/// A document that somebody uploads, and its hash.
pub(super) struct UploadedDocument {
    pub(super) hash: String,
    pub(super) body: Vec<u8>,
}

impl UploadedDocument {
    pub(super) fn of(body: Vec<u8>) -> Self {
        Self {
            hash: hash(&body),
            body,
        }
    }

    pub(super) async fn keep(self, store: &Store) -> tenon_store::Result<()> {
        keep(store, &self.hash, Cow::Owned(self.body)).await
    }
}

/// Stores a document that is part of a file.
pub(super) async fn store_uploaded(store: &Store, body: &[u8]) -> tenon_store::Result<()> {
    keep(store, &hash(body), Cow::Borrowed(body)).await
}

/// Documents are deduplicated by their hash.
async fn keep(store: &Store, hash: &str, body: Cow<'_, [u8]>) -> tenon_store::Result<()> {
    let key = uploaded_key(hash);
    // Files are read at every start, and by every shell.
    if store.has_documents(&key).await? {
        return Ok(());
    }
    let document = StoredDocument {
        name: String::new(),
        url: String::new(),
        address: String::new(),
        body: body.into_owned(),
        etag: None,
        last_modified: None,
        fetched_at: tenon_store::now(),
    };
    let names = [String::new()];
    store
        .put_source_documents(&key, vec![document], &names)
        .await
}

/// The hashes of all uploaded documents.
pub(super) async fn uploaded_hashes(store: &Store) -> tenon_store::Result<Vec<String>> {
    let owners = store.document_owners().await?.into_iter();
    let hashes =
        owners.filter_map(|owner| owner.0.strip_prefix(UPLOADED_PREFIX).map(str::to_owned));
    Ok(hashes.collect())
}

pub(super) async fn delete_uploaded(store: &Store, hash: &str) -> tenon_store::Result<()> {
    store.clear_source_cache(&uploaded_key(hash)).await
}

fn uploaded_key(hash: &str) -> SourceId {
    SourceId(format!("{UPLOADED_PREFIX}{hash}"))
}

fn kept(stored: StoredDocument) -> DocumentRecord {
    DocumentRecord {
        name: stored.name,
        url: stored.url,
        body: stored.body,
        etag: stored.etag,
        last_modified: stored.last_modified,
        fetched_at: moment(stored.fetched_at),
    }
}

fn stored(kept: DocumentRecord, address: &str) -> StoredDocument {
    StoredDocument {
        name: kept.name,
        url: kept.url,
        address: address.to_owned(),
        body: kept.body,
        etag: kept.etag,
        last_modified: kept.last_modified,
        fetched_at: millis(kept.fetched_at),
    }
}
