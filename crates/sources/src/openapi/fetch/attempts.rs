//! The URLs that were tried for a document, and what was there instead.

use reqwest::StatusCode;
use tenon_domain::{CodedError, ErrorDetail, ErrorParam};
use tenon_net::without_query;
use url::Url;

use super::error::{FetchError, OtherAnswer};

/// How many URLs with the same answer are named in an error.
const MAX_NAMED_URLS: usize = 3;

#[derive(Default)]
pub(super) struct FetchAttempts {
    /// Each with the urls that gave it.
    answers: Vec<(OtherAnswer, Vec<String>)>,
    /// The errors that ended the search.
    ends: Vec<ErrorDetail>,
    urls: usize,
    /// The status of each that asked for a key.
    locked: Vec<StatusCode>,
}

impl FetchAttempts {
    pub(super) fn add(&mut self, url: &Url, answer: OtherAnswer) {
        self.urls += 1;
        if let OtherAnswer::NeedsKey(status) = answer {
            self.locked.push(status);
        }
        let shown = without_query(url);
        match self.answers.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, urls)) => urls.push(shown),
            None => self.answers.push((answer, vec![shown])),
        }
    }

    pub(super) fn add_final(&mut self, why: ErrorDetail) {
        self.ends.push(why);
    }

    pub(super) fn into_error(mut self, given: &Url) -> FetchError {
        let is_locked = self.locked.len() == self.urls && self.ends.is_empty();
        let locked = self.locked.first().copied();
        let error = match (locked.filter(|_| is_locked), self.ends.as_mut_slice()) {
            // One message for all URLs, because every one answered the same.
            (Some(status), _) => FetchError::KeyMissing {
                origin: given.origin().ascii_serialization().into(),
                status: status.to_string().into(),
            },
            (None, [_]) if self.answers.is_empty() => FetchError::Send(self.ends.remove(0)),
            (None, _) => {
                let answers = self.answers.into_iter();
                let answers = answers.map(|(answer, urls)| answer.at(named(&urls)).into());
                let all: Vec<ErrorDetail> = answers.chain(self.ends).collect();
                let answers = all.into();
                FetchError::NotFound { answers }
            }
        };
        if locked.is_none() {
            return error;
        }
        let why = error.detail().into();
        FetchError::NeedsKey { why }
    }
}

fn named(urls: &[String]) -> ErrorParam {
    if urls.len() <= MAX_NAMED_URLS {
        return urls.join(", ").into();
    }
    let (first, more) = urls.split_at(MAX_NAMED_URLS);
    let places = FetchError::Places {
        addresses: first.join(", ").into(),
        count: more.len(),
    };
    places.into()
}
