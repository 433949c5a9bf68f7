//! A session with an MCP server: messages of `tenon-mcp`, sent through the [`Browser`] with the
//! headers that the page's client sends.

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tenon_mcp::message::{
    METHOD, MessageWriter, NAME, PROTOCOL_VERSION, RpcResponse, SESSION_ID, STATELESS_VERSION,
};
use tenon_mcp::{ClientInfo, ProtocolEra};
use tenon_net::sse::SseEvent;
use url::Url;

use super::event_stream::EventStream;
use crate::doctor::browser::{Browser, BrowserRequest, BrowserResponse, essence};
use crate::doctor::fix::ServerFramework;
use crate::doctor::problem::{DoctorProblem, ProblemKind};
use crate::doctor::rules;

const EVENT_STREAM: &str = "text/event-stream";

/// As many pages of tools as the page reads.
const MAX_PAGES: usize = 200;

pub(super) struct ProbeSession<'b> {
    pub(super) browser: &'b mut Browser,
    /// Where messages are posted.
    pub(super) url: Url,
    /// Of legacy SSE: where responses arrive.
    stream: Option<EventStream>,
    session_id: Option<HeaderValue>,
    /// The page does not get to see the id.
    is_id_hidden: bool,
    version: Option<HeaderValue>,
    id: u64,
}

/// What came back on a message.
pub(super) struct ProbeResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The result, or why there is none.
    pub(super) result: Result<Value, ProbeFailure>,
    /// It was a message of JSON-RPC at least.
    pub(super) is_message: bool,
    /// What keeps it from the page.
    pub(super) problem: Option<DoctorProblem>,
    pub(super) step: usize,
}

/// Why a message has no result. What the server said has no keys in it.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProbeFailure {
    #[error("{message} ({status}).")]
    Refused { message: String, status: u16 },
    #[error("it answers {0}.")]
    Status(u16),
    #[error("it answers with {media_type} that is no message of MCP.")]
    NoMessage { media_type: String },
}

impl ProbeResponse {
    /// Nobody there who has ever heard of MCP.
    pub(super) fn is_not_mcp(&self) -> bool {
        matches!(self.status, 401 | 403) || (self.result.is_err() && !self.is_message)
    }

    fn reason(&self) -> String {
        let failure = self.result.as_ref().err();
        failure.map(ToString::to_string).unwrap_or_default()
    }
}

impl<'b> ProbeSession<'b> {
    /// Over Streamable HTTP.
    pub(super) fn streamable(browser: &'b mut Browser, url: Url) -> Self {
        Self {
            browser,
            url,
            stream: None,
            session_id: None,
            is_id_hidden: false,
            version: None,
            id: 0,
        }
    }

    /// Over legacy SSE: opens the stream and waits for the address to post to.
    pub(super) async fn sse(browser: &'b mut Browser, url: &Url) -> Result<Self, DoctorProblem> {
        let request = BrowserRequest::get(url.clone(), EVENT_STREAM);
        let reply = browser.fetch(&request).await?;
        browser.check_status(&reply, &request).await?;
        let step = reply.step;
        if essence(reply.headers()) != EVENT_STREAM {
            let what = "It answers with something else than a stream of events.";
            return browser
                .log
                .fail(step, ProblemKind::NotToolServer.with(what));
        }
        browser.framework = ServerFramework::of_mcp(reply.headers());
        if let Some(problem) = reply.problem {
            return Err(problem);
        }
        let base = reply.url;
        let mut stream = EventStream::new(reply.response);
        let is_endpoint = |event: SseEvent| (event.name == "endpoint").then_some(event.data);
        let endpoint = match stream.find(&browser.http, is_endpoint).await {
            Ok(endpoint) => endpoint.and_then(|path| base.join(path.trim()).ok()),
            Err(error) => return browser.log.fail(step, error.problem(&base)),
        };
        let Some(url) = endpoint.filter(|url| url.origin() == base.origin()) else {
            let why = "Its stream of events does not begin with an endpoint of its own.";
            return browser.log.fail(step, ProblemKind::BadHandshake.with(why));
        };
        let verdict = "lets it through: a stream of events";
        browser.log.note(step, true, verdict);
        let mut session = Self::streamable(browser, url);
        session.stream = Some(stream);
        Ok(session)
    }

    /// Sends the request that begins a session: `server/discover` or `initialize`.
    pub(super) async fn begin(&mut self, era: ProtocolEra) -> Result<ProbeResponse, DoctorProblem> {
        let response = if era == ProtocolEra::Stateless {
            let write = |id| writer().discover(id);
            self.request("server/discover", era, write).await?
        } else {
            let write = |id| writer().initialize(id);
            self.request("initialize", era, write).await?
        };
        if response.is_message || self.browser.framework == ServerFramework::Unknown {
            self.browser.framework = ServerFramework::of_mcp(&response.headers);
        }
        Ok(response)
    }

    /// What follows on `initialize`: from now on the page names its version and its session.
    pub(super) async fn initialized(
        &mut self,
        response: &ProbeResponse,
        version: &str,
    ) -> Result<(), DoctorProblem> {
        self.version = HeaderValue::from_str(version).ok();
        let session_id = response.headers.get(SESSION_ID).cloned();
        self.session_id = session_id.filter(|_| self.stream.is_none());
        self.is_id_hidden = !rules::exposes(&response.headers, SESSION_ID.as_str());
        let message = "notifications/initialized";
        let headers = self.headers(message, ProtocolEra::Handshake);
        let body = writer().initialized();
        let response = self.post(message, None, body, headers).await?;
        match response.problem {
            Some(problem) => Err(problem),
            None if response.status >= 400 => self.lost(&response),
            None => {
                let verdict = "lets the page go on";
                self.browser.log.note(response.step, true, verdict);
                Ok(())
            }
        }
    }

    /// All tools, page after page.
    pub(super) async fn list_tools(
        &mut self,
        era: ProtocolEra,
    ) -> Result<Vec<Value>, DoctorProblem> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let write = |id| writer().list_tools(id, cursor.as_deref(), era);
            let response = self.request("tools/list", era, write).await?;
            if let Some(problem) = response.problem {
                return Err(problem);
            }
            let Ok(result) = &response.result else {
                return self.lost(&response);
            };
            let Some(page) = result["tools"].as_array() else {
                let why = "Its answer to `tools/list` has no list of tools.";
                let problem = ProblemKind::BadHandshake.with(why);
                return self.browser.log.fail(response.step, problem);
            };
            tools.extend(page.iter().cloned());
            let next = result["nextCursor"].as_str().map(str::to_owned);
            match next.filter(|next| !next.is_empty() && cursor.as_ref() != Some(next)) {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(tools)
    }

    /// Whether a page may send what a call has in addition, in the stateless era.
    pub(super) async fn check_call(&mut self) -> Result<(), DoctorProblem> {
        let mut headers = self.headers("tools/call", ProtocolEra::Stateless);
        headers.insert(NAME, HeaderValue::from_static("tool"));
        let request = BrowserRequest::new(Method::POST, self.url.clone(), headers);
        match self.browser.preflight(&request).await? {
            Some(refusal) => Err(refusal.problem(true, &self.browser.page())),
            None => Ok(()),
        }
    }

    /// Ends the session. No page would, so it is not logged; nor does its response matter.
    pub(super) async fn end(&mut self) {
        if let Some(session_id) = self.session_id.take() {
            let mut headers = self.browser.log.own.headers.clone();
            headers.insert(SESSION_ID, session_id);
            let version = self.version.take();
            headers.extend(version.map(|version| (PROTOCOL_VERSION, version)));
            let http = &self.browser.http;
            let _ = http.send(&Method::DELETE, &self.url, headers, None).await;
        }
    }

    /// Nobody there speaks MCP.
    pub(super) fn not_mcp<T>(&mut self, response: &ProbeResponse) -> Result<T, DoctorProblem> {
        let path = self.browser.log.own.mask(self.url.path(), 100);
        let status = response.status;
        let problem = match status {
            401 | 403 => self.browser.key_problem(status, response.problem.is_some()),
            400.. => ProblemKind::WrongPath.with(format!(
                "There is no MCP server at {path}: it answers {status}."
            )),
            _ => ProblemKind::NotToolServer.with(format!(
                "What answers at {path} does not speak MCP: {}",
                response.reason()
            )),
        };
        self.browser.log.fail(response.step, problem)
    }

    /// The session went wrong in the middle.
    fn lost<T>(&mut self, response: &ProbeResponse) -> Result<T, DoctorProblem> {
        let problem = if self.session_id.is_some() && self.is_id_hidden {
            ProblemKind::ExposeHeader.with(
                "The server gives the page a session, but a browser does not show it which: \
                 Access-Control-Expose-Headers lacks mcp-session-id.",
            )
        } else {
            ProblemKind::BadHandshake.with(format!(
                "After the handshake the server does not go on: {}",
                response.reason()
            ))
        };
        self.browser.log.fail(response.step, problem)
    }

    /// The headers of a message in the session, as far as the page knows it.
    fn headers(&self, method: &'static str, era: ProtocolEra) -> HeaderMap {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, json), (ACCEPT, both)]);
        if era == ProtocolEra::Stateless {
            let version = HeaderValue::from_static(STATELESS_VERSION);
            headers.insert(PROTOCOL_VERSION, version);
            headers.insert(METHOD, HeaderValue::from_static(method));
        } else {
            let version = self.version.clone();
            headers.extend(version.map(|version| (PROTOCOL_VERSION, version)));
            let session_id = self.session_id.clone().filter(|_| !self.is_id_hidden);
            headers.extend(session_id.map(|id| (SESSION_ID, id)));
        }
        headers
    }

    async fn request(
        &mut self,
        method: &'static str,
        era: ProtocolEra,
        write: impl FnOnce(u64) -> String,
    ) -> Result<ProbeResponse, DoctorProblem> {
        self.id += 1;
        let (body, headers) = (write(self.id), self.headers(method, era));
        self.post(method, Some(self.id), body, headers).await
    }

    async fn post(
        &mut self,
        message: &'static str,
        id: Option<u64>,
        body: String,
        headers: HeaderMap,
    ) -> Result<ProbeResponse, DoctorProblem> {
        let request = BrowserRequest {
            body: Some(body),
            message: Some(message),
            ..BrowserRequest::new(Method::POST, self.url.clone(), headers)
        };
        let mut reply = self.browser.fetch(&request).await?;
        if reply.status() == 403 {
            // The page may be what is refused, and not the key.
            self.browser.check_status(&reply, &request).await?;
        }
        self.url = reply.url.clone();
        let (status, headers) = (reply.status(), reply.headers().clone());
        let (problem, step) = (reply.problem.take(), reply.step);
        let response = match id {
            Some(id) => self.read_response(reply, id).await?,
            None => None,
        };
        let is_message = response.is_some();
        let own = &self.browser.log.own;
        let result = match response.and_then(|response| response.outcome) {
            Some(Ok(result)) => Ok(result),
            Some(Err(error)) => {
                let message = own.mask(&error.message, 200);
                Err(ProbeFailure::Refused { message, status })
            }
            None if status >= 400 => Err(ProbeFailure::Status(status)),
            None => {
                let media_type = own.mask(&essence(&headers), 60);
                Err(ProbeFailure::NoMessage { media_type })
            }
        };
        Ok(ProbeResponse {
            status,
            headers,
            result,
            is_message,
            problem,
            step,
        })
    }

    /// The response to a request, on the stream of the session or in the body of the reply.
    async fn read_response(
        &mut self,
        reply: BrowserResponse,
        id: u64,
    ) -> Result<Option<RpcResponse>, DoctorProblem> {
        let http = &self.browser.http;
        let read = match (&mut self.stream, essence(reply.headers()).as_str()) {
            (Some(stream), _) if reply.status() < 300 => stream.response(http, id).await,
            (None, EVENT_STREAM) => EventStream::new(reply.response).response(http, id).await,
            _ => {
                let body = http.read_body(reply.response).await;
                body.map(|body| RpcResponse::read(&body))
            }
        };
        read.or_else(|error| {
            let mut problem = error.problem(&reply.url);
            if problem.kind == ProblemKind::BadSpec {
                problem.kind = ProblemKind::BadHandshake;
            }
            self.browser.log.fail(reply.step, problem)
        })
    }
}

/// Introduces itself as the page's client does.
fn writer() -> MessageWriter {
    MessageWriter {
        client: ClientInfo {
            name: "tenon".to_owned(),
            title: "Tenon".to_owned(),
            version: "1".to_owned(),
        },
        capabilities: json!({}),
    }
}
