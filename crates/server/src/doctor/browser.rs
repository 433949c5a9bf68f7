//! Asks as a browser does for a page, and writes down what it would make of the answers.
//!
//! Where a browser would stop, the shell goes on: what it then sees tells who is there.

use std::collections::HashSet;

use reqwest::header::{
    ACCEPT, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderName,
    HeaderValue, LOCATION, ORIGIN,
};
use reqwest::{Method, Response};
use url::Url;

use super::address::{self, Place, origin, place};
use super::cors::{self, Refused};
use super::ledger::Ledger;
use super::own::Own;
use super::step::{Asked, Came, Headers};
use super::trouble::{Kind, Trouble};
use super::wire::{Failure, Wire};

const MAX_REDIRECTS: usize = 5;

pub(super) struct Browser {
    pub(super) ledger: Ledger,
    page: Url,
    wire: Wire,
    /// What a preflight has allowed is not asked for again: address, method, header.
    allowed: HashSet<(String, String, String)>,
}

/// A request, as a page makes it.
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) url: Url,
    /// Besides the person's own.
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
    pub(super) message: Option<&'static str>,
}

impl Ask {
    pub(super) fn get(url: Url, accept: &'static str) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]),
            body: None,
            message: None,
        }
    }
}

/// An answer, also one that no page would see.
pub(super) struct Reply {
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) response: Response,
    /// What keeps it from the page.
    pub(super) trouble: Option<Trouble>,
    /// Where it is written down.
    pub(super) step: usize,
}

impl Browser {
    pub(super) fn new(page: Url, own: Own, wire: Wire) -> Self {
        Self {
            ledger: Ledger::new(own),
            page,
            wire,
            allowed: HashSet::new(),
        }
    }

    pub(super) fn page(&self) -> String {
        origin(&self.page)
    }

    /// What a browser would not let through is no error here, but told with the reply.
    pub(super) async fn fetch(&mut self, mut ask: Ask) -> Result<Reply, Trouble> {
        for _ in 0..=MAX_REDIRECTS {
            let reply = self.fetch_once(&ask).await?;
            let Some(to) = redirect(&reply) else {
                return Ok(reply);
            };
            let keeps_method = matches!(reply.status, 307 | 308) || ask.method == Method::GET;
            if to.origin() != ask.url.origin() || !keeps_method {
                let to = self.ledger.own.shown(to.as_str(), 200);
                return Err(self.ledger.fail(reply.step, redirected(&ask.url, &to)));
            }
            // Even a redirect has to be allowed.
            if reply.trouble.is_some() {
                return Ok(reply);
            }
            self.ledger.note(reply.step, true, "goes where it leads");
            ask.url = to;
        }
        let site = origin(&ask.url);
        Err(Trouble::new(
            Kind::WrongPath,
            format!("{site} redirects again and again."),
        ))
    }

    /// Whether a request may follow. It is not sent.
    pub(super) async fn may(&mut self, ask: &Ask) -> Result<Option<Refused>, Trouble> {
        let mut headers = ask.headers.clone();
        headers.extend(self.ledger.own.headers.clone());
        let names = cors::unsafe_headers(&headers);
        let is_asked = cors::needs_preflight(&ask.method, &names) && !self.is_ours(&ask.url);
        if !is_asked || self.is_allowed(ask, &names) {
            return Ok(None);
        }
        let mut asked = self.base(&ask.url);
        asked.insert(ACCESS_CONTROL_REQUEST_METHOD, value(ask.method.as_str()));
        if !names.is_empty() {
            asked.insert(ACCESS_CONTROL_REQUEST_HEADERS, value(&names.join(",")));
        }
        let response = self.send(Method::OPTIONS, &ask.url, asked, None, None);
        let (step, response) = response.await?;
        let (status, page) = (response.status().as_u16(), self.page());
        let decided = cors::preflight(status, response.headers(), &page, &ask.method, &names);
        let with = match names.is_empty() {
            true => String::new(),
            false => format!(" with {}", names.join(", ")),
        };
        let (ok, verdict) = match &decided {
            Ok(()) => (true, format!("may send {}{with}", ask.method)),
            Err(refused) => (
                false,
                format!("does not send the {}: {refused}", ask.method),
            ),
        };
        self.ledger.note(step, ok, &verdict);
        if ok {
            let key = |name: &String| (ask.url.to_string(), ask.method.to_string(), name.clone());
            self.allowed.extend(names.iter().map(key));
        }
        Ok(decided.err())
    }

    /// Whether the same without `Origin` is let in: then it is the page that is refused.
    pub(super) async fn is_let_in_without_origin(&self, ask: &Ask) -> bool {
        let mut headers = ask.headers.clone();
        headers.extend(self.ledger.own.headers.clone());
        let answer = self
            .wire
            .send(ask.method.clone(), &ask.url, headers, ask.body.clone());
        answer
            .await
            .is_ok_and(|answer| !matches!(answer.status().as_u16(), 401 | 403))
    }

    /// Whether anybody speaks HTTP at an address, trusted or not.
    pub(super) async fn answers(&self, url: &Url) -> bool {
        let asked = self.wire.send(Method::GET, url, HeaderMap::new(), None);
        match asked.await {
            // So do some who want TLS, to say so.
            Ok(answer) => url.scheme() == "https" || answer.status() != 400,
            Err(failure) => matches!(failure, Failure::NotTrusted(_)),
        }
    }

    /// The end of a session that no page would end. Nobody waits for what it answers.
    pub(super) async fn forget(&self, url: &Url, headers: HeaderMap) {
        let _ = self.wire.send(Method::DELETE, url, headers, None).await;
    }

    pub(super) async fn whole(&mut self, reply: Reply) -> Result<Vec<u8>, Trouble> {
        let (url, step) = (reply.url, reply.step);
        let read = self.wire.whole(reply.response).await;
        read.map_err(|failure| self.ledger.fail(step, Trouble::of_failure(&failure, &url)))
    }

    pub(super) fn wire(&self) -> &Wire {
        &self.wire
    }

    async fn fetch_once(&mut self, ask: &Ask) -> Result<Reply, Trouble> {
        let unsent = self.may(ask).await?;
        let headers = self.headers(ask);
        let sent = self.send(
            ask.method.clone(),
            &ask.url,
            headers,
            ask.body.clone(),
            ask.message,
        );
        let (step, response) = sent.await?;
        let page = self.page();
        let unread = match self.is_ours(&ask.url) {
            true => None,
            false => cors::readable(response.headers(), &page).err(),
        };
        let corp = self.ledger.own.shown(&corp(response.headers()), 100);
        // Who may not read anything is told so first: it is the larger fault.
        let (trouble, verdict) = match (unsent, unread) {
            (None, None) => (None, "lets it through".to_owned()),
            (None, Some(unread)) => (
                Some(Trouble::of_refusal(&unread, false, &page)),
                format!("keeps it from the page: {unread}"),
            ),
            (Some(Refused::NoOrigin | Refused::Status(_) | Refused::Redirect(_)), Some(unread)) => {
                (
                    Some(Trouble::of_refusal(&unread, false, &page)),
                    "would not have sent it".to_owned(),
                )
            }
            (Some(unsent), _) => (
                Some(Trouble::of_refusal(&unsent, true, &page)),
                "would not have sent it".to_owned(),
            ),
        };
        let trouble = trouble.map(|mut trouble| {
            if trouble.kind == Kind::Cors && !corp.is_empty() {
                // The page tries whether anybody is there at all, and this hides even that.
                let also = "and the page may take the server for one that does not run";
                trouble.message = format!(
                    "{} It also sends Cross-Origin-Resource-Policy: {corp}, {also}.",
                    trouble.message
                );
            }
            trouble
        });
        self.ledger.note(step, trouble.is_none(), &verdict);
        Ok(Reply {
            url: ask.url.clone(),
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            response,
            trouble,
            step,
        })
    }

    async fn send(
        &mut self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<String>,
        message: Option<&'static str>,
    ) -> Result<(usize, Response), Trouble> {
        let asked = Asked {
            method: method.to_string(),
            url: self.ledger.own.shown(url.as_str(), 500),
            headers: Headers(self.ledger.own.shown_headers(&headers)),
            message,
        };
        let sent = self.wire.send(method, url, headers, body).await;
        let came = match &sent {
            Ok(response) => Came::Got {
                status: response.status().as_u16(),
                headers: Headers(self.ledger.own.shown_headers(response.headers())),
            },
            Err(failure) => Came::Error(in_short(failure).to_owned()),
        };
        let step = self.ledger.write(asked, came);
        match sent {
            Ok(response) => Ok((step, response)),
            Err(failure) => {
                let trouble = Trouble::of_failure(&failure, url);
                Err(self.ledger.fail(step, trouble))
            }
        }
    }

    /// All that goes along with a request.
    fn headers(&self, ask: &Ask) -> HeaderMap {
        let mut headers = self.base(&ask.url);
        headers.extend(ask.headers.clone());
        headers.extend(self.ledger.own.headers.clone());
        headers
    }

    /// What a browser adds. No server may count on more: an old one adds the origin alone.
    fn base(&self, url: &Url) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(ORIGIN, value(&self.page()))]);
        if url.scheme() == "https" || place(url) == Place::Here {
            let site = match url.host() == self.page.host() {
                true => "same-site",
                false => "cross-site",
            };
            for (name, text) in [
                ("sec-fetch-mode", "cors"),
                ("sec-fetch-dest", "empty"),
                ("sec-fetch-site", site),
            ] {
                headers.insert(HeaderName::from_static(name), value(text));
            }
        }
        headers
    }

    /// Where the page itself comes from nothing has to be allowed.
    fn is_ours(&self, url: &Url) -> bool {
        url.origin() == self.page.origin()
    }

    fn is_allowed(&self, ask: &Ask, names: &[String]) -> bool {
        let key = |name: &String| (ask.url.to_string(), ask.method.to_string(), name.clone());
        !names.is_empty() && names.iter().all(|name| self.allowed.contains(&key(name)))
    }
}

/// Ours, and of characters that a header may have.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

/// What keeps an answer even from those who only want to know that there is one.
fn corp(answer: &HeaderMap) -> String {
    let value = answer.get("cross-origin-resource-policy");
    let value = value.map(|value| value.as_bytes().trim_ascii());
    match value {
        Some(b"same-origin" | b"same-site") => {
            String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
        }
        Some(_) | None => String::new(),
    }
}

fn redirect(reply: &Reply) -> Option<Url> {
    if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let to = reply.headers.get(LOCATION)?;
    reply.url.join(to.to_str().ok()?).ok()
}

fn redirected(from: &Url, to: &str) -> Trouble {
    let is_secured = address::other_scheme(from).is_some_and(|other| {
        let host = other.host_str().unwrap_or_default();
        from.scheme() == "http" && to.starts_with(&format!("https://{host}"))
    });
    match is_secured {
        true => Trouble::new(
            Kind::UseHttps,
            format!("It redirects to {to}. Use that address."),
        ),
        false => Trouble::new(
            Kind::WrongPath,
            format!("It redirects to {to}. Use that address."),
        ),
    }
}

/// What stands where an answer would.
fn in_short(failure: &Failure) -> &'static str {
    match failure {
        Failure::NotListening => "connection refused",
        Failure::NoSuchHost => "no such host",
        Failure::Late => "nothing for 5 s",
        Failure::NotTrusted(_) => "untrusted certificate",
        Failure::NoTls(_) => "no TLS connection",
        Failure::PlainHttp => "plain http, no TLS",
        Failure::NotHttp(_) => "no HTTP",
        Failure::Cut => "broken off",
        Failure::TooLong => "too long",
    }
}
