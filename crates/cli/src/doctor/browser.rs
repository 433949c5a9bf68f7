//! Sends requests as a browser does for a page, and logs what it would make of the responses.
//!
//! Where a browser would stop, the shell goes on: what it then sees tells who is there.

use std::collections::HashSet;

use reqwest::header::{
    ACCEPT, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, CONTENT_TYPE, HeaderMap,
    HeaderValue,
};
use reqwest::{Method, Response};
use url::Url;

use super::fix::ServerFramework;
use super::http_client::{HttpProbe, ProbeError};
use super::own_headers::OwnHeaders;
use super::problem::{DoctorProblem, ProblemKind};
use super::rules::{self, CorsRefusal, origin};
use super::step::StepLog;

const MAX_REDIRECTS: usize = 5;

pub(super) struct Browser {
    pub(super) log: StepLog,
    pub(super) http: HttpProbe,
    /// What the server was made with, also where the page cannot use it.
    pub(super) framework: ServerFramework,
    page: Url,
    /// What a preflight has allowed is not asked for again: address, method, header.
    allowed: HashSet<(Url, Method, String)>,
}

/// A request, as a page makes it.
#[derive(Clone)]
pub(super) struct BrowserRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    /// Besides the person's own.
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
    /// Of MCP messages, which one.
    pub(super) message: Option<&'static str>,
}

/// A response, also one that no page would see.
pub(super) struct BrowserResponse {
    pub(super) url: Url,
    pub(super) response: Response,
    /// What keeps it from the page.
    pub(super) problem: Option<DoctorProblem>,
    /// Its number in the log.
    pub(super) step: usize,
}

impl BrowserRequest {
    pub(super) fn new(method: Method, url: Url, headers: HeaderMap) -> Self {
        Self {
            method,
            url,
            headers,
            body: None,
            message: None,
        }
    }

    pub(super) fn get(url: Url, accept: &'static str) -> Self {
        let accept = (ACCEPT, HeaderValue::from_static(accept));
        Self::new(Method::GET, url, HeaderMap::from_iter([accept]))
    }
}

impl BrowserResponse {
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }
}

impl Browser {
    pub(super) fn new(page: Url, own: OwnHeaders, http: HttpProbe) -> Self {
        let steps = Vec::new();
        Self {
            log: StepLog { own, steps },
            http,
            framework: ServerFramework::Unknown,
            page,
            allowed: HashSet::new(),
        }
    }

    pub(super) fn page(&self) -> String {
        origin(&self.page)
    }

    /// What a browser would not let through is no error here, but told with the response.
    pub(super) async fn fetch(
        &mut self,
        request: &BrowserRequest,
    ) -> Result<BrowserResponse, DoctorProblem> {
        let mut request = request.clone();
        for _ in 0..=MAX_REDIRECTS {
            let reply = self.fetch_once(&request).await?;
            let status = reply.status();
            let Some(to) = rules::redirect(status, reply.headers(), &reply.url) else {
                return Ok(reply);
            };
            let keeps_method = matches!(status, 307 | 308) || request.method == Method::GET;
            if to.origin() != request.url.origin() || !keeps_method {
                let is_secured = (request.url.scheme(), to.scheme()) == ("http", "https")
                    && request.url.host() == to.host();
                let kind = if is_secured {
                    ProblemKind::UseHttps
                } else {
                    ProblemKind::WrongPath
                };
                let to = self.log.own.mask(to.as_str(), 200);
                let problem = kind.with(format!("It redirects to {to}. Use that address."));
                return self.log.fail(reply.step, problem);
            }
            // Even a redirect has to be allowed.
            if reply.problem.is_some() {
                return Ok(reply);
            }
            self.log.note(reply.step, true, "goes where it leads");
            request.url = to;
        }
        let site = origin(&request.url);
        Err(ProblemKind::WrongPath.with(format!("{site} redirects again and again.")))
    }

    async fn fetch_once(
        &mut self,
        request: &BrowserRequest,
    ) -> Result<BrowserResponse, DoctorProblem> {
        let unsent = self.preflight(request).await?;
        let mut headers = rules::added_headers(&request.url, &self.page);
        headers.extend(self.page_headers(request));
        let (step, response) = self.send(request, headers).await?;
        let page = self.page();
        let unread = if self.is_same_origin(&request.url) {
            None
        } else {
            rules::readable(response.headers(), &page).err()
        };
        let (verdict, problem) =
            rules::judge(unsent.as_ref(), unread.as_ref(), response.headers(), &page);
        self.log.note(step, problem.is_none(), &verdict);
        Ok(BrowserResponse {
            url: request.url.clone(),
            response,
            problem,
            step,
        })
    }

    /// Asks whether a request may follow, where browsers do. The request itself is not sent.
    pub(super) async fn preflight(
        &mut self,
        request: &BrowserRequest,
    ) -> Result<Option<CorsRefusal>, DoctorProblem> {
        let BrowserRequest { method, url, .. } = request;
        let names = rules::unsafe_headers(&self.page_headers(request));
        let key = |name: &String| (url.clone(), method.clone(), name.clone());
        let is_known = || names.iter().all(|name| self.allowed.contains(&key(name)));
        if !rules::needs_preflight(method, &names)
            || self.is_same_origin(url)
            || !names.is_empty() && is_known()
        {
            return Ok(None);
        }
        let mut headers = rules::added_headers(url, &self.page);
        headers.insert(ACCESS_CONTROL_REQUEST_METHOD, header(method.as_str()));
        let mut with = String::new();
        if !names.is_empty() {
            headers.insert(ACCESS_CONTROL_REQUEST_HEADERS, header(&names.join(",")));
            with = format!(" with {}", names.join(", "));
        }
        let options = BrowserRequest::new(Method::OPTIONS, url.clone(), HeaderMap::new());
        let (step, response) = self.send(&options, headers).await?;
        let status = response.status().as_u16();
        match rules::preflight(status, response.headers(), &self.page(), method, &names) {
            Ok(()) => {
                self.allowed.extend(names.iter().map(key));
                let verdict = format!("may send {method}{with}");
                self.log.note(step, true, &verdict);
                Ok(None)
            }
            Err(refusal) => {
                let verdict = format!("does not send the {method}: {refusal}");
                self.log.note(step, false, &verdict);
                Ok(Some(refusal))
            }
        }
    }

    /// A status that is no success, whoever could read it.
    pub(super) async fn check_status(
        &mut self,
        reply: &BrowserResponse,
        request: &BrowserRequest,
    ) -> Result<(), DoctorProblem> {
        let status = reply.status();
        let problem = match status {
            403 if self.is_let_in_without_origin(request).await => {
                let page = self.page();
                ProblemKind::Cors.with(format!(
                    "The server itself refuses pages at {page}: without Origin it lets in."
                ))
            }
            401 | 403 => self.key_problem(status, reply.problem.is_some()),
            400.. => {
                let path = self.log.own.mask(reply.url.path(), 100);
                ProblemKind::WrongPath
                    .with(format!("There is nothing at {path}: it answers {status}."))
            }
            _ => return Ok(()),
        };
        self.log.fail(reply.step, problem)
    }

    /// It wants a key, or another one.
    pub(super) fn key_problem(&self, status: u16, is_hidden: bool) -> DoctorProblem {
        let what = if self.log.own.has_key() {
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
    async fn is_let_in_without_origin(&self, request: &BrowserRequest) -> bool {
        let BrowserRequest {
            method, url, body, ..
        } = request;
        let headers = self.page_headers(request);
        let sent = self.http.send(method, url, headers, body.as_ref()).await;
        sent.is_ok_and(|response| !matches!(response.status().as_u16(), 401 | 403))
    }

    /// Whether anybody speaks HTTP at an address, trusted or not.
    pub(super) async fn answers(&self, url: &Url) -> bool {
        let sent = self.http.send(&Method::GET, url, HeaderMap::new(), None);
        match sent.await {
            // So do some who want TLS, to say so.
            Ok(response) => url.scheme() == "https" || response.status() != 400,
            Err(error) => matches!(error, ProbeError::NotTrusted(_)),
        }
    }

    async fn send(
        &mut self,
        request: &BrowserRequest,
        headers: HeaderMap,
    ) -> Result<(usize, Response), DoctorProblem> {
        let BrowserRequest {
            method, url, body, ..
        } = request;
        let sent = self
            .http
            .send(method, url, headers.clone(), body.as_ref())
            .await;
        let response = match &sent {
            Ok(response) => Ok((response.status().as_u16(), response.headers())),
            Err(error) => Err(error.explain(url).0),
        };
        let step = self.log.add(request, &headers, response);
        match sent {
            Ok(response) => Ok((step, response)),
            Err(error) => self.log.fail(step, error.problem(url)),
        }
    }

    /// The headers that the page itself sets.
    fn page_headers(&self, request: &BrowserRequest) -> HeaderMap {
        let mut headers = request.headers.clone();
        headers.extend(self.log.own.headers.clone());
        headers
    }

    /// Where the page itself comes from nothing has to be allowed.
    fn is_same_origin(&self, url: &Url) -> bool {
        url.origin() == self.page.origin()
    }
}

/// Ours, and of characters that a header may have.
fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

/// The media type of a response, without its parameters.
pub(super) fn essence(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let value = String::from_utf8_lossy(value.unwrap_or_default()).to_ascii_lowercase();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().to_owned()
}
