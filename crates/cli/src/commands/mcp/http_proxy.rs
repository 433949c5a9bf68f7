//! A stdio MCP server that is a Tenon elsewhere: every line goes there as a POST, and what comes
//! back is written as lines. Messages are passed on as they are, whatever their version.
//!
//! A session that the server has forgotten, after a restart for example, is begun anew with the
//! `initialize` that began it.

mod message;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use tenon_mcp::message::{PROTOCOL_VERSION, SESSION_ID};
use tenon_mcp::routing_headers;
use tenon_net::sse::{SseEvent, SseParser};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};
use url::Url;

use message::{ForwardedKind, ForwardedMessage, error_response, one_line, protocol_version, said};

/// The longest line, and the longest message of the server.
const MAX_MESSAGE_BYTES: usize = 32 * 1024 * 1024;

/// How many requests are on their way at once; the next line is read when one has ended.
const MAX_REQUESTS: usize = 256;

/// How many lines wait for a client that does not read.
const MAX_UNREAD_LINES: usize = 1024;

/// How long what was asked may still take once the client asks nothing more.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Between two attempts to listen to notifications.
const LISTEN_INTERVAL: Duration = Duration::from_secs(2);

const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

pub(super) struct HttpProxy {
    client: Client,
    url: Url,
    /// `Bearer …`
    credential: HeaderValue,
    session: Mutex<ProxySession>,
    /// One task begins a forgotten session anew, the others wait for it.
    renewing: tokio::sync::Mutex<()>,
    requests: Mutex<HashMap<String, AbortHandle>>,
    /// Reads the notifications of the session.
    listening: Mutex<Option<AbortHandle>>,
    lines: mpsc::Sender<String>,
}

/// The session of the handshake era, if there is one.
#[derive(Default, Clone)]
struct ProxySession {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The message that began it.
    initialize: Option<String>,
}

impl HttpProxy {
    /// What it writes comes out of the receiver, line by line.
    pub(super) fn new(
        client: Client,
        url: Url,
        token: &str,
    ) -> Result<(Arc<Self>, mpsc::Receiver<String>)> {
        let mut credential = HeaderValue::try_from(format!("Bearer {token}"))
            .context("the key has characters in it that no key has")?;
        credential.set_sensitive(true);
        let (lines, written) = mpsc::channel(MAX_UNREAD_LINES);
        let proxy = Arc::new(Self {
            client,
            url,
            credential,
            session: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            requests: Mutex::default(),
            listening: Mutex::default(),
            lines,
        });
        Ok((proxy, written))
    }

    /// Passes on what the client writes, until it closes its end.
    pub(super) async fn run(self: Arc<Self>, input: impl AsyncBufRead + Unpin) -> Result<()> {
        let mut input = input.take(0);
        let mut exchanges = JoinSet::new();
        let slots = Arc::new(Semaphore::new(MAX_REQUESTS));
        let mut line = Vec::new();
        loop {
            line.clear();
            input.set_limit(MAX_MESSAGE_BYTES as u64);
            if input.read_until(b'\n', &mut line).await? == 0 {
                break;
            }
            anyhow::ensure!(line.len() < MAX_MESSAGE_BYTES, "a message is too long");
            while exchanges.try_join_next().is_some() {}
            let Some(message) = self.read(&line).await else {
                continue;
            };
            let slot = slots.clone().acquire_owned().await?;
            let (proxy, key) = (self.clone(), message.request_key());
            // Locked until it is known: it may be answered at once.
            let mut requests = self.requests();
            let exchange = exchanges.spawn(async move {
                proxy.exchange(message).await;
                drop(slot);
            });
            if let Some(key) = key {
                requests.insert(key, exchange);
            }
        }
        let drained = async { while exchanges.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, drained).await;
        self.end_session().await;
        Ok(())
    }

    /// None: it is nothing to be sent on.
    async fn read(&self, line: &[u8]) -> Option<ForwardedMessage> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = match ForwardedMessage::read(line) {
            Ok(message) => message,
            Err(why) => {
                self.write(error_response("null", -32700, &why)).await;
                return None;
            }
        };
        let is_stateless = self.session().id.is_none();
        if let ForwardedKind::Cancellation { request } = &message.kind
            && is_stateless
        {
            // Without a session, to close the response is to cancel.
            if let Some(cancelled) = self.requests().remove(request) {
                cancelled.abort();
            }
            return None;
        }
        Some(message)
    }

    async fn exchange(self: Arc<Self>, message: ForwardedMessage) {
        let answered = match self.post(&message).await {
            Ok(response) if response.status() == StatusCode::NOT_FOUND && self.can_renew() => {
                match self.renew().await {
                    Ok(()) => self.post(&message).await,
                    Err(error) => Err(error),
                }
            }
            other => other,
        };
        let ended = match answered {
            Ok(response) => self.clone().pass_on(&message, response).await,
            Err(error) => Err(error),
        };
        if let Some(key) = message.request_key() {
            self.requests().remove(&key);
        }
        if let (Err(error), Some(id)) = (ended, &message.id) {
            let why = super::super::explain(&error);
            self.write(error_response(id, -32603, &why)).await;
        }
    }

    async fn post(&self, message: &ForwardedMessage) -> Result<Response> {
        let session = self.session().clone();
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, ACCEPTED);
        headers.insert(CONTENT_TYPE, JSON);
        if let Some(version) = &message.stateless_version {
            headers.insert(PROTOCOL_VERSION, HeaderValue::try_from(version)?);
            headers.extend(routing_headers(&message.method, message.name.as_deref()));
        } else if message.method != "initialize" {
            headers.extend(session.headers());
        }
        let request = self.client.post(self.url.clone()).headers(headers);
        let request = request.body(message.body.clone());
        self.send(request).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let request = request.header(AUTHORIZATION, self.credential.clone());
        let sent = request.send().await.map_err(reqwest::Error::without_url);
        sent.with_context(|| format!("Tenon does not answer at {}", self.url))
    }

    /// Writes what came back. Whoever asked gets a response, whatever happens.
    async fn pass_on(
        self: Arc<Self>,
        message: &ForwardedMessage,
        response: Response,
    ) -> Result<()> {
        let (status, headers) = (response.status(), response.headers().clone());
        if status == StatusCode::ACCEPTED {
            if message.method == "notifications/initialized" {
                self.clone().start_listening();
            }
            return Ok(());
        }
        let kind = headers.get(CONTENT_TYPE);
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes())) {
            let id = message.id.as_deref();
            let is_answered = self.write_events(response, id).await?;
            anyhow::ensure!(is_answered || id.is_none(), "Tenon broke off its answer");
            return Ok(());
        }
        let body = response
            .bytes()
            .await
            .map_err(reqwest::Error::without_url)?;
        anyhow::ensure!(
            body.len() <= MAX_MESSAGE_BYTES,
            "Tenon's answer is too long"
        );
        if !status.is_success() {
            return match one_line(&body).filter(|line| line.contains("\"jsonrpc\"")) {
                Some(line) if message.id.is_some() => {
                    self.write(line).await;
                    Ok(())
                }
                _ => Err(anyhow::Error::msg(said(status, &body))),
            };
        }
        let line = one_line(&body).context("Tenon answered with something else than JSON")?;
        if message.method == "initialize" {
            *self.session() = ProxySession {
                id: headers.get(SESSION_ID).cloned(),
                version: protocol_version(&line),
                initialize: Some(message.body.clone()),
            };
        }
        self.write(line).await;
        Ok(())
    }

    /// Whether the response to the request was among the events.
    async fn write_events(&self, mut response: Response, id: Option<&str>) -> Result<bool> {
        let mut parser = SseParser::new(MAX_MESSAGE_BYTES);
        let (mut events, mut is_answered) = (Vec::new(), false);
        loop {
            let chunk = response
                .chunk()
                .await
                .map_err(reqwest::Error::without_url)?;
            match &chunk {
                Some(chunk) => parser.push(chunk, &mut events)?,
                None => parser.finish(&mut events),
            }
            for SseEvent { data, .. } in events.drain(..) {
                let Some(line) = one_line(data.as_bytes()) else {
                    continue;
                };
                is_answered |= message::is_response_to(&line, id);
                self.write(line).await;
            }
            if chunk.is_none() {
                return Ok(is_answered);
            }
        }
    }

    fn start_listening(self: Arc<Self>) {
        let listening = tokio::spawn(self.clone().listen()).abort_handle();
        self.set_listening(Some(listening));
    }

    /// Replaces the listener; the previous one is aborted.
    fn set_listening(&self, listening: Option<AbortHandle>) {
        let mut current = self
            .listening
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *current, listening) {
            before.abort();
        }
    }

    /// Writes the notifications of the session for as long as it lasts.
    async fn listen(self: Arc<Self>) {
        let id = self.session().id.clone();
        while id.is_some() && self.session().id == id && !self.lines.is_closed() {
            let request = self.client.get(self.url.clone());
            let request = request.header(ACCEPT, EVENTS);
            let request = request.headers(self.session().headers());
            match self.send(request).await {
                Ok(response) if response.status().is_success() => {
                    let _ = self.write_events(response, None).await;
                }
                // It has no such stream.
                Ok(response) if response.status() == StatusCode::METHOD_NOT_ALLOWED => return,
                Ok(response) if response.status() == StatusCode::NOT_FOUND => {
                    let _ = self.renew().await;
                }
                Ok(_) | Err(_) => {}
            }
            tokio::time::sleep(LISTEN_INTERVAL).await;
        }
    }

    fn can_renew(&self) -> bool {
        self.session().id.is_some()
    }

    /// Begins the session anew, unless another task has.
    async fn renew(self: &Arc<Self>) -> Result<()> {
        let forgotten = self.session().clone();
        let _renewing = self.renewing.lock().await;
        if self.session().id != forgotten.id {
            return Ok(());
        }
        let body = forgotten
            .initialize
            .context("there is no session to begin anew")?;
        let initialize = ForwardedMessage::read(body.as_bytes()).map_err(anyhow::Error::msg)?;
        let response = self.post(&initialize).await?;
        anyhow::ensure!(
            response.status().is_success(),
            "Tenon refuses a new session"
        );
        let id = response.headers().get(SESSION_ID).cloned();
        *self.session() = ProxySession {
            id,
            initialize: Some(body),
            version: forgotten.version,
        };
        let line = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let initialized = ForwardedMessage::read(line).map_err(anyhow::Error::msg)?;
        self.post(&initialized).await?;
        // The new session may offer other tools, so the client is told that all lists changed.
        for list in ["tools", "resources", "prompts"] {
            let method = format!("notifications/{list}/list_changed");
            self.write(format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#))
                .await;
        }
        // The last thing to do: the task that listened until now may be this one.
        self.clone().start_listening();
        Ok(())
    }

    async fn end_session(&self) {
        self.set_listening(None);
        let session = self.session().clone();
        if session.id.is_some() {
            let request = self.client.delete(self.url.clone());
            let ending = self.send(request.headers(session.headers()));
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, ending).await;
        }
    }

    async fn write(&self, line: String) {
        // A client that is gone reads nothing.
        let _ = self.lines.send(line).await;
    }

    fn session(&self) -> MutexGuard<'_, ProxySession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProxySession {
    fn headers(&self) -> HeaderMap {
        let id = self.id.clone().map(|id| (SESSION_ID, id));
        let version = self
            .version
            .clone()
            .map(|version| (PROTOCOL_VERSION, version));
        id.into_iter().chain(version).collect()
    }
}
