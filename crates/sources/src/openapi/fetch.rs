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
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::caller::{Caller, Elsewhere, Halt, whole};
use super::discover::{self, Sub};
use super::document;
use tenon_net::without_query;

mod files;
mod places;
mod reading;
mod service_desc;
mod tried;

pub use reading::Unread;
pub(super) use reading::{
    Body, Found, FoundSub, Known, News, Print, Question, Reading, Validators,
};

use tried::Tried;

/// Of one server behind an mcpo, and of all of them.
const MAX_SUB_BODY: usize = 8 * 1024 * 1024;
const MAX_SUB_BODIES: usize = 64 * 1024 * 1024;

/// Larger ones wait for their turn to be read.
const READ_AT_ONCE: usize = 1024 * 1024;

/// Of the list of them.
const MAX_LIST: usize = 512 * 1024;

/// A server that takes longer to describe itself is not one to wait for.
pub(super) const WITHIN: Duration = Duration::from_secs(30);

const SUBS_AT_ONCE: usize = 8;

/// How many links to a description are followed, of all that answers have.
const MAX_LINKED: usize = 4;

/// What an address answered with.
enum Got {
    Document(Found),
    Not(Else),
}

/// Something that is no document.
struct Else {
    /// In a few words.
    what: String,
    wants_key: bool,
    /// Where it says that there is one.
    links: Vec<Url>,
}

impl From<String> for Else {
    fn from(what: String) -> Self {
        Self {
            what,
            wants_key: false,
            links: Vec::new(),
        }
    }
}

/// Reads all documents of a server. The error says what was tried and what came back.
pub(super) async fn read(caller: &Caller, question: &Question<'_>) -> Result<Reading, Unread> {
    let fetch = Fetch {
        caller,
        question,
        end: Instant::now() + question.within,
    };
    let main = timeout_at(fetch.end, fetch.main());
    let main = main
        .await
        .unwrap_or_else(|_| Err(fetch.too_slow().into()))?;
    let main = fetch.with_files(main).await;
    let subs = match &main.news {
        News::New(body) => body
            .list()
            .map(|list| discover::sub_documents(list, &main.url)),
        News::Same { .. } => None,
    };
    let subs = match subs {
        Some(found) => {
            let listed = fetch.listed(found, &main.url);
            let listed = timeout_at(fetch.end, listed).await.unwrap_or_default();
            Some(fetch.subs(listed).await)
        }
        None => None,
    };
    Ok(Reading { main, subs })
}

struct Fetch<'a> {
    caller: &'a Caller,
    question: &'a Question<'a>,
    end: Instant,
}

impl Fetch<'_> {
    async fn main(&self) -> Result<Found, Unread> {
        let known = self.known("");
        let places = places::places(self.question.url, known.map(|known| &known.url));
        let mut places = VecDeque::from(places);
        let mut linked: Vec<Url> = Vec::new();
        let mut tried = Tried::default();
        while let Some(place) = places.pop_front() {
            let is_linked = linked.contains(&place);
            match self.get(place.clone(), known, document::MAX_BYTES).await {
                Ok(Got::Document(found)) => return Ok(found),
                Ok(Got::Not(it)) => {
                    for link in it.links.into_iter().rev() {
                        if !linked.contains(&link) && linked.len() < MAX_LINKED && link != place {
                            places.retain(|place| *place != link);
                            places.push_front(link.clone());
                            linked.push(link);
                        }
                    }
                    tried.add(&place, it.what, it.wants_key);
                }
                // A link may lead to where a server is for others, and not for us.
                Err(halt) if is_linked => tried.end(halt.to_string()),
                Err(halt) => {
                    tried.end(halt.to_string());
                    break;
                }
            }
        }
        Err(tried.unread(self.question.url))
    }

    /// What a server lists for machines, where its description links to nothing.
    async fn listed(&self, found: Vec<Sub>, at: &Url) -> Vec<Sub> {
        let address = discover::list_address(at).filter(|_| found.is_empty());
        let Some(address) = address else {
            return found;
        };
        let list = self.body(address, None, MAX_LIST, Elsewhere::Bare).await;
        match list {
            Ok(Came::Body(body)) => match serde_json::from_slice(&body.bytes) {
                Ok(list) => discover::listed(&list, at),
                Err(_) => Vec::new(),
            },
            Ok(Came::Same { .. } | Came::Not(_)) | Err(_) => Vec::new(),
        }
    }

    /// In the order they are listed.
    async fn subs(&self, subs: Vec<Sub>) -> Vec<FoundSub> {
        let room = &AtomicUsize::new(MAX_SUB_BODIES);
        let reading = stream::iter(subs).map(|sub| async move {
            let found = self.sub(&sub, room).await;
            FoundSub {
                name: sub.name,
                found,
            }
        });
        reading.buffered(SUBS_AT_ONCE).collect().await
    }

    async fn sub(&self, sub: &Sub, room: &AtomicUsize) -> Result<Found, String> {
        let left = room.load(Ordering::Relaxed);
        if left == 0 {
            return Err("The documents of all servers together are too large.".into());
        }
        let known = self.known(&sub.name);
        // A few that hang must not hold up all the rest.
        let end = self.end.min(Instant::now() + self.question.within * 2 / 5);
        let got = self.get(sub.url.clone(), known, MAX_SUB_BODY.min(left));
        let got = timeout_at(end, got).await;
        let found = match got {
            Ok(Ok(Got::Document(found))) => found,
            Ok(Ok(Got::Not(it))) => {
                return Err(format!("{} {}.", without_query(&sub.url), it.what));
            }
            Ok(Err(halt)) => return Err(halt.to_string()),
            Err(_) => return Err(self.too_slow()),
        };
        let taken = found.news.len();
        let _ = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(taken))
        });
        Ok(found)
    }

    fn known(&self, name: &str) -> Option<&Known> {
        self.question.known.iter().find(|known| known.name == name)
    }

    /// An error means that asking elsewhere at the same server would not help.
    async fn get(&self, url: Url, known: Option<&Known>, most: usize) -> Result<Got, Halt> {
        let body = match self.body(url, known, most, Elsewhere::Bare).await? {
            Came::Body(body) => body,
            Came::Same { url, validators } => {
                // What is kept may be asked for by the old ones after a restart, and is sent once
                // more then: that is cheaper than to fetch it from there.
                let bytes = None;
                let news = News::Same { validators, bytes };
                return Ok(Got::Document(Found { url, news }));
            }
            Came::Not(it) => return Ok(Got::Not(it)),
        };
        let mut links = body.links;
        if starts_with(&body.bytes, b"<") {
            links.extend(service_desc::in_page(&body.bytes, &body.url));
            let page = Else::from("answered with a web page".to_owned());
            return Ok(Got::Not(Else { links, ..page }));
        }
        let at = without_query(&body.url);
        let known = known.filter(|known| known.url == body.url);
        let print = known.map(|known| known.print);
        // A large one takes its time.
        let read = tokio::task::spawn_blocking(move || {
            if print == Some(Print::of(&body.bytes)) {
                return (body.bytes, None);
            }
            // What is no document is not so large.
            let document = (body.bytes.len() <= READ_AT_ONCE)
                .then(|| document::read(&body.bytes).map_err(|wrong| wrong.to_string()));
            (body.bytes, Some(document))
        });
        let unreadable = |_| Halt::Unusable(format!("What {at} answered with cannot be read."));
        let (bytes, document) = read.await.map_err(unreadable)?;
        let Some(document) = document else {
            let validators = body.validators;
            let is_other = known.is_some_and(|known| known.validators != validators);
            let bytes = is_other.then_some(bytes);
            return Ok(Got::Document(Found {
                url: body.url,
                news: News::Same { validators, bytes },
            }));
        };
        match document.transpose() {
            Ok(document) if document.as_ref().is_none_or(document::may_be_document) => {
                let news = News::New(Box::new(Body {
                    bytes,
                    document,
                    validators: body.validators,
                }));
                Ok(Got::Document(Found {
                    url: body.url,
                    news,
                }))
            }
            Ok(other) => {
                let listed = other.map(|other| service_desc::in_json(&other, &body.url));
                links.extend(listed.into_iter().flatten());
                let other = "answered with something that is no OpenAPI document".to_owned();
                Ok(Got::Not(Else {
                    links,
                    ..other.into()
                }))
            }
            // This is meant to be one: another would not be the one that is wanted.
            Err(why) if starts_with(&bytes, b"{") => {
                Err(Halt::Unusable(format!("{at} cannot be read. {why}")))
            }
            Err(why) => {
                let why = why.trim_end_matches('.');
                let what = format!("answered with something that is neither JSON nor YAML ({why})");
                Ok(Got::Not(Else {
                    links,
                    ..what.into()
                }))
            }
        }
    }

    async fn body(
        &self,
        url: Url,
        known: Option<&Known>,
        most: usize,
        elsewhere: Elsewhere,
    ) -> Result<Came, Halt> {
        let mut request = reqwest::Request::new(Method::GET, url.clone());
        let headers = request.headers_mut();
        if url.origin() == self.question.url.origin() {
            headers.extend(self.question.headers.clone());
        }
        let any = HeaderValue::from_static("application/json, application/yaml;q=0.9, */*;q=0.5");
        headers.insert(ACCEPT, any);
        let is_asked_by = |known: &&Known| {
            let is_read_whole = known.has_files && self.question.anew;
            known.url == plain(&url) && !is_read_whole
        };
        if let Some(known) = known.filter(is_asked_by) {
            let mut ask = |name: HeaderName, value: &Option<String>| {
                let value = value.as_ref().map(HeaderValue::try_from);
                if let Some(Ok(value)) = value {
                    headers.insert(name, value);
                }
            };
            ask(IF_NONE_MATCH, &known.validators.etag);
            ask(IF_MODIFIED_SINCE, &known.validators.last_modified);
        }
        let response = self.caller.open(request, elsewhere).await?;
        let links = service_desc::in_headers(response.headers(), response.url());
        let (status, url) = (response.status(), plain(response.url()));
        let validators = Validators::of(response.headers());
        let known = known.filter(|known| known.url == url);
        match (status.as_u16(), known) {
            (200..=299, _) => {}
            (304, Some(known)) => {
                let validators = validators.or(&known.validators);
                return Ok(Came::Same { url, validators });
            }
            // It is ill, which says nothing about where its document is.
            (429 | 500.., known) if known.is_some() || places::names_a_document(&url) => {
                let at = without_query(&url);
                return Err(Halt::Unusable(format!("{at} answered {status}.")));
            }
            (401 | 403, _) => {
                return Ok(Came::Not(Else {
                    what: format!("asks for a key (it answered {status})"),
                    wants_key: true,
                    links,
                }));
            }
            _ => {
                let other = Else::from(format!("answered {status}"));
                return Ok(Came::Not(Else { links, ..other }));
            }
        }
        let bytes = whole(response, most).await?;
        Ok(Came::Body(Whole {
            url,
            bytes,
            validators,
            links,
        }))
    }

    fn too_slow(&self) -> String {
        let host = self.question.url.host_str().unwrap_or_default();
        format!("{host} did not send its document in time.")
    }
}

/// What came from an address, unread.
enum Came {
    Body(Whole),
    Same {
        url: Url,
        validators: Validators,
    },
    /// No success.
    Not(Else),
}

struct Whole {
    url: Url,
    bytes: Vec<u8>,
    validators: Validators,
    /// Where it says that a description is.
    links: Vec<Url>,
}

/// An address without what may be a secret in it.
fn plain(url: &Url) -> Url {
    let mut plain = url.clone();
    plain.set_query(None);
    plain.set_fragment(None);
    plain
}

fn starts_with(bytes: &[u8], start: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii_start().starts_with(start)
}
