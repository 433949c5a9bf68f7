//! What is asked of a server's address, and what comes of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use reqwest::header::{ETAG, HeaderMap, HeaderName, LAST_MODIFIED};
use serde_json::Value;
use url::Url;

use crate::openapi::discover;

/// Longer ones are none.
const MAX_VALIDATOR: usize = 1024;

/// What is asked, and what is known already.
#[derive(Debug)]
pub(in crate::openapi) struct Question<'a> {
    pub(in crate::openapi) url: &'a Url,
    /// For the site of that address alone.
    pub(in crate::openapi) headers: &'a HeaderMap,
    pub(in crate::openapi) known: &'a [Known],
    /// What other files a document refers to is read again too, even if it is the same itself.
    pub(in crate::openapi) anew: bool,
    /// How long all of it may take.
    pub(in crate::openapi) within: Duration,
}

/// A document that need not be sent again if it is still the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::openapi) struct Known {
    pub(in crate::openapi) name: String,
    /// As it was found.
    pub(in crate::openapi) url: Url,
    pub(in crate::openapi) validators: Validators,
    pub(in crate::openapi) print: Print,
    /// It was made of several files, of which the validators are those of the first.
    pub(in crate::openapi) has_files: bool,
}

/// By which a server tells whether a document is still what it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::openapi) struct Validators {
    pub(in crate::openapi) etag: Option<String>,
    pub(in crate::openapi) last_modified: Option<String>,
}

impl Validators {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| {
            let value = headers.get(name)?.to_str().ok()?;
            (value.len() <= MAX_VALIDATOR).then(|| value.to_owned())
        };
        Self {
            etag: text(ETAG),
            last_modified: text(LAST_MODIFIED),
        }
    }

    /// Each of these, or what was known where it is not among them.
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

/// By which bytes are known to be the same as before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::openapi) struct Print(usize, u64);

impl Print {
    pub(in crate::openapi) fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self(bytes.len(), hasher.finish())
    }
}

/// What was read.
#[derive(Debug)]
pub(in crate::openapi) struct Reading {
    pub(in crate::openapi) main: Found,
    /// Those of an mcpo's servers. None: the main one is all there is.
    pub(in crate::openapi) subs: Option<Vec<FoundSub>>,
}

/// The document of a server behind an mcpo, or why there is none.
#[derive(Debug)]
pub(in crate::openapi) struct FoundSub {
    pub(in crate::openapi) name: String,
    pub(in crate::openapi) found: Result<Found, String>,
}

/// A document, and where it really was.
#[derive(Debug)]
pub(in crate::openapi) struct Found {
    /// Without its query: that may be a secret, and this is kept.
    pub(in crate::openapi) url: Url,
    pub(in crate::openapi) news: News,
}

#[derive(Debug)]
pub(in crate::openapi) enum News {
    /// It is what is known, though it may be asked for otherwise the next time.
    Same {
        validators: Validators,
        /// If it was sent all the same, and is to be kept with other validators.
        bytes: Option<Vec<u8>>,
    },
    New(Box<Body>),
}

#[derive(Debug)]
pub(in crate::openapi) struct Body {
    pub(in crate::openapi) bytes: Vec<u8>,
    /// None: it is so large that it is read when its turn comes. Many servers send
    /// theirs at the same time, and a document takes ten times its length.
    pub(in crate::openapi) document: Option<Value>,
    pub(in crate::openapi) validators: Validators,
}

impl News {
    /// How much of what was sent is held.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Same { bytes, .. } => bytes.as_ref().map_or(0, Vec::len),
            Self::New(body) => body.bytes.len(),
        }
    }
}

impl Body {
    /// The document, if all it can do is name others.
    pub(super) fn list(&self) -> Option<&Value> {
        let document = self.document.as_ref();
        document.filter(|document| !discover::has_paths(document))
    }
}

/// Why nothing was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// A sentence.
    pub why: String,
    /// It shows its document to nobody it does not know.
    pub wants_key: bool,
}

impl From<String> for Unread {
    fn from(why: String) -> Self {
        Self {
            why,
            wants_key: false,
        }
    }
}
