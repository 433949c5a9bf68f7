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

use super::address::{self, HostScope, origin, place};
use super::cors::{self, CorsRefusal};
use super::http_client::{HttpProbe, ProbeError};
use super::own_headers::OwnHeaders;
use super::problem::{DoctorProblem, ProblemKind};
use super::step::{Headers, SentRequest, StepOutcome};
use super::step_log::StepLog;

const MAX_REDIRECTS: usize = 5;

pub(super) struct Browser {
    pub(super) ledger: StepLog,
    page: Url,
    wire: HttpProbe,
    /// What a preflight has allowed is not asked for again: address, method, header.
    allowed: HashSet<(String, String, String)>,
}

/// A request, as a page makes it.
pub(super) struct BrowserRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    /// Besides the person's own.
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
    pub(super) message: Option<&'static str>,
}

impl BrowserRequest {
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
pub(super) struct BrowserResponse {
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) response: Response,
    /// What keeps it from the page.
    pub(super) trouble: Option<DoctorProblem>,
    /// Where it is written down.
    pub(super) step: usize,
}

impl Browser {
    pub(super) fn new(page: Url, own: OwnHeaders, wire: HttpProbe) -> Self {
        Self {
            ledger: StepLog::new(own),
            page,
            wire,
            allowed: HashSet::new(),
        }
    }

    pub(super) fn page(&self) -> String {
        origin(&self.page)
    }

    /// What a browser would not let through is no error here, but told with the reply.
    pub(super) async fn fetch(
        &mut self,
        mut ask: BrowserRequest,
    ) -> Result<BrowserResponse, DoctorProblem> {
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
        Err(DoctorProblem::new(
            ProblemKind::WrongPath,
            format!("{site} redirects again and again."),
        ))
    }

    /// Whether a request may follow. It is not sent.
    pub(super) async fn may(
        &mut self,
        ask: &BrowserRequest,
    ) -> Result<Option<CorsRefusal>, DoctorProblem> {
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
        let with = if names.is_empty() {
            String::new()
        } else {
            format!(" with {}", names.join(", "))
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
    pub(super) async fn is_let_in_without_origin(&self, ask: &BrowserRequest) -> bool {
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
            Err(failure) => matches!(failure, ProbeError::NotTrusted(_)),
        }
    }

    /// The end of a session that no page would end. Nobody waits for what it answers.
    pub(super) async fn forget(&self, url: &Url, headers: HeaderMap) {
        let _ = self.wire.send(Method::DELETE, url, headers, None).await;
    }

    pub(super) async fn whole(&mut self, reply: BrowserResponse) -> Result<Vec<u8>, DoctorProblem> {
        let (url, step) = (reply.url, reply.step);
        let read = self.wire.whole(reply.response).await;
        read.map_err(|failure| {
            self.ledger
                .fail(step, DoctorProblem::of_failure(&failure, &url))
        })
    }

    pub(super) fn wire(&self) -> &HttpProbe {
        &self.wire
    }

    async fn fetch_once(&mut self, ask: &BrowserRequest) -> Result<BrowserResponse, DoctorProblem> {
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
        let unread = if self.is_ours(&ask.url) {
            None
        } else {
            cors::readable(response.headers(), &page).err()
        };
        let corp = self.ledger.own.shown(&corp(response.headers()), 100);
        // Who may not read anything is told so first: it is the larger fault.
        let (trouble, verdict) = match (unsent, unread) {
            (None, None) => (None, "lets it through".to_owned()),
            (None, Some(unread)) => (
                Some(DoctorProblem::of_refusal(&unread, false, &page)),
                format!("keeps it from the page: {unread}"),
            ),
            (
                Some(CorsRefusal::NoOrigin | CorsRefusal::Status(_) | CorsRefusal::Redirect(_)),
                Some(unread),
            ) => (
                Some(DoctorProblem::of_refusal(&unread, false, &page)),
                "would not have sent it".to_owned(),
            ),
            (Some(unsent), _) => (
                Some(DoctorProblem::of_refusal(&unsent, true, &page)),
                "would not have sent it".to_owned(),
            ),
        };
        let trouble = trouble.map(|mut trouble| {
            if trouble.kind == ProblemKind::Cors && !corp.is_empty() {
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
        Ok(BrowserResponse {
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
    ) -> Result<(usize, Response), DoctorProblem> {
        let asked = SentRequest {
            method: method.to_string(),
            url: self.ledger.own.shown(url.as_str(), 500),
            headers: Headers(self.ledger.own.shown_headers(&headers)),
            message,
        };
        let sent = self.wire.send(method, url, headers, body).await;
        let came = match &sent {
            Ok(response) => StepOutcome::Got {
                status: response.status().as_u16(),
                headers: Headers(self.ledger.own.shown_headers(response.headers())),
            },
            Err(failure) => StepOutcome::Error(in_short(failure).to_owned()),
        };
        let step = self.ledger.write(asked, came);
        match sent {
            Ok(response) => Ok((step, response)),
            Err(failure) => {
                let trouble = DoctorProblem::of_failure(&failure, url);
                Err(self.ledger.fail(step, trouble))
            }
        }
    }

    /// All that goes along with a request.
    fn headers(&self, ask: &BrowserRequest) -> HeaderMap {
        let mut headers = self.base(&ask.url);
        headers.extend(ask.headers.clone());
        headers.extend(self.ledger.own.headers.clone());
        headers
    }

    /// What a browser adds. No server may count on more: an old one adds the origin alone.
    fn base(&self, url: &Url) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(ORIGIN, value(&self.page()))]);
        if url.scheme() == "https" || place(url) == HostScope::Here {
            let site = if url.host() == self.page.host() {
                "same-site"
            } else {
                "cross-site"
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

    fn is_allowed(&self, ask: &BrowserRequest, names: &[String]) -> bool {
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

fn redirect(reply: &BrowserResponse) -> Option<Url> {
    if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let to = reply.headers.get(LOCATION)?;
    reply.url.join(to.to_str().ok()?).ok()
}

fn redirected(from: &Url, to: &str) -> DoctorProblem {
    let is_secured = address::other_scheme(from).is_some_and(|other| {
        let host = other.host_str().unwrap_or_default();
        from.scheme() == "http" && to.starts_with(&format!("https://{host}"))
    });
    if is_secured {
        DoctorProblem::new(
            ProblemKind::UseHttps,
            format!("It redirects to {to}. Use that address."),
        )
    } else {
        DoctorProblem::new(
            ProblemKind::WrongPath,
            format!("It redirects to {to}. Use that address."),
        )
    }
}

/// What stands where an answer would.
fn in_short(failure: &ProbeError) -> &'static str {
    match failure {
        ProbeError::NotListening => "connection refused",
        ProbeError::NoSuchHost => "no such host",
        ProbeError::Late => "nothing for 5 s",
        ProbeError::NotTrusted(_) => "untrusted certificate",
        ProbeError::NoTls(_) => "no TLS connection",
        ProbeError::PlainHttp => "plain http, no TLS",
        ProbeError::NotHttp(_) => "no HTTP",
        ProbeError::Cut => "broken off",
        ProbeError::TooLong => "too long",
    }
}
