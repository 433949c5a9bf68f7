//! The HTTP client of an MCP connection that is a page's: its requests go through the browser, it
//! sees no more than a browser shows it, and it stops where a page has to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use reqwest::{Method, Request, Response, StatusCode};
use tenon_mcp::message::{PROTOCOL_VERSION, SESSION_ID, STATELESS_VERSION};
use tenon_mcp::{ConnectionError, Error, HttpClient, ProtocolError};
use url::Url;

use super::PageTransport;
use crate::doctor::browser::Browser;
use crate::doctor::fix::ServerFramework;
use crate::doctor::http_probe::ProbeError;
use crate::doctor::problem::{DoctorProblem, ProblemKind};
use crate::doctor::rules::{self, essence};
use crate::doctor::step::{DoctorStep, message_of};

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";
const INITIALIZED: &str = "notifications/initialized";

#[derive(Debug)]
pub(super) struct PageClient {
    browser: Arc<Browser>,
    url: Url,
    transport: PageTransport,
    state: Mutex<PageClientState>,
}

#[derive(Debug, Default)]
struct PageClientState {
    /// Why the page has to stop.
    problem: Option<DoctorProblem>,
    /// What keeps the page from a session without handshake, where the server has such.
    stateless_problem: Option<DoctorProblem>,
    /// The browser does not show the page the id of its session.
    is_session_hidden: bool,
}

#[async_trait]
impl HttpClient for PageClient {
    async fn execute(&self, request: Request) -> Result<Response, Error> {
        let message = message_of(&request).unwrap_or_default();
        let is_get = request.method() == Method::GET;
        // No page ends its session, and what it replies is not what is looked at: neither is
        // logged.
        if !is_get && matches!(message.as_str(), "" | "notifications/cancelled") {
            let request = self.browser.of_page(&request, HeaderMap::new());
            let sent = self.browser.http.send(request).await;
            return sent.map_err(|_| Error::NotSent(ConnectionError::Closed));
        }
        let is_stream = is_get && self.transport == PageTransport::Streamable;
        // Nor does the page's client listen to notifications: that would occupy a connection.
        if is_stream || message == "subscriptions/listen" {
            return Ok(empty(StatusCode::METHOD_NOT_ALLOWED));
        }
        self.note_last_step(&message, &request);
        self.exchange(request, &message).await.map_err(|problem| {
            self.state().problem = Some(problem);
            Error::NotSent(ConnectionError::Closed)
        })
    }
}

impl PageClient {
    pub(super) fn new(browser: Arc<Browser>, url: Url, transport: PageTransport) -> Self {
        Self {
            browser,
            url,
            transport,
            state: Mutex::default(),
        }
    }

    /// What a failed connection means for the page.
    pub(super) fn problem(&self, error: &Error) -> DoctorProblem {
        let state = std::mem::take(&mut *self.state());
        let problem = state.problem.unwrap_or_else(|| {
            let problem = self.protocol_problem(error, state.is_session_hidden);
            self.browser.failed(problem)
        });
        // Without a handshake, what was in the way before is what counts.
        let is_handshake_gone = matches!(
            problem.kind,
            ProblemKind::BadHandshake | ProblemKind::WrongPath
        );
        let before = state.stateless_problem.filter(|_| is_handshake_gone);
        before.unwrap_or(problem)
    }

    fn protocol_problem(&self, error: &Error, is_session_hidden: bool) -> DoctorProblem {
        use ProblemKind::{BadHandshake, ExposeHeader, NotToolServer, WrongPath};
        use ProtocolError::{ContentType, NoVersion, NotAnEventStream, WebPage, WrongResponse};
        let is_first = {
            let state = self.browser.state();
            let last = state.steps.last().and_then(DoctorStep::message);
            matches!(last, Some(DISCOVER | INITIALIZE))
        };
        match error {
            Error::Timeout | Error::ListTimeout | Error::ConnectTimeout { .. } => {
                ProbeError::late(&self.url).problem
            }
            Error::ConnectionLost(_) => ProbeError::cut(&self.url).problem,
            Error::HttpStatus { .. } if is_first => WrongPath.with(error.to_string()),
            Error::Protocol(WebPage | ContentType(_) | WrongResponse | NotAnEventStream) => {
                NotToolServer.with(error.to_string())
            }
            Error::Protocol(NoVersion) => {
                BadHandshake.with("Its answer to `initialize` names no protocolVersion.")
            }
            Error::Protocol(_) => BadHandshake.with(error.to_string()),
            Error::Rpc(why) if is_first => BadHandshake.with(format!(
                "It answers `initialize` not as an MCP server does: {why}"
            )),
            _ if is_session_hidden => ExposeHeader.with(
                "The server gives the page a session, but a browser does not show it which: \
                 Access-Control-Expose-Headers lacks mcp-session-id.",
            ),
            other => BadHandshake.with(format!(
                "After the handshake the server does not go on: {other}"
            )),
        }
    }

    /// The message that follows shows what the last one came to.
    fn note_last_step(&self, message: &str, request: &Request) {
        let mut state = self.browser.state();
        let Some((last, before)) = state.steps.split_last_mut() else {
            return;
        };
        let verdict = match (message, last.message()) {
            (INITIALIZE, Some(DISCOVER)) => format!("older than MCP {STATELESS_VERSION}"),
            (INITIALIZE, None) => "a stream of events".to_owned(),
            (INITIALIZED, _) => {
                // The page has got so far, whatever became of what was asked before.
                before.iter_mut().for_each(|step| step.is_harmless = true);
                let version = request.headers().get(PROTOCOL_VERSION);
                let version = version.and_then(|version| version.to_str().ok());
                let version = self.browser.own.mask(version.unwrap_or_default(), 20);
                format!("MCP {version}")
            }
            ("tools/list", Some(DISCOVER)) => format!("MCP {STATELESS_VERSION}"),
            _ => return,
        };
        if last.ok {
            last.verdict = format!("lets it through: {verdict}");
        }
    }

    /// A response, as far as the page gets to see it.
    async fn exchange(&self, request: Request, message: &str) -> Result<Response, DoctorProblem> {
        let is_get = request.method() == Method::GET;
        let reply = self.browser.fetch(request).await?;
        let status = reply.status();
        let media_type = essence(reply.headers());
        let is_json = media_type == "application/json";
        // The server may want a key or refuse the page. A server of the handshake era may answer
        // `server/discover` with one of these statuses.
        let is_old = message == DISCOVER && matches!(status, 400 | 406 | 415 | 422);
        if is_get || matches!(status, 401 | 403) || message == DISCOVER && !is_old && !is_json {
            self.browser.check_status(&reply, "no MCP server").await?;
        }
        let is_first = is_get || message == DISCOVER || message == INITIALIZE;
        // A POST over SSE is only acknowledged: the response comes on the stream.
        let is_accepted = self.transport == PageTransport::Sse && !is_get;
        let is_answered = is_json || media_type == "text/event-stream" || is_accepted;
        let is_mcp = !is_first || is_answered && status < 300;
        self.browser
            .recognize(reply.headers(), ServerFramework::FastMcp, is_mcp);
        match reply.problem {
            // A page that is not let through goes on with the handshake.
            Some(problem) if message == DISCOVER => {
                if is_mcp && problem.kind == ProblemKind::Cors {
                    return Err(problem);
                }
                self.state().stateless_problem = Some(problem).filter(|_| is_mcp);
                Ok(empty(StatusCode::BAD_REQUEST))
            }
            Some(problem) if is_mcp => Err(problem),
            // Shown also where it is kept from the page: it tells that this is no MCP server.
            _ => Ok(self.without_session(reply.response)),
        }
    }

    fn without_session(&self, mut response: Response) -> Response {
        let headers = response.headers();
        let is_exposed = rules::exposes(headers, SESSION_ID.as_str())
            || self.browser.is_same_origin(response.url());
        if headers.contains_key(SESSION_ID) && !is_exposed {
            response.headers_mut().remove(SESSION_ID);
            self.state().is_session_hidden = true;
        }
        response
    }

    fn state(&self) -> MutexGuard<'_, PageClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn empty(status: StatusCode) -> Response {
    let mut response = http::Response::new("");
    *response.status_mut() = status;
    response.into()
}
