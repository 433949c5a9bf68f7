//! Where a document was looked for, and what was there instead.

use url::Url;

use super::Unread;
use tenon_net::without_query;

/// So many places with the same answer are named.
const MAX_NAMED: usize = 3;

#[derive(Default)]
pub(super) struct Tried {
    /// Each with what is true of all its places.
    answers: Vec<(Vec<String>, String)>,
    /// Sentences about what ended it.
    ends: Vec<String>,
    places: usize,
    /// What was said where a key was asked for.
    locked: Vec<String>,
}

impl Tried {
    /// `what` goes on after the place.
    pub(super) fn add(&mut self, place: &Url, what: String, wants_key: bool) {
        self.places += 1;
        self.locked.extend(wants_key.then(|| what.clone()));
        let shown = without_query(place);
        match self.answers.iter_mut().find(|(_, known)| *known == what) {
            Some((places, _)) => places.push(shown),
            None => self.answers.push((vec![shown], what)),
        }
    }

    pub(super) fn end(&mut self, sentence: String) {
        self.ends.push(sentence);
    }

    pub(super) fn unread(self, given: &Url) -> Unread {
        let is_locked = self.locked.len() == self.places && self.ends.is_empty();
        let locked = self.locked.into_iter().next();
        let wants_key = locked.is_some();
        let why = match (locked.filter(|_| is_locked), self.ends.as_slice()) {
            // To say it of every place once would say no more.
            (Some(what), _) => format!(
                "{} {what}. Add it to this server as a header.",
                given.origin().ascii_serialization(),
            ),
            (None, [only]) if self.answers.is_empty() => only.clone(),
            (None, ends) => {
                let answers = self.answers.iter();
                let answers = answers.map(|(places, what)| format!("{} {what}", named(places)));
                let all: Vec<String> = answers.chain(ends.iter().cloned()).collect();
                let all = all.join("; ");
                format!(
                    "No OpenAPI document was found: {}.",
                    all.trim_end_matches('.')
                )
            }
        };
        Unread { why, wants_key }
    }
}

fn named(places: &[String]) -> String {
    match places {
        [one] => one.clone(),
        places if places.len() <= MAX_NAMED => places.join(", "),
        places => {
            let first = places.iter().take(MAX_NAMED).map(String::as_str);
            let first: Vec<&str> = first.collect();
            let more = places.len() - MAX_NAMED;
            format!("{} and {more} more usual places", first.join(", "))
        }
    }
}
