//! The URLs that were tried for a document, and what was there instead.

use tenon_net::without_query;
use url::Url;

use super::FetchError;

/// So many urls with the same answer are named.
const MAX_NAMED_URLS: usize = 3;

#[derive(Default)]
pub(super) struct FetchAttempts {
    /// Each with what is true of all its urls.
    answers: Vec<(Vec<String>, String)>,
    /// Sentences about what ended it.
    ends: Vec<String>,
    urls: usize,
    /// What was said where a key was asked for.
    locked: Vec<String>,
}

impl FetchAttempts {
    /// `what` goes on after the url.
    pub(super) fn add(&mut self, url: &Url, what: String, needs_key: bool) {
        self.urls += 1;
        self.locked.extend(needs_key.then(|| what.clone()));
        let shown = without_query(url);
        match self.answers.iter_mut().find(|(_, known)| *known == what) {
            Some((urls, _)) => urls.push(shown),
            None => self.answers.push((vec![shown], what)),
        }
    }

    pub(super) fn add_final(&mut self, sentence: String) {
        self.ends.push(sentence);
    }

    pub(super) fn into_error(self, given: &Url) -> FetchError {
        let is_locked = self.locked.len() == self.urls && self.ends.is_empty();
        let locked = self.locked.into_iter().next();
        let needs_key = locked.is_some();
        let why = match (locked.filter(|_| is_locked), self.ends.as_slice()) {
            // To say it of every url once would say no more.
            (Some(what), _) => format!(
                "{} {what}. Add it to this server as a header.",
                given.origin().ascii_serialization(),
            ),
            (None, [only]) if self.answers.is_empty() => only.clone(),
            (None, ends) => {
                let answers = self.answers.iter();
                let answers = answers.map(|(urls, what)| format!("{} {what}", named(urls)));
                let all: Vec<String> = answers.chain(ends.iter().cloned()).collect();
                let all = all.join("; ");
                format!(
                    "No OpenAPI document was found: {}.",
                    all.trim_end_matches('.')
                )
            }
        };
        FetchError {
            message: why,
            needs_key,
        }
    }
}

fn named(urls: &[String]) -> String {
    match urls {
        [one] => one.clone(),
        urls if urls.len() <= MAX_NAMED_URLS => urls.join(", "),
        urls => {
            let first = urls.iter().take(MAX_NAMED_URLS).map(String::as_str);
            let first: Vec<&str> = first.collect();
            let more = urls.len() - MAX_NAMED_URLS;
            format!("{} and {more} more usual places", first.join(", "))
        }
    }
}
