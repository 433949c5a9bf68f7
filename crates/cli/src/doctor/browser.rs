//! Sends requests as a browser does for a page, and logs what it would make of the responses.
//!
//! Where a browser would stop, the shell goes on: what it then sees tells who is there.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use reqwest::header::{
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderValue,
};
use reqwest::{Body, Method, Request, Response};
use url::Url;

use super::fix::ServerFramework;
use super::http_probe::HttpProbe;
use super::own_headers::OwnHeaders;
use super::problem::{DoctorProblem, ProblemKind};
use super::rules::{self, CorsRefusal, origin};
use super::step::{DoctorStep, SentRequest};

const MAX_REDIRECTS: usize = 5;
const MAX_VERDICT_CHARS: usize = 300;

#[derive(Debug)]
pub(super) struct Browser {
    pub(super) own: OwnHeaders,
    pub(super) http: HttpProbe,
    page: Url,
    /// Locked, because an MCP connection sends through it from tasks of its own.
    state: Mutex<BrowserState>,
}

#[derive(Debug, Default)]
pub(super) struct BrowserState {
    pub(super) steps: Vec<DoctorStep>,
    /// What the server was made with, also where the page cannot use it.
    pub(super) framework: ServerFramework,
    /// Cache of successful preflights: address, method, header.
    allowed: HashSet<(Url, Method, String)>,
    redirects: HashMap<Url, Url>,
}

/// A response, also one that no page would see.
#[derive(Debug)]
pub(super) struct BrowserResponse {
    /// The final request after redirects, without the headers that a browser adds.
    pub(super) request: Request,
    pub(super) response: Response,
    /// What keeps it from the page.
    pub(super) problem: Option<DoctorProblem>,
}

impl BrowserResponse {
    pub(super) fn url(&self) -> &Url {
        self.request.url()
    }

    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }
}

impl Browser {
    pub(super) fn new(page: Url, own: OwnHeaders, http: HttpProbe) -> Self {
        Self {
            own,
            http,
            page,
            state: Mutex::default(),
        }
    }

    pub(super) fn page(&self) -> String {
        origin(&self.page)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, BrowserState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a browser makes of the last response.
    pub(super) fn note(&self, ok: bool, verdict: &str) {
        let verdict = self.own.mask(verdict, MAX_VERDICT_CHARS);
        if let Some(step) = self.state().steps.last_mut() {
            step.note(ok, verdict);
        }
    }

    /// The same where that is a problem, which is returned.
    pub(super) fn failed(&self, problem: DoctorProblem) -> DoctorProblem {
        if let Some(step) = self.state().steps.last_mut() {
            step.fail(&problem);
        }
        problem
    }

    /// Remembers what the server is made with, by what it would be in Python. What `is_certain`
    /// replaces what was seen before.
    pub(super) fn recognize(&self, headers: &HeaderMap, python: ServerFramework, is_certain: bool) {
        let framework = &mut self.state().framework;
        if is_certain || *framework == ServerFramework::Unknown {
            *framework = ServerFramework::of(headers, python);
        }
    }

    /// Where an address has led before.
    pub(super) fn redirected(&self, url: &Url) -> Url {
        self.state().redirects.get(url).unwrap_or(url).clone()
    }

    /// What a browser would not let through is no error here, but told with the response.
    pub(super) async fn fetch(
        &self,
        mut request: Request,
    ) -> Result<BrowserResponse, DoctorProblem> {
        *request.url_mut() = self.redirected(request.url());
        for _ in 0..=MAX_REDIRECTS {
            let reply = self.fetch_once(request).await?;
            let (status, from) = (reply.status(), reply.url());
            let Some(to) = rules::redirect(status, reply.headers(), from) else {
                return Ok(reply);
            };
            let keeps_method = matches!(status, 307 | 308) || reply.request.method() == Method::GET;
            if to.origin() != from.origin() || !keeps_method {
                let is_secured = (from.scheme(), to.scheme()) == ("http", "https");
                let kind = if is_secured && from.host() == to.host() {
                    ProblemKind::UseHttps
                } else {
                    ProblemKind::WrongPath
                };
                let to = self.own.mask(to.as_str(), 200);
                let problem = kind.with(format!("It redirects to {to}. Use that address."));
                return Err(self.failed(problem));
            }
            // Even a redirect has to be allowed.
            if reply.problem.is_some() {
                return Ok(reply);
            }
            self.note(true, "goes where it leads");
            self.state().redirects.insert(from.clone(), to.clone());
            request = reply.request;
            *request.url_mut() = to;
        }
        let site = origin(request.url());
        Err(ProblemKind::WrongPath.with(format!("{site} redirects again and again.")))
    }

    async fn fetch_once(&self, request: Request) -> Result<BrowserResponse, DoctorProblem> {
        let unsent = self.preflight(&request).await?;
        let (url, page) = (request.url(), self.page());
        let headers = rules::added_headers(url, &self.page);
        let response = self.send(self.of_page(&request, headers)).await?;
        let unread = rules::readable(response.headers(), &page).err();
        let unread = unread.filter(|_| !self.is_same_origin(url));
        let problem = rules::blocked(unsent.as_ref(), unread.as_ref(), response.headers(), &page);
        let verdict = match (unsent, unread) {
            (None, None) => "lets it through".to_owned(),
            (None, Some(unread)) => format!("does not let the page {unread}"),
            (Some(_), _) => "would not have sent it".to_owned(),
        };
        self.note(problem.is_none(), &verdict);
        Ok(BrowserResponse {
            request,
            response,
            problem,
        })
    }

    /// Asks whether a request may follow, where browsers do. The request itself is not sent.
    pub(super) async fn preflight(
        &self,
        request: &Request,
    ) -> Result<Option<CorsRefusal>, DoctorProblem> {
        let (method, url) = (request.method(), request.url());
        let page_request = self.of_page(request, HeaderMap::new());
        let names = rules::unsafe_headers(page_request.headers());
        let key = |name: &String| (url.clone(), method.clone(), name.clone());
        let is_allowed = |name: &String| self.state().allowed.contains(&key(name));
        if !rules::needs_preflight(method, &names)
            || self.is_same_origin(url)
            || !names.is_empty() && names.iter().all(is_allowed)
        {
            return Ok(None);
        }
        let mut options = Request::new(Method::OPTIONS, url.clone());
        let headers = options.headers_mut();
        headers.extend(rules::added_headers(url, &self.page));
        headers.insert(ACCESS_CONTROL_REQUEST_METHOD, header(method.as_str()));
        let mut with = String::new();
        if !names.is_empty() {
            headers.insert(ACCESS_CONTROL_REQUEST_HEADERS, header(&names.join(",")));
            with = format!(" with {}", names.join(", "));
        }
        let response = self.send(options).await?;
        let status = response.status().as_u16();
        let decided = rules::preflight(status, response.headers(), &self.page(), method, &names);
        let verdict = match &decided {
            Ok(()) => format!("may send {method}{with}"),
            Err(refusal) => format!("does not let the page {refusal}"),
        };
        self.note(decided.is_ok(), &verdict);
        if decided.is_ok() {
            self.state().allowed.extend(names.iter().map(key));
        }
        Ok(decided.err())
    }

    /// A status that is no success, whoever could read it: it `lacks` what was asked for.
    pub(super) async fn check_status(
        &self,
        reply: &BrowserResponse,
        lacks: &str,
    ) -> Result<(), DoctorProblem> {
        let status = reply.status();
        let problem = match status {
            403 if self.is_let_in_without_origin(&reply.request).await => {
                let page = self.page();
                ProblemKind::Cors.with(format!(
                    "The server itself refuses pages at {page}: without Origin it lets in."
                ))
            }
            401 | 403 => self.key_problem(status, reply.problem.is_some()),
            400.. => {
                let path = self.own.mask(reply.url().path(), 100);
                ProblemKind::WrongPath
                    .with(format!("There is {lacks} at {path}: it answers {status}."))
            }
            _ => return Ok(()),
        };
        Err(self.failed(problem))
    }

    /// The server requires a key, or rejects the one given.
    fn key_problem(&self, status: u16, is_hidden: bool) -> DoctorProblem {
        let what = if self.own.has_key() {
            "does not take the key"
        } else {
            "wants a key"
        };
        let hidden = if is_hidden {
            " A page cannot tell: this answer has no Access-Control-Allow-Origin."
        } else {
            ""
        };
        ProblemKind::NeedsKey.with(format!("The server {what} ({status}).{hidden}"))
    }

    /// Whether the same without `Origin` is let in: then it is the page that is refused.
    async fn is_let_in_without_origin(&self, request: &Request) -> bool {
        let request = self.of_page(request, HeaderMap::new());
        let sent = self.http.send(request).await;
        sent.is_ok_and(|response| !matches!(response.status().as_u16(), 401 | 403))
    }

    /// Whether anybody speaks HTTP at an address, trusted or not.
    pub(super) async fn answers(&self, url: &Url) -> bool {
        match self.http.send(Request::new(Method::GET, url.clone())).await {
            // Some servers answer plain HTTP on a TLS port with status 400.
            Ok(response) => url.scheme() == "https" || response.status() != 400,
            Err(error) => error.problem.kind == ProblemKind::TlsNotTrusted,
        }
    }

    async fn send(&self, request: Request) -> Result<Response, DoctorProblem> {
        let asked = SentRequest::new(&request, &self.own);
        let sent = self.http.send(request).await;
        let response = sent.as_ref().map_err(|error| error.short);
        let step = DoctorStep::new(asked, response, &self.own);
        self.state().steps.push(step);
        sent.map_err(|error| self.failed(error.problem))
    }

    /// A request with the headers that the page itself sets after those given.
    pub(super) fn of_page(&self, request: &Request, mut headers: HeaderMap) -> Request {
        headers.extend(request.headers().clone());
        headers.extend(self.own.headers.clone());
        let mut page_request = Request::new(request.method().clone(), request.url().clone());
        *page_request.headers_mut() = headers;
        let body = request.body().and_then(Body::as_bytes);
        *page_request.body_mut() = body.map(|bytes| bytes.to_vec().into());
        page_request
    }

    /// Where the page itself comes from nothing has to be allowed.
    pub(super) fn is_same_origin(&self, url: &Url) -> bool {
        url.origin() == self.page.origin()
    }
}

/// Ours, and of characters that a header may have.
fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
