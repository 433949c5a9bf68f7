//! What was sent to a model's server, attempt by attempt, for whoever looks into a step afterwards.
//!
//! The log holds a request as the bytes that went out, which costs nothing while it is answered.
//! [`AttemptContent::mask`] makes the text that people may read, and is called when it is stored.

mod mask;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tenon_domain::ErrorDetail;

use crate::Remote;

use mask::Mask;
pub use mask::MaskedExchange;

/// How much of a response is kept: enough to see what kind of answer it is.
const MAX_HEAD_BYTES: usize = 4 * 1024;

/// The log of attempts, shared by a caller and the provider. The default log records nothing.
#[derive(Debug, Clone, Default)]
pub struct AttemptLog(Option<Arc<Mutex<LogState>>>);

#[derive(Debug, Default)]
struct LogState {
    attempts: Vec<ModelAttempt>,
    /// Texts that the reader must not see, and what stands in their place.
    redactions: Vec<(String, String)>,
}

/// One request to a model's server.
#[derive(Debug, Clone)]
pub struct ModelAttempt {
    pub started: Instant,
    /// None if the caller stopped listening before the end.
    pub ended: Option<Instant>,
    /// The status of the response. None: there was none.
    pub status: Option<u16>,
    pub error: Option<ErrorDetail>,
    /// How long was waited before the next attempt.
    pub wait: Option<Duration>,
    pub content: AttemptContent,
}

/// Request and start of the response, unmasked.
#[derive(Clone)]
pub struct AttemptContent {
    url: String,
    request: Bytes,
    head: Vec<u8>,
    mask: Mask,
}

impl AttemptLog {
    /// A log that somebody is going to read.
    pub fn recording() -> Self {
        Self(Some(Arc::default()))
    }

    /// What was recorded, with the errors as their reader may see them.
    pub fn take(&self) -> Vec<ModelAttempt> {
        let mut taken = Vec::new();
        self.with(|log| {
            taken = std::mem::take(&mut log.attempts);
            for attempt in &mut taken {
                let mask = &mut attempt.content.mask;
                mask.add_redactions(&log.redactions);
                let error = attempt.error.take();
                attempt.error = error.map(|error| error.map_texts(&|text| mask.apply(&text)));
            }
        });
        taken
    }

    /// Hides texts, such as the address of a server, from readers of the log.
    pub fn redact(&self, texts: &[String], replacement: &str) {
        self.with(|log| {
            let pairs = texts
                .iter()
                .map(|text| (text.clone(), replacement.to_owned()));
            log.redactions.extend(pairs);
        });
    }

    pub(crate) fn begin(&self, remote: &Remote, url: &str, request: &Bytes) {
        self.with(|log| {
            log.attempts.push(ModelAttempt {
                started: Instant::now(),
                ended: None,
                status: None,
                error: None,
                wait: None,
                content: AttemptContent {
                    url: url.to_owned(),
                    request: request.clone(),
                    head: Vec::new(),
                    mask: Mask::new(remote),
                },
            });
        });
    }

    pub(crate) fn responded(&self, status: u16) {
        self.with_last(|attempt| attempt.status = Some(status));
    }

    pub(crate) fn received(&self, bytes: &[u8]) {
        self.with_last(|attempt| {
            let head = &mut attempt.content.head;
            let room = MAX_HEAD_BYTES.saturating_sub(head.len()).min(bytes.len());
            head.extend_from_slice(&bytes[..room]);
        });
    }

    pub(crate) fn ended(&self) {
        self.with_last(|attempt| attempt.ended = Some(Instant::now()));
    }

    pub(crate) fn failed(&self, error: impl FnOnce() -> ErrorDetail) {
        self.with_last(|attempt| {
            attempt.ended = Some(Instant::now());
            attempt.error = Some(error());
        });
    }

    pub(crate) fn waits(&self, wait: Duration) {
        self.with_last(|attempt| attempt.wait = Some(wait));
    }

    fn with(&self, change: impl FnOnce(&mut LogState)) {
        if let Some(log) = &self.0 {
            change(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn with_last(&self, change: impl FnOnce(&mut ModelAttempt)) {
        self.with(|log| {
            if let Some(attempt) = log.attempts.last_mut() {
                change(attempt);
            }
        });
    }
}

impl AttemptContent {
    /// Request and response for people: keys masked, length bounded. Takes some milliseconds for a
    /// long chat.
    pub fn mask(&self) -> MaskedExchange {
        self.mask.exchange(&self.url, &self.request, &self.head)
    }
}

/// Omits the content.
impl std::fmt::Debug for AttemptContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AttemptContent")
            .field("bytes", &self.request.len())
            .finish_non_exhaustive()
    }
}
