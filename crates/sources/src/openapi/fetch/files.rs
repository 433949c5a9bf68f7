//! The files a document refers to, read where the document is and as the document is.
//!
//! Only those of the same site are, and no redirect leads to another. What cannot be read
//! is said by the tools that lack it; it does not spoil the rest.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, stream};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;
use url::Url;

use super::{Body, Came, Fetch, Found, News, Validators};
use crate::openapi::bundle::{self, Bundle, BundleScope};
use crate::openapi::caller::Elsewhere;
use crate::openapi::document;

/// Of one file, and of all of them.
const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
const MAX_TOTAL_BYTES: usize = 16 * 1024 * 1024;

const FILES_AT_ONCE: usize = 8;

/// What all files of one document share.
struct FileBudget {
    bytes: AtomicUsize,
    /// One after the other: read, a file takes many times its length.
    parses: Semaphore,
}

impl Fetch<'_> {
    /// A document as it was found, or with all files that it refers to.
    pub(super) async fn with_files(&self, found: Found) -> Found {
        let Found { url, news } = found;
        let News::New(body) = news else {
            return Found { url, news };
        };
        let body = match bundle::may_have_files(&body.bytes) {
            true => self.bundled(*body, &url).await,
            false => *body,
        };
        let news = News::New(Box::new(body));
        Found { url, news }
    }

    async fn bundled(&self, mut body: Body, at: &Url) -> Body {
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
        let is_whole = bundle.is_whole() && is_in_time;
        let made = tokio::task::spawn_blocking(move || {
            let bytes = serde_json::to_vec(&bundle.into_document()).ok()?;
            // As it is read when it was kept.
            let document = document::read(&bytes).ok()?;
            Some((bytes, document))
        });
        let Ok(Some((bytes, document))) = made.await else {
            return body;
        };
        Body {
            bytes,
            document: Some(document),
            // What is not whole is not to be the same the next time.
            validators: match is_whole {
                true => body.validators,
                false => Validators::default(),
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
            let mut reading = std::pin::pin!(reading.buffer_unordered(FILES_AT_ONCE));
            while let Ok(Some((url, file))) = timeout_at(self.end, reading.next()).await {
                left.retain(|one| *one != url);
                bundle.add(&url, file);
            }
            if !left.is_empty() {
                let left = left.into_iter().chain(bundle.wanted());
                for url in left.collect::<Vec<Url>>() {
                    bundle.add(&url, Err("it was not sent in time".into()));
                }
                return false;
            }
        }
    }

    /// The error is the end of a sentence.
    async fn file(&self, mut url: Url, budget: &FileBudget) -> Result<Value, String> {
        let left = budget.bytes.load(Ordering::Relaxed);
        if left == 0 {
            return Err("all files together are too large".into());
        }
        // What lets us in may stand in there.
        let given = self.question.url;
        if url.query().is_none() && url.origin() == given.origin() {
            url.set_query(given.query());
        }
        let came = self.body(url, None, MAX_FILE_BYTES.min(left), Elsewhere::Stay);
        let bytes = match came.await {
            Ok(Came::Body(body)) => body.bytes,
            Ok(Came::Not(it)) => return Err(it.what),
            Ok(Came::Same { .. }) => return Err("it was not sent".into()),
            Err(halt) => return Err(halt.to_string()),
        };
        let taken = bytes.len();
        let bytes_left = &budget.bytes;
        let _ = bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(taken))
        });
        // It is never closed.
        let _turn = budget.parses.acquire().await;
        let read = tokio::task::spawn_blocking(move || document::read(&bytes));
        let read = read.await.map_err(|_| "it cannot be read".to_owned())?;
        read.map_err(|wrong| wrong.to_string())
    }
}
