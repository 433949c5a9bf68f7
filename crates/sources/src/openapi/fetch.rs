//! Reads the documents of a server over HTTP: the one at its address, where that
//! links to or beside it, with the files it refers to; and those of the servers behind
//! it if it is an mcpo.
//!
//! One of several that fails does not spoil the others. Everything is bounded:
//! bytes, time, redirects, and how many are read at once.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{StreamExt, stream};
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use tenon_net::without_query;
use tenon_openapi::discover::{self, SubDocument, candidates, service_desc};
use tenon_openapi::document;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::description::may_be_description;
use super::http_client::{CrossOriginRedirect, OpenapiHttpClient, SendError, read_body};
use crate::fault::document_fault;

mod attempts;
mod conditional;
mod error;
mod files;
mod handshake;

pub(super) use conditional::{
    CacheValidators, CachedDocument, ContentFingerprint, DocumentBody, DocumentRequest,
    DocumentState, FetchedDocument, FetchedDocuments, FetchedSubDocument,
};
pub use error::FetchError;

use attempts::FetchAttempts;
use error::OtherAnswer;

/// Limits of one document behind an mcpo, and of all of them together.
const MAX_SUB_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;
const MAX_ALL_SUB_DOCUMENT_BYTES: usize = 64 * 1024 * 1024;

/// Larger ones wait for their turn to be read.
const MAX_PARSED_AT_ONCE_BYTES: usize = 1024 * 1024;

/// Limit of the index document of an mcpo.
const MAX_INDEX_BYTES: usize = 512 * 1024;

/// A server that takes longer to describe itself is not one to wait for.
pub(super) const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

const CONCURRENT_SUB_DOCUMENTS: usize = 8;

/// How many links to a description are followed, of all that answers have.
const MAX_FOLLOWED_LINKS: usize = 4;

/// The outcome of fetching one URL.
enum FetchOutcome {
    Document(FetchedDocument),
    Other(NotADocument),
}

/// A response that is not a document.
struct NotADocument {
    answer: OtherAnswer,
    /// Where it says that there is one.
    links: Vec<Url>,
}

/// Fetches all documents of a server. The error says what was tried and what came back.
pub(super) async fn read(
    client: &OpenapiHttpClient,
    request: &DocumentRequest<'_>,
) -> Result<FetchedDocuments, FetchError> {
    let fetch = DocumentFetcher {
        client,
        request,
        end: Instant::now() + request.timeout,
    };
    let main = timeout_at(fetch.end, fetch.main());
    let main = main.await.unwrap_or_else(|_| Err(fetch.timed_out()))?;
    let main = fetch.with_files(main).await;
    let subs = match &main.state {
        DocumentState::Modified(body) => body
            .list()
            .map(|list| discover::sub_documents(list, &main.url)),
        DocumentState::Unmodified { .. } => None,
    };
    let subs = match subs {
        Some(found) => {
            let listed = fetch.listed(found, &main.url);
            let listed = timeout_at(fetch.end, listed).await.unwrap_or_default();
            Some(fetch.subs(listed).await)
        }
        None => None,
    };
    Ok(FetchedDocuments { main, subs })
}

struct DocumentFetcher<'a> {
    client: &'a OpenapiHttpClient,
    request: &'a DocumentRequest<'a>,
    end: Instant,
}

impl DocumentFetcher<'_> {
    async fn main(&self) -> Result<FetchedDocument, FetchError> {
        let cached = self.cached("");
        let candidates = candidates::candidates(self.request.url, cached.map(|cached| &cached.url));
        let mut candidates = VecDeque::from(candidates);
        let mut linked: Vec<Url> = Vec::new();
        let mut attempts = FetchAttempts::default();
        while let Some(candidate) = candidates.pop_front() {
            let is_linked = linked.contains(&candidate);
            match self
                .get(candidate.clone(), cached, document::MAX_BYTES)
                .await
            {
                Ok(FetchOutcome::Document(found)) => return Ok(found),
                Ok(FetchOutcome::Other(other)) => {
                    for link in other.links.into_iter().rev() {
                        if !linked.contains(&link)
                            && linked.len() < MAX_FOLLOWED_LINKS
                            && link != candidate
                        {
                            candidates.retain(|candidate| *candidate != link);
                            candidates.push_front(link.clone());
                            linked.push(link);
                        }
                    }
                    attempts.add(&candidate, other.answer);
                }
                // A link may lead to where a server is for others, and not for us.
                Err(error) if is_linked => attempts.add_final(error.into_detail()),
                Err(error) => {
                    attempts.add_final(error.into_detail());
                    return Err(attempts.into_error(self.request.url));
                }
            }
        }
        if let Some(found) = self.handshake().await {
            return Ok(found);
        }
        Err(attempts.into_error(self.request.url))
    }

    /// Reads the machine-readable index of an mcpo or bridge if the main document links to no other
    /// documents.
    async fn listed(&self, found: Vec<SubDocument>, at: &Url) -> Vec<SubDocument> {
        let address = discover::index_address(at).filter(|_| found.is_empty());
        let Some(address) = address else {
            return found;
        };
        let list = self
            .body(
                address,
                None,
                MAX_INDEX_BYTES,
                CrossOriginRedirect::WithoutCredentials,
            )
            .await;
        match list {
            Ok(HttpOutcome::Body(body)) => match serde_json::from_slice(&body.bytes) {
                Ok(list) => discover::listed(&list, at),
                Err(_) => Vec::new(),
            },
            Ok(HttpOutcome::NotModified { .. } | HttpOutcome::Other(_)) | Err(_) => Vec::new(),
        }
    }

    /// In the order they are listed.
    async fn subs(&self, subs: Vec<SubDocument>) -> Vec<FetchedSubDocument> {
        let bytes_left = &AtomicUsize::new(MAX_ALL_SUB_DOCUMENT_BYTES);
        let reading = stream::iter(subs).map(|sub| async move {
            let found = self.sub(&sub, bytes_left).await;
            FetchedSubDocument {
                name: sub.name,
                found,
            }
        });
        reading.buffered(CONCURRENT_SUB_DOCUMENTS).collect().await
    }

    async fn sub(
        &self,
        sub: &SubDocument,
        bytes_left: &AtomicUsize,
    ) -> Result<FetchedDocument, FetchError> {
        let left = bytes_left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(FetchError::SubDocumentsTooLarge);
        }
        let cached = self.cached(&sub.name);
        // A few that hang must not hold up all the rest.
        let end = self.end.min(Instant::now() + self.request.timeout * 2 / 5);
        let got = self.get(sub.url.clone(), cached, MAX_SUB_DOCUMENT_BYTES.min(left));
        let got = timeout_at(end, got).await;
        let found = match got {
            Ok(Ok(FetchOutcome::Document(found))) => found,
            Ok(Ok(FetchOutcome::Other(other))) => {
                return Err(other.answer.at(without_query(&sub.url)));
            }
            Ok(Err(error)) => return Err(FetchError::Send(error.into_detail())),
            Err(_) => return Err(self.timed_out()),
        };
        let taken = found.state.len();
        let _ = bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(taken))
        });
        Ok(found)
    }

    fn cached(&self, name: &str) -> Option<&CachedDocument> {
        self.request
            .cached
            .iter()
            .find(|cached| cached.name == name)
    }

    /// An error means that other URLs of the same server would not help.
    async fn get(
        &self,
        url: Url,
        cached: Option<&CachedDocument>,
        max_bytes: usize,
    ) -> Result<FetchOutcome, SendError> {
        let body = match self
            .body(
                url,
                cached,
                max_bytes,
                CrossOriginRedirect::WithoutCredentials,
            )
            .await?
        {
            HttpOutcome::Body(body) => body,
            HttpOutcome::NotModified { url, validators } => {
                // Keep the new validators but no bytes: if only the old validators survive a
                // restart, the document is fetched once more, which is cheaper than reading it back
                // from the store.
                let bytes = None;
                let state = DocumentState::Unmodified { validators, bytes };
                return Ok(FetchOutcome::Document(FetchedDocument { url, state }));
            }
            HttpOutcome::Other(other) => return Ok(FetchOutcome::Other(other)),
        };
        let mut links = body.links;
        if starts_with(&body.bytes, b"<") {
            links.extend(service_desc::in_page(&body.bytes, &body.url));
            let answer = OtherAnswer::WebPage;
            return Ok(FetchOutcome::Other(NotADocument { answer, links }));
        }
        let at = without_query(&body.url);
        let cached = cached.filter(|cached| cached.url == body.url);
        let fingerprint = cached.map(|cached| cached.fingerprint);
        // A large one takes its time.
        let read = tokio::task::spawn_blocking(move || {
            if fingerprint == Some(ContentFingerprint::of(&body.bytes)) {
                return (body.bytes, None);
            }
            // What is no document is not so large.
            let document = (body.bytes.len() <= MAX_PARSED_AT_ONCE_BYTES)
                .then(|| document::read(&body.bytes).map_err(|error| document_fault(&error)));
            (body.bytes, Some(document))
        });
        let unreadable = |_panic| {
            let address = at.as_str().into();
            SendError::Unusable(FetchError::Unreadable { address }.into())
        };
        let (bytes, document) = read.await.map_err(unreadable)?;
        let Some(document) = document else {
            let validators = body.validators;
            let is_other = cached.is_some_and(|cached| cached.validators != validators);
            let bytes = is_other.then_some(bytes);
            return Ok(FetchOutcome::Document(FetchedDocument {
                url: body.url,
                state: DocumentState::Unmodified { validators, bytes },
            }));
        };
        match document.transpose() {
            Ok(document) if document.as_ref().is_none_or(may_be_description) => {
                let state = DocumentState::Modified(Box::new(DocumentBody {
                    bytes,
                    document,
                    validators: body.validators,
                }));
                Ok(FetchOutcome::Document(FetchedDocument {
                    url: body.url,
                    state,
                }))
            }
            Ok(other) => {
                let listed = other.map(|other| service_desc::in_json(&other, &body.url));
                links.extend(listed.into_iter().flatten());
                let answer = OtherAnswer::Json;
                Ok(FetchOutcome::Other(NotADocument { answer, links }))
            }
            // The response looks like JSON, so it is reported as a broken document instead of
            // trying other addresses.
            Err(why) if starts_with(&bytes, b"{") => {
                let (address, why) = (at.into(), why.into());
                Err(SendError::Unusable(
                    FetchError::Broken { address, why }.into(),
                ))
            }
            Err(why) => {
                let answer = OtherAnswer::Text(why.into());
                Ok(FetchOutcome::Other(NotADocument { answer, links }))
            }
        }
    }

    async fn body(
        &self,
        url: Url,
        cached: Option<&CachedDocument>,
        max_bytes: usize,
        cross_origin: CrossOriginRedirect,
    ) -> Result<HttpOutcome, SendError> {
        let mut request = reqwest::Request::new(Method::GET, url.clone());
        let headers = request.headers_mut();
        if url.origin() == self.request.url.origin() {
            headers.extend(self.request.headers.clone());
        }
        let any = HeaderValue::from_static("application/json, application/yaml;q=0.9, */*;q=0.5");
        headers.insert(ACCEPT, any);
        let is_conditional = |cached: &&CachedDocument| {
            let needs_files = cached.has_files && self.request.refetch_files;
            cached.url == without_secrets(&url) && !needs_files
        };
        if let Some(cached) = cached.filter(is_conditional) {
            let mut ask = |name: HeaderName, value: &Option<String>| {
                let value = value.as_ref().map(HeaderValue::try_from);
                if let Some(Ok(value)) = value {
                    headers.insert(name, value);
                }
            };
            ask(IF_NONE_MATCH, &cached.validators.etag);
            ask(IF_MODIFIED_SINCE, &cached.validators.last_modified);
        }
        let response = self.client.open(request, cross_origin).await?;
        let links = service_desc::in_headers(response.headers(), response.url());
        let (status, url) = (response.status(), without_secrets(response.url()));
        let validators = CacheValidators::of(response.headers());
        let cached = cached.filter(|cached| cached.url == url);
        match (status.as_u16(), cached) {
            (200..=299, _) => {}
            (304, Some(cached)) => {
                let validators = validators.or(&cached.validators);
                return Ok(HttpOutcome::NotModified { url, validators });
            }
            // Overload or a fault says nothing about where the document is.
            (429 | 500.., cached) if cached.is_some() || candidates::names_a_document(&url) => {
                let answer = OtherAnswer::Status(status).at(without_query(&url));
                return Err(SendError::Unusable(answer.into()));
            }
            (401 | 403, _) => {
                let answer = OtherAnswer::NeedsKey(status);
                return Ok(HttpOutcome::Other(NotADocument { answer, links }));
            }
            _ => {
                let answer = OtherAnswer::Status(status);
                return Ok(HttpOutcome::Other(NotADocument { answer, links }));
            }
        }
        let bytes = read_body(response, max_bytes).await?;
        Ok(HttpOutcome::Body(HttpBody {
            url,
            bytes,
            validators,
            links,
        }))
    }

    fn timed_out(&self) -> FetchError {
        let host = self.request.url.host_str().unwrap_or_default().into();
        FetchError::Timeout { host }
    }
}

/// The response of one URL, not yet parsed.
enum HttpOutcome {
    Body(HttpBody),
    NotModified {
        url: Url,
        validators: CacheValidators,
    },
    /// No success.
    Other(NotADocument),
}

struct HttpBody {
    url: Url,
    bytes: Vec<u8>,
    validators: CacheValidators,
    /// Where it says that a description is.
    links: Vec<Url>,
}

/// An address without what may be a secret in it.
fn without_secrets(url: &Url) -> Url {
    let mut bare = url.clone();
    bare.set_query(None);
    bare.set_fragment(None);
    bare
}

fn starts_with(bytes: &[u8], start: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii_start().starts_with(start)
}
