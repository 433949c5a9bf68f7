//! The HTTP client of an MCP connection that is a page's: its requests go through the browser, it
//! sees no more than a browser shows it, and it stops where a page has to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Method, Request, Response, StatusCode};
use serde_json::Value;
use tenon_mcp::message::{PROTOCOL_VERSION, SESSION_ID, STATELESS_VERSION};
use tenon_mcp::{ConnectionError, Error, HttpClient, ProtocolError};
use url::Url;

use super::PageTransport;
use crate::doctor::browser::{Browser, BrowserResponse};
use crate::doctor::fix::ServerFramework;
use crate::doctor::http_probe::ProbeError;
use crate::doctor::problem::{DoctorProblem, ProblemKind};
use crate::doctor::rules;
use crate::doctor::step::message_of;

const EVENT_STREAM: &str = "text/event-stream";
const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";
const INITIALIZED: &str = "notifications/initialized";

#[derive(Debug)]
pub(super) struct PageClient {
    browser: Arc<Browser>,
    pub(super) url: Url,
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
        // No page would end the session, so that is not logged.
        if request.method() == Method::DELETE {
            let request = self.browser.of_page(&request, HeaderMap::new());
            let sent = self.browser.http.send(request).await;
            return sent.map_err(|_| Error::NotSent(ConnectionError::Closed));
        }
        let message = message_of(&request).unwrap_or_default();
        // Nor does the page's client listen to notifications: a stream would occupy a connection.
        let is_get = request.method() == Method::GET;
        if is_get && self.transport == PageTransport::Streamable
            || message == "subscriptions/listen"
        {
            return Ok(empty(StatusCode::METHOD_NOT_ALLOWED));
        }
        self.note_last_step(&message, &request);
        self.exchange(&request, &message).await.map_err(|problem| {
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
        let PageClientState {
            problem,
            stateless_problem,
            is_session_hidden,
        } = std::mem::take(&mut *self.state());
        let problem = problem.unwrap_or_else(|| self.protocol_problem(error, is_session_hidden));
        match stateless_problem {
            // There is no handshake any more: what was in the way before is what counts.
            Some(before)
                if matches!(
                    problem.kind,
                    ProblemKind::BadHandshake | ProblemKind::WrongPath
                ) =>
            {
                before
            }
            _ => problem,
        }
    }

    fn protocol_problem(&self, error: &Error, is_session_hidden: bool) -> DoctorProblem {
        use ProblemKind::{BadHandshake, ExposeHeader};
        use ProtocolError::{
            ForeignEndpoint, InvalidEndpoint, InvalidToolList, NoEndpoint, NoVersion,
        };
        let mut state = self.browser.state();
        let step = state.steps.last_mut();
        let message = step.as_ref().and_then(|step| step.message());
        let reason = match error {
            Error::Rpc(error) => error.to_string(),
            other => other.to_string(),
        };
        let problem = match error {
            Error::Timeout | Error::ListTimeout | Error::ConnectTimeout { .. } => {
                ProbeError::Late.problem(&self.url)
            }
            Error::ConnectionLost(_) => ProbeError::Cut.problem(&self.url),
            Error::Protocol(NoEndpoint | InvalidEndpoint { .. } | ForeignEndpoint { .. }) => {
                BadHandshake
                    .with("Its stream of events does not begin with an endpoint of its own.")
            }
            Error::Protocol(NoVersion) => {
                BadHandshake.with("Its answer to `initialize` names no protocolVersion.")
            }
            Error::Protocol(InvalidToolList(_)) => {
                BadHandshake.with("Its answer to `tools/list` has no list of tools.")
            }
            _ if message == Some(INITIALIZE) => BadHandshake.with(format!(
                "It answers `initialize` not as an MCP server does: {reason}"
            )),
            _ if is_session_hidden => ExposeHeader.with(
                "The server gives the page a session, but a browser does not show it which: \
                 Access-Control-Expose-Headers lacks mcp-session-id.",
            ),
            _ => BadHandshake.with(format!(
                "After the handshake the server does not go on: {reason}"
            )),
        };
        if let Some(step) = step {
            step.fail(&problem);
        }
        problem
    }

    /// The message that follows shows what the last one came to.
    fn note_last_step(&self, message: &str, request: &Request) {
        let mut state = self.browser.state();
        let Some((last, before)) = state.steps.split_last_mut() else {
            return;
        };
        let verdict = match (message, last.message()) {
            (INITIALIZE, Some(DISCOVER)) => {
                format!("lets it through: older than MCP {STATELESS_VERSION}")
            }
            (INITIALIZE, None) => "lets it through: a stream of events".to_owned(),
            (INITIALIZED, _) => {
                // The page has got so far, whatever became of what was asked before.
                before.iter_mut().for_each(|step| step.is_harmless = true);
                let version = request.headers().get(PROTOCOL_VERSION);
                let version = version.and_then(|version| version.to_str().ok());
                let version = self.browser.own.mask(version.unwrap_or_default(), 20);
                format!("lets it through: MCP {version}")
            }
            ("tools/list", Some(DISCOVER)) => format!("lets it through: MCP {STATELESS_VERSION}"),
            ("tools/list", Some(INITIALIZED)) => "lets the page go on".to_owned(),
            _ => return,
        };
        if last.ok {
            last.verdict = verdict;
        }
    }

    /// A response, as far as the page gets to see it.
    async fn exchange(&self, request: &Request, message: &str) -> Result<Response, DoctorProblem> {
        let reply = self.browser.fetch(request).await?;
        let (status, is_get) = (reply.status(), request.method() == Method::GET);
        // It may want a key, or refuse the page.
        if is_get || matches!(status, 401 | 403) {
            self.browser.check_status(&reply, request).await?;
        }
        let is_stream = essence(reply.headers()) == EVENT_STREAM;
        // The response to what is posted comes on the stream that is open.
        let is_accepted = self.transport == PageTransport::Sse && !is_get && status < 300;
        let is_answer = !message.is_empty() && !message.starts_with("notifications/");
        let BrowserResponse {
            url,
            mut response,
            problem,
            step,
        } = reply;
        let mut content = Value::Null;
        if is_answer && !is_stream && !is_accepted {
            (response, content) = self.read(response, &url, step).await?;
        }
        let is_mcp = is_stream || is_accepted || is_message(&content) || !is_get && !is_answer;
        {
            let framework = &mut self.browser.state().framework;
            if is_mcp || *framework == ServerFramework::Unknown {
                *framework = ServerFramework::of_mcp(response.headers());
            }
        }
        let is_discover = message == DISCOVER;
        if !is_mcp {
            // A server of the handshake era may know no better response than these.
            if is_discover && matches!(status, 400 | 406 | 415 | 422) {
                return Ok(response);
            }
            let problem = self.not_mcp(is_get, &response, &url);
            return self.browser.fail(step, problem);
        }
        let is_result = is_stream || content["result"].is_object();
        match problem {
            // A page that is not let through goes on with the handshake.
            Some(problem) if is_discover && !(is_result && problem.kind == ProblemKind::Cors) => {
                self.state().stateless_problem = Some(problem).filter(|_| is_result);
                Ok(empty(StatusCode::BAD_REQUEST))
            }
            Some(problem) => Err(problem),
            None => {
                self.hide_session(&mut response, &url);
                Ok(response)
            }
        }
    }

    /// A response whose body was read, and its JSON.
    async fn read(
        &self,
        response: Response,
        url: &Url,
        step: usize,
    ) -> Result<(Response, Value), DoctorProblem> {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = match self.browser.http.read_body(response).await {
            Ok(body) => body,
            Err(ProbeError::TooLong) => {
                let DoctorProblem { message, .. } = ProbeError::TooLong.problem(url);
                return self
                    .browser
                    .fail(step, ProblemKind::BadHandshake.with(message));
            }
            Err(error) => return self.browser.fail(step, error.problem(url)),
        };
        let content = serde_json::from_slice(&body).unwrap_or_default();
        let mut again = http::Response::new(body);
        *again.status_mut() = status;
        *again.headers_mut() = headers;
        Ok((again.into(), content))
    }

    /// Nobody there speaks MCP.
    fn not_mcp(&self, is_get: bool, response: &Response, url: &Url) -> DoctorProblem {
        let path = self.browser.own.mask(url.path(), 100);
        let status = response.status().as_u16();
        if status >= 400 {
            return ProblemKind::WrongPath.with(format!(
                "There is no MCP server at {path}: it answers {status}."
            ));
        }
        ProblemKind::NotToolServer.with(if is_get {
            "It answers with something else than a stream of events.".to_owned()
        } else {
            let media_type = self.browser.own.mask(&essence(response.headers()), 60);
            format!(
                "What answers at {path} does not speak MCP: it answers with {media_type} that is \
                 no message of MCP."
            )
        })
    }

    fn hide_session(&self, response: &mut Response, url: &Url) {
        let headers = response.headers();
        let is_exposed = rules::exposes(headers, SESSION_ID.as_str());
        if headers.contains_key(SESSION_ID) && !is_exposed && !self.browser.is_same_origin(url) {
            response.headers_mut().remove(SESSION_ID);
            self.state().is_session_hidden = true;
        }
    }

    fn state(&self) -> MutexGuard<'_, PageClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message of JSON-RPC, as far as its server keeps to that.
fn is_message(content: &Value) -> bool {
    content["jsonrpc"] == "2.0" || content["result"].is_object() || content["error"].is_object()
}

/// The media type of a response, without its parameters.
fn essence(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let value = String::from_utf8_lossy(value.unwrap_or_default()).to_ascii_lowercase();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().to_owned()
}

fn empty(status: StatusCode) -> Response {
    let mut response = http::Response::new("");
    *response.status_mut() = status;
    response.into()
}
