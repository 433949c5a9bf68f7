//! Conditional requests for documents (ETag, Last-Modified), and what comes of them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use reqwest::header::{ETAG, HeaderMap, HeaderName, LAST_MODIFIED};
use serde_json::Value;
use url::Url;

use super::error::FetchError;
use crate::openapi::description;

/// Longer validators are ignored.
const MAX_VALIDATOR_BYTES: usize = 1024;

/// The documents to fetch, with the validators of those that are cached.
#[derive(Debug)]
pub(in crate::openapi) struct DocumentRequest<'a> {
    pub(in crate::openapi) url: &'a Url,
    /// For the site of that address alone.
    pub(in crate::openapi) headers: &'a HeaderMap,
    pub(in crate::openapi) cached: &'a [CachedDocument],
    /// The files that documents refer to are fetched again too, even if the documents are unmodified.
    pub(in crate::openapi) refetch_files: bool,
    /// How long all of it may take.
    pub(in crate::openapi) timeout: Duration,
}

/// A document that need not be sent again if it is unmodified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::openapi) struct CachedDocument {
    pub(in crate::openapi) name: String,
    /// The URL that the document was found at.
    pub(in crate::openapi) url: Url,
    pub(in crate::openapi) validators: CacheValidators,
    pub(in crate::openapi) fingerprint: ContentFingerprint,
    /// Whether the document was bundled from several files; the validators are then those of the
    /// first file.
    pub(in crate::openapi) has_files: bool,
}

/// `ETag` and `Last-Modified`, for a conditional request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::openapi) struct CacheValidators {
    pub(in crate::openapi) etag: Option<String>,
    pub(in crate::openapi) last_modified: Option<String>,
}

impl CacheValidators {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| {
            let value = headers.get(name)?.to_str().ok()?;
            (value.len() <= MAX_VALIDATOR_BYTES).then(|| value.to_owned())
        };
        Self {
            etag: text(ETAG),
            last_modified: text(LAST_MODIFIED),
        }
    }

    /// Fills missing validators with the known ones.
    pub(super) fn or(self, known: &Self) -> Self {
        let Self {
            etag,
            last_modified,
        } = known.clone();
        Self {
            etag: self.etag.or(etag),
            last_modified: self.last_modified.or(last_modified),
        }
    }
}

/// Length and hash of a body: whether it changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::openapi) struct ContentFingerprint(usize, u64);

impl ContentFingerprint {
    pub(in crate::openapi) fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self(bytes.len(), hasher.finish())
    }
}

/// The documents that were read.
#[derive(Debug)]
pub(in crate::openapi) struct FetchedDocuments {
    pub(in crate::openapi) main: FetchedDocument,
    /// Documents of the servers behind an mcpo. None if there is only the main document.
    pub(in crate::openapi) subs: Option<Vec<FetchedSubDocument>>,
}

/// The document of a server behind an mcpo, or why there is none.
#[derive(Debug)]
pub(in crate::openapi) struct FetchedSubDocument {
    pub(in crate::openapi) name: String,
    pub(in crate::openapi) found: Result<FetchedDocument, FetchError>,
}

/// A document, and where it really was.
#[derive(Debug)]
pub(in crate::openapi) struct FetchedDocument {
    /// Without its query: that may be a secret, and this is kept.
    pub(in crate::openapi) url: Url,
    pub(in crate::openapi) state: DocumentState,
}

#[derive(Debug)]
pub(in crate::openapi) enum DocumentState {
    /// The document is unchanged. Its validators may be new.
    Unmodified {
        validators: CacheValidators,
        /// The bytes, if the server sent them although they are unchanged, and they have to be
        /// stored with new validators.
        bytes: Option<Vec<u8>>,
    },
    Modified(Box<DocumentBody>),
}

#[derive(Debug)]
pub(in crate::openapi) struct DocumentBody {
    pub(in crate::openapi) bytes: Vec<u8>,
    /// None: it is so large that it is read when its turn comes. Many servers send
    /// theirs at the same time, and a document takes ten times its length.
    pub(in crate::openapi) document: Option<Value>,
    pub(in crate::openapi) validators: CacheValidators,
}

impl DocumentState {
    /// How much of what was sent is held.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Unmodified { bytes, .. } => bytes.as_ref().map_or(0, Vec::len),
            Self::Modified(body) => body.bytes.len(),
        }
    }
}

impl DocumentBody {
    /// The document, if all it can do is name others.
    pub(super) fn list(&self) -> Option<&Value> {
        let document = self.document.as_ref();
        document.filter(|document| !description::has_tools(document))
    }
}
