//! A session with an MCP server, with the headers that the page's client sends.

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use url::Url;

use super::stream::Stream;
use super::{MAX_PAGES, STATELESS_VERSION};
use crate::doctor::browser::{Browser, BrowserRequest, BrowserResponse};
use crate::doctor::cors;
use crate::doctor::problem::{DoctorProblem, ProblemKind};
use crate::doctor::server::{ServerFramework, ServerProtocol};
use crate::doctor::step::essence;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const EVENTS: &str = "text/event-stream";

pub(super) struct ProbeSession<'b> {
    pub(super) browser: &'b mut Browser,
    /// Where messages are posted.
    url: Url,
    /// Where answers arrive, if not where they were asked for.
    stream: Option<Stream>,
    /// As far as the page knows it.
    session: Option<HeaderValue>,
    /// One that the page does not get to see.
    hidden: Option<HeaderValue>,
    version: Option<HeaderValue>,
    id: u64,
}

/// What was said to a message.
pub(super) struct ProbeResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The result, or why there is none.
    pub(super) result: Result<Value, String>,
    /// It was a message of MCP at least.
    pub(super) is_message: bool,
    /// What keeps it from the page.
    pub(super) trouble: Option<DoctorProblem>,
    pub(super) step: usize,
}

impl<'b> ProbeSession<'b> {
    pub(super) fn streamable(browser: &'b mut Browser, url: Url) -> Self {
        Self {
            browser,
            url,
            stream: None,
            session: None,
            hidden: None,
            version: None,
            id: 0,
        }
    }

    /// Opens the stream and waits for where to post to.
    pub(super) async fn sse(
        browser: &'b mut Browser,
        url: &Url,
        maker: &mut ServerFramework,
    ) -> Result<Self, DoctorProblem> {
        let reply = browser
            .fetch(BrowserRequest::get(url.clone(), EVENTS))
            .await?;
        browser
            .check_status(&reply, &BrowserRequest::get(url.clone(), EVENTS))
            .await?;
        if essence(&reply.headers) != EVENTS {
            let trouble = super::not_mcp("It answers with something else than a stream of events.");
            return Err(browser.ledger.fail(reply.step, trouble));
        }
        *maker = ServerFramework::of(&reply.headers, ServerProtocol::Mcp);
        if let Some(trouble) = reply.trouble {
            return Err(trouble);
        }
        let (base, step) = (reply.url.clone(), reply.step);
        let mut stream = Stream::new(reply.response);
        let endpoint = stream.named(browser.wire(), "endpoint").await;
        let endpoint = endpoint.map_err(|failure| {
            let trouble = DoctorProblem::of_failure(&failure, &base);
            browser.ledger.fail(step, trouble)
        })?;
        let joined = endpoint.and_then(|event| base.join(event.data.trim()).ok());
        let Some(url) = joined.filter(|url| url.origin() == base.origin()) else {
            let why = "Its stream of events does not begin with an endpoint of its own.";
            return Err(browser
                .ledger
                .fail(step, DoctorProblem::new(ProblemKind::BadHandshake, why)));
        };
        browser
            .ledger
            .note(step, true, "lets it through: a stream of events");
        let mut line = Self::streamable(browser, url);
        line.stream = Some(stream);
        Ok(line)
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn take_maker(&self, heard: &ProbeResponse, maker: &mut ServerFramework) {
        if heard.is_message || *maker == ServerFramework::Unknown {
            *maker = ServerFramework::of(&heard.headers, ServerProtocol::Mcp);
        }
    }

    pub(super) async fn ask(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<ProbeResponse, DoctorProblem> {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        let headers = self.headers();
        self.post(method, &message, headers).await
    }

    /// As in 2026: without a handshake.
    pub(super) async fn ask_stateless(
        &mut self,
        method: &'static str,
    ) -> Result<ProbeResponse, DoctorProblem> {
        self.id += 1;
        let message = json!({
            "jsonrpc": "2.0", "id": self.id, "method": method, "params": {"_meta": meta()},
        });
        let headers = stateless_headers(method);
        self.post(method, &message, headers).await
    }

    /// What follows on a handshake: from now on the page names its version and its session.
    pub(super) async fn begin(
        &mut self,
        begun: &ProbeResponse,
        version: &str,
    ) -> Result<(), DoctorProblem> {
        self.version = HeaderValue::from_str(version).ok();
        if let Some(session) = begun.headers.get(SESSION).filter(|_| self.stream.is_none()) {
            if cors::exposes(&begun.headers, SESSION.as_str()) {
                self.session = Some(session.clone())
            } else {
                self.hidden = Some(session.clone())
            }
        }
        let method = "notifications/initialized";
        let message = json!({"jsonrpc": "2.0", "method": method});
        let heard = self.post(method, &message, self.headers()).await?;
        match heard.trouble {
            Some(trouble) => Err(trouble),
            None if heard.status >= 400 => Err(self.lost(&heard)),
            None => {
                let verdict = "lets the page go on";
                self.browser.ledger.note(heard.step, true, verdict);
                Ok(())
            }
        }
    }

    /// All tools, as they are listed.
    pub(super) async fn list(
        &mut self,
        stateless: Option<&str>,
    ) -> Result<Vec<Value>, DoctorProblem> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut params = match &cursor {
                Some(cursor) => json!({"cursor": cursor}),
                None => json!({}),
            };
            let headers = match stateless {
                Some(_) => {
                    params["_meta"] = meta();
                    stateless_headers("tools/list")
                }
                None => self.headers(),
            };
            self.id += 1;
            let message =
                json!({"jsonrpc": "2.0", "id": self.id, "method": "tools/list", "params": params});
            let heard = self.post("tools/list", &message, headers).await?;
            if let Some(trouble) = heard.trouble {
                return Err(trouble);
            }
            let result = match &heard.result {
                Ok(result) => result,
                Err(_) => return Err(self.lost(&heard)),
            };
            let Some(page) = result["tools"].as_array() else {
                let why = "Its answer to `tools/list` has no list of tools.";
                let trouble = DoctorProblem::new(ProblemKind::BadHandshake, why);
                return Err(self.browser.ledger.fail(heard.step, trouble));
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

    /// Whether a page may send what a call has in addition, where there is no handshake.
    pub(super) async fn may_call(&mut self) -> Result<Option<DoctorProblem>, DoctorProblem> {
        let mut headers = stateless_headers("tools/call");
        headers.insert(NAME, HeaderValue::from_static("tool"));
        let ask = BrowserRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers,
            body: None,
            message: None,
        };
        let page = self.browser.page();
        let refused = self.browser.may(&ask).await?;
        Ok(refused.map(|refused| DoctorProblem::of_refusal(&refused, true, &page)))
    }

    /// Ends the session: a page would come back, and we do not.
    pub(super) async fn forget(&mut self) {
        if let Some(session) = self.session.take().or(self.hidden.take()) {
            let mut headers = self.browser.ledger.own.headers.clone();
            headers.insert(SESSION, session);
            headers.extend(self.version.clone().map(|version| (VERSION, version)));
            self.browser.forget(&self.url, headers).await;
        }
    }

    /// Nobody there speaks MCP.
    pub(super) fn nothing(&mut self, heard: &ProbeResponse) -> DoctorProblem {
        let path = self.browser.ledger.own.shown(self.url.path(), 100);
        let status = heard.status;
        let trouble = match status {
            401 | 403 => self.browser.locked(status, heard.trouble.is_some()),
            400.. => DoctorProblem::new(
                ProblemKind::WrongPath,
                format!("There is no MCP server at {path}: it answers {status}."),
            ),
            _ => super::not_mcp(format!(
                "What answers at {path} does not speak MCP: {}",
                heard.result.as_ref().err().map_or("", String::as_str)
            )),
        };
        self.browser.ledger.fail(heard.step, trouble)
    }

    /// The session went wrong in the middle.
    fn lost(&mut self, heard: &ProbeResponse) -> DoctorProblem {
        let trouble = match &self.hidden {
            Some(_) => DoctorProblem::new(
                ProblemKind::ExposeHeader,
                "The server gives the page a session, but a browser does not show it which: \
                 Access-Control-Expose-Headers lacks mcp-session-id.",
            ),
            None => {
                let why = heard.result.as_ref().err().map_or("", String::as_str);
                let why = format!("After the handshake the server does not go on: {why}");
                DoctorProblem::new(ProblemKind::BadHandshake, why)
            }
        };
        self.browser.ledger.fail(heard.step, trouble)
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = json_headers();
        headers.extend(self.version.clone().map(|version| (VERSION, version)));
        headers.extend(self.session.clone().map(|session| (SESSION, session)));
        headers
    }

    async fn post(
        &mut self,
        name: &'static str,
        message: &Value,
        headers: HeaderMap,
    ) -> Result<ProbeResponse, DoctorProblem> {
        let ask = || BrowserRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: headers.clone(),
            body: Some(message.to_string()),
            message: Some(name),
        };
        let again = ask();
        let reply = self.browser.fetch(ask()).await?;
        if reply.status == 403 {
            // The page may be what is refused, and not the key.
            self.browser.check_status(&reply, &again).await?;
        }
        self.url = reply.url.clone();
        let (status, answer) = (reply.status, reply.headers.clone());
        let (trouble, step) = (reply.trouble.clone(), reply.step);
        let message = match message["id"].as_u64() {
            Some(id) => self.answer(reply, id).await?,
            None => None,
        };
        let is_message = message.as_ref().is_some_and(|message| {
            message["jsonrpc"] == "2.0"
                || message["result"].is_object()
                || message["error"].is_object()
        });
        let result = match &message {
            Some(message) if message["result"].is_object() => Ok(message["result"].clone()),
            Some(message) if message["error"].is_object() => {
                let why = message["error"]["message"].as_str().unwrap_or_default();
                Err(format!(
                    "{} ({status}).",
                    self.browser.ledger.own.shown(why, 200)
                ))
            }
            _ if status >= 400 => Err(format!("it answers {status}.")),
            _ => {
                let kind = self.browser.ledger.own.shown(&essence(&answer), 60);
                Err(format!("it answers with {kind} that is no message of MCP."))
            }
        };
        Ok(ProbeResponse {
            status,
            headers: answer,
            result,
            is_message,
            trouble,
            step,
        })
    }

    /// The message that answers, wherever it arrives.
    async fn answer(
        &mut self,
        reply: BrowserResponse,
        id: u64,
    ) -> Result<Option<Value>, DoctorProblem> {
        let (url, step) = (reply.url.clone(), reply.step);
        let wire = self.browser.wire();
        let read = match (&mut self.stream, essence(&reply.headers).as_str()) {
            (Some(stream), _) if reply.status < 300 => stream.answer(wire, id).await,
            (None, EVENTS) => Stream::new(reply.response).answer(wire, id).await,
            (_, _) => {
                let body = wire.whole(reply.response).await;
                body.map(|body| serde_json::from_slice(&body).ok())
            }
        };
        read.map_err(|failure| {
            let mut trouble = DoctorProblem::of_failure(&failure, &url);
            if trouble.kind == ProblemKind::BadSpec {
                trouble.kind = ProblemKind::BadHandshake;
            }
            self.browser.ledger.fail(step, trouble)
        })
    }
}

fn json_headers() -> HeaderMap {
    HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        ),
    ])
}

fn stateless_headers(method: &'static str) -> HeaderMap {
    let mut headers = json_headers();
    headers.insert(VERSION, HeaderValue::from_static(STATELESS_VERSION));
    headers.insert(METHOD, HeaderValue::from_static(method));
    headers
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "tenon", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
