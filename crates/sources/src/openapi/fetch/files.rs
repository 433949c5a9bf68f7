//! The files a document refers to, read where the document is and as the document is.
//!
//! Only those of the same site are, and no redirect leads to another. What cannot be read
//! is said by the tools that lack it; it does not spoil the rest.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, stream};
use serde_json::Value;
use tenon_openapi::bundle::{self, Bundle, BundleScope, FileError};
use tenon_openapi::document;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;
use url::Url;

use super::{
    CacheValidators, DocumentBody, DocumentFetcher, DocumentState, FetchedDocument, HttpOutcome,
};
use crate::openapi::http_client::CrossOriginRedirect;

/// Limits of one file, and of all files of a document.
const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
const MAX_TOTAL_BYTES: usize = 16 * 1024 * 1024;

const CONCURRENT_FILES: usize = 8;

/// The budget that all files of one document share.
struct FileBudget {
    bytes: AtomicUsize,
    /// One after the other: read, a file takes many times its length.
    parses: Semaphore,
}

impl DocumentFetcher<'_> {
    /// A document as it was found, or with all files that it refers to.
    pub(super) async fn with_files(&self, found: FetchedDocument) -> FetchedDocument {
        let FetchedDocument { url, state } = found;
        let DocumentState::Modified(body) = state else {
            return FetchedDocument { url, state };
        };
        let body = if bundle::may_have_files(&body.bytes) {
            self.bundled(*body, &url).await
        } else {
            *body
        };
        let state = DocumentState::Modified(Box::new(body));
        FetchedDocument { url, state }
    }

    async fn bundled(&self, mut body: DocumentBody, at: &Url) -> DocumentBody {
        let (document, bytes) = (body.document.take(), std::mem::take(&mut body.bytes));
        let place = at.clone();
        // A large one takes its time.
        let begun = tokio::task::spawn_blocking(move || {
            let document = document.or_else(|| document::read(&bytes).ok());
            let bundle = document.map(|document| Bundle::new(document, place, BundleScope::Origin));
            (bytes, bundle)
        });
        let Ok((bytes, bundle)) = begun.await else {
            return body;
        };
        body.bytes = bytes;
        let Some(mut bundle) = bundle.filter(|bundle| !bundle.is_unchanged()) else {
            return body;
        };
        let is_in_time = self.add_files(&mut bundle).await;
        let is_whole = bundle.is_complete() && is_in_time;
        let made = tokio::task::spawn_blocking(move || {
            let bytes = serde_json::to_vec(&bundle.into_document()).ok()?;
            // Parse the bytes that will be stored, so that this document equals the one loaded
            // after a restart.
            let document = document::read(&bytes).ok()?;
            Some((bytes, document))
        });
        let Ok(Some((bytes, document))) = made.await else {
            return body;
        };
        DocumentBody {
            bytes,
            document: Some(document),
            // An incomplete bundle gets no validators, so that the next reading fetches everything
            // again.
            validators: if is_whole {
                body.validators
            } else {
                CacheValidators::default()
            },
        }
    }

    /// False where the time was up.
    async fn add_files(&self, bundle: &mut Bundle) -> bool {
        let budget = &FileBudget {
            bytes: AtomicUsize::new(MAX_TOTAL_BYTES),
            parses: Semaphore::new(1),
        };
        loop {
            let wanted = bundle.wanted();
            if wanted.is_empty() {
                return true;
            }
            let mut left = wanted.clone();
            let reading = stream::iter(wanted).map(|url| async move {
                let file = self.file(url.clone(), budget).await;
                (url, file)
            });
            let mut reading = std::pin::pin!(reading.buffer_unordered(CONCURRENT_FILES));
            while let Ok(Some((url, file))) = timeout_at(self.end, reading.next()).await {
                left.retain(|one| *one != url);
                bundle.add(&url, file);
            }
            if !left.is_empty() {
                let left = left.into_iter().chain(bundle.wanted());
                for url in left.collect::<Vec<Url>>() {
                    bundle.add(&url, Err(FileError::TimedOut));
                }
                return false;
            }
        }
    }

    async fn file(&self, mut url: Url, budget: &FileBudget) -> Result<Value, FileError> {
        let left = budget.bytes.load(Ordering::Relaxed);
        if left == 0 {
            return Err(FileError::TooLarge);
        }
        // The query of the configured address may contain the access key, so files of the same
        // origin get it too.
        let given = self.request.url;
        if url.query().is_none() && url.origin() == given.origin() {
            url.set_query(given.query());
        }
        let came = self.body(
            url,
            None,
            MAX_FILE_BYTES.min(left),
            CrossOriginRedirect::Refuse,
        );
        let bytes = match came.await {
            Ok(HttpOutcome::Body(body)) => body.bytes,
            Ok(HttpOutcome::Other(other)) => {
                let why = other.answer.at("it").to_string();
                return Err(FileError::Read(why.trim_end_matches('.').to_owned()));
            }
            Ok(HttpOutcome::NotModified { .. }) => {
                return Err(FileError::Read("it was not sent".into()));
            }
            Err(error) => return Err(FileError::Read(error.into_detail().message)),
        };
        let taken = bytes.len();
        let bytes_left = &budget.bytes;
        let _ = bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(taken))
        });
        // The semaphore is never closed.
        let _turn = budget.parses.acquire().await;
        let read = tokio::task::spawn_blocking(move || document::read(&bytes));
        let read = read.await;
        let read = read.map_err(|_| FileError::Read("it cannot be read".to_owned()))?;
        Ok(read?)
    }
}
