//! Streamable HTTP: every request is a POST, and its response a body or a stream of
//! events.
//!
//! A request is driven by whoever makes it, so any number run side by side, and dropping
//! one closes its stream. A session the server has forgotten is begun anew, once for all
//! requests that find out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use tenon_net::sse::SseParser;
use tenon_text as text;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use url::Url;

use super::Outgoing;
use super::endpoint::{self, HttpEndpoint, LAST_EVENT_ID, OutgoingRequest};
use super::header_params::{self, HeaderParams};
use super::headers;
use super::notification_stream;
use super::post_queue::PostQueue;
use crate::entry::EntryKind;
use crate::error::{ConnectionError, Error, ProtocolError};
use crate::jsonrpc::{self, MAX_MESSAGE_BYTES};
use crate::message::{PROTOCOL_VERSION, SESSION_ID};
use crate::peer::STATELESS_VERSION;
use crate::pending::{PendingRequests, StreamOrigin};
use crate::session_log::SessionNotice;

/// How often a stream that ended too early is resumed without anything new on it.
const MAX_RESUMES: usize = 5;

/// When to resume where the server does not say, and the bounds of what it says.
const RETRY: Duration = Duration::from_secs(1);
const MIN_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(30);

/// For ending the session.
const DELETE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct StreamableHttp {
    endpoint: Arc<HttpEndpoint>,
    pending: Arc<PendingRequests>,
    queue: Arc<PostQueue>,
    state: Mutex<State>,
    /// One task renews the session while the others wait.
    renewal: Semaphore,
    header_params: ArcSwap<HeaderParams>,
}

#[derive(Debug, Default)]
struct State {
    session_id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    is_stateless: bool,
    /// The params of `initialize`, to begin the session anew with.
    initialize_params: Option<String>,
    notification_stream: Option<JoinHandle<()>>,
}

impl StreamableHttp {
    pub(crate) fn new(endpoint: Arc<HttpEndpoint>, pending: Arc<PendingRequests>) -> Arc<Self> {
        let queue = PostQueue::start(endpoint.clone(), pending.log().clone());
        Arc::new(Self {
            endpoint,
            pending,
            queue,
            state: Mutex::default(),
            renewal: Semaphore::new(1),
            header_params: ArcSwap::default(),
        })
    }

    pub(crate) fn set_version(&self, version: &str) {
        let mut state = self.state();
        state.version = HeaderValue::try_from(version).ok();
        state.is_stateless = version == STATELESS_VERSION;
    }

    /// The ids of the session and of the protocol version.
    pub(crate) fn session(&self) -> (Option<String>, Option<String>) {
        let state = self.state();
        let text = |value: &Option<HeaderValue>| Some(value.as_ref()?.to_str().ok()?.to_owned());
        (text(&state.session_id), text(&state.version))
    }

    pub(crate) fn url(&self) -> &Url {
        &self.endpoint.url
    }

    /// The handshake is done: its params, and the server may send notifications from now on.
    pub(crate) fn on_initialized(&self, initialize_params: String) {
        let stream = notification_stream::keep_open(
            self.endpoint.clone(),
            self.pending.clone(),
            self.queue.clone(),
            self.session_headers(),
        );
        let mut state = self.state();
        state.initialize_params = Some(initialize_params);
        if let Some(old) = state.notification_stream.replace(tokio::spawn(stream)) {
            old.abort();
        }
    }

    /// Sets which arguments of which tools are also sent as headers.
    pub(crate) fn set_header_params(&self, params: HeaderParams) {
        self.header_params.store(Arc::new(params));
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.state().is_stateless
    }

    pub(crate) async fn send(&self, outgoing: Outgoing<'_>) -> Result<(), Error> {
        let session_id = self.state().session_id.clone();
        match self.exchange(&outgoing, session_id.as_ref()).await {
            Err(ExchangeError::SessionForgotten(_)) => {
                // A request outside of a known session has had no effect.
                let renewed = self.renew_session(session_id.as_ref()).await;
                renewed.map_err(|error| match error {
                    Error::ConnectionLost(why) => Error::NotSent(why),
                    other => other,
                })?;
                let session_id = self.state().session_id.clone();
                let repeated = self.exchange(&outgoing, session_id.as_ref()).await;
                repeated.map_err(Error::from)
            }
            other => other.map_err(Error::from),
        }
    }

    pub(crate) fn queue(&self, body: String) {
        let mut request = OutgoingRequest::post(self.endpoint.url.clone(), body);
        request.headers.extend(self.session_headers());
        self.queue.push(request);
    }

    /// Ends the session on the server.
    pub(crate) async fn close(&self) {
        let (stream, session_id) = {
            let mut state = self.state();
            (state.notification_stream.take(), state.session_id.take())
        };
        if let Some(stream) = stream {
            stream.abort();
        }
        self.queue.stop();
        self.pending.close(ConnectionError::Closed);
        if let Some(session_id) = session_id {
            let mut headers = self.session_headers();
            headers.insert(SESSION_ID, session_id);
            let request = OutgoingRequest {
                method: Method::DELETE,
                url: self.endpoint.url.clone(),
                headers,
                body: None,
            };
            let delete = self.endpoint.send_any_status(request);
            let _ = tokio::time::timeout(DELETE_TIMEOUT, delete).await;
        }
    }

    /// One POST and all that comes back on it.
    async fn exchange(
        &self,
        outgoing: &Outgoing<'_>,
        session_id: Option<&HeaderValue>,
    ) -> Result<(), ExchangeError> {
        let mut request = OutgoingRequest::post(self.endpoint.url.clone(), outgoing.body.clone());
        let (version, is_stateless) = {
            let state = self.state();
            (state.version.clone(), state.is_stateless)
        };
        headers::add(&mut request.headers, outgoing.headers);
        let headers = &mut request.headers;
        if outgoing.method != "initialize" {
            headers.extend(version.map(|version| (PROTOCOL_VERSION, version)));
            headers.extend(session_id.cloned().map(|id| (SESSION_ID, id)));
        }
        if is_stateless {
            header_params::write(outgoing, &self.header_params.load(), headers);
        }
        let response = self.endpoint.send_any_status(request).await?;
        let origin = outgoing.request_id.map(|request_id| StreamOrigin {
            request_id,
            call_id: outgoing.call_id,
        });
        if !response.status().is_success() {
            return self.on_error(response, origin, session_id.is_some()).await;
        }
        if outgoing.method == "initialize" {
            self.state().session_id = response.headers().get(SESSION_ID).cloned();
        }
        match (origin, endpoint::content_type(&response).as_str()) {
            (None, _) => Ok(()),
            (Some(origin), "text/event-stream") => Ok(self.read_stream(response, origin).await?),
            // Accepted: the response comes on another stream.
            (Some(_), _) if response.status().as_u16() == 202 => Ok(()),
            (Some(origin), "application/json") => {
                let body = endpoint::read_body(&self.endpoint, response).await?;
                if self.on_message(&body, origin) {
                    Ok(())
                } else {
                    Err(Error::from(ProtocolError::WrongResponse).into())
                }
            }
            (Some(_), "text/html") => Err(Error::from(ProtocolError::WebPage).into()),
            (Some(_), other) => {
                let other = ProtocolError::ContentType(text::line(other, 80));
                Err(Error::from(other).into())
            }
        }
    }

    /// A status that is no success may still come with a JSON-RPC response.
    async fn on_error(
        &self,
        response: Response,
        origin: Option<StreamOrigin>,
        is_in_session: bool,
    ) -> Result<(), ExchangeError> {
        let status = response.status().as_u16();
        let (error, body) = endpoint::status_error(response).await;
        if is_in_session && endpoint::is_session_error(status, &body) {
            return Err(ExchangeError::SessionForgotten(error));
        }
        match origin {
            Some(origin)
                if body.trim_ascii_start().starts_with(b"{") && self.on_message(&body, origin) =>
            {
                Ok(())
            }
            _ => Err(error.into()),
        }
    }

    /// Reads a stream until the response is on it, and resumes it where it was cut.
    async fn read_stream(&self, mut response: Response, origin: StreamOrigin) -> Result<(), Error> {
        let mut parser = SseParser::new(MAX_MESSAGE_BYTES);
        let mut resumes = 0;
        loop {
            while let Some(events) = endpoint::next_events(&mut response, &mut parser).await? {
                resumes = 0;
                let mut is_answered = false;
                for event in events.iter().filter(|event| !event.data.is_empty()) {
                    is_answered |= self.on_message(event.data.as_bytes(), origin);
                }
                if is_answered {
                    tokio::spawn(drain(response));
                    return Ok(());
                }
            }
            let last_id = parser.last_id().map(HeaderValue::try_from);
            let (Some(Ok(last_id)), true) = (last_id, resumes < MAX_RESUMES) else {
                return Err(Error::ConnectionLost(ConnectionError::Truncated));
            };
            resumes += 1;
            let wait = parser.retry().unwrap_or(RETRY);
            tokio::time::sleep(wait.clamp(MIN_RETRY, MAX_RETRY)).await;
            let mut request = OutgoingRequest::event_stream(self.endpoint.url.clone());
            request.headers.extend(self.session_headers());
            request.headers.insert(LAST_EVENT_ID, last_id);
            let resumed = self.endpoint.send(request).await;
            response = resumed.map_err(|error| match error {
                // It does not support resuming.
                Error::HttpStatus { .. } => Error::ConnectionLost(ConnectionError::Truncated),
                // This request was not sent. The one whose response was cut off was.
                Error::NotSent(why) => Error::ConnectionLost(why),
                other => other,
            })?;
            parser = parser.resume();
        }
    }

    /// True: it was the response.
    fn on_message(&self, text: &[u8], origin: StreamOrigin) -> bool {
        let outcome = self.pending.on_message(text, Some(origin));
        for reply in outcome.replies {
            self.queue(reply);
        }
        outcome.answered == Some(origin.request_id)
    }

    /// Initializes a new session, unless another request has already done so.
    async fn renew_session(&self, forgotten: Option<&HeaderValue>) -> Result<(), Error> {
        let gone = || Error::ConnectionLost(ConnectionError::SessionForgotten);
        let _turn = self.renewal.acquire().await.map_err(|_| gone())?;
        let params = {
            let state = self.state();
            if state.session_id.as_ref() != forgotten {
                return Ok(());
            }
            state.initialize_params.clone().ok_or_else(gone)?
        };
        let (id, response) = self.pending.add();
        let body = jsonrpc::request(id, "initialize", &params);
        let outgoing = Outgoing {
            request_id: Some(id),
            ..Outgoing::notification("initialize", body)
        };
        let sent = self.exchange(&outgoing, None).await;
        self.pending.remove(id);
        sent?;
        response.await.map_err(|_| gone())??;
        let body = jsonrpc::notification("notifications/initialized", "{}");
        let session_id = self.state().session_id.clone();
        let outgoing = Outgoing::notification("notifications/initialized", body);
        self.exchange(&outgoing, session_id.as_ref()).await?;
        self.on_initialized(params);
        self.pending.log().notice(SessionNotice::SessionRestored);
        self.pending.notify_tools_changed();
        self.pending.notify_list_changed(EntryKind::Resources);
        self.pending.notify_list_changed(EntryKind::Prompts);
        Ok(())
    }

    /// What every request of this session carries.
    fn session_headers(&self) -> HeaderMap {
        let state = self.state();
        let version = state.version.clone();
        let version = version.map(|version| (PROTOCOL_VERSION, version));
        let session_id = state.session_id.clone().map(|id| (SESSION_ID, id));
        version.into_iter().chain(session_id).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why one POST and what came back on it failed.
enum ExchangeError {
    /// The server does not know the session any more; what it answered.
    SessionForgotten(Error),
    Other(Error),
}

impl From<Error> for ExchangeError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<ExchangeError> for Error {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::SessionForgotten(error) | ExchangeError::Other(error) => error,
        }
    }
}

impl Drop for StreamableHttp {
    fn drop(&mut self) {
        self.queue.stop();
        if let Some(stream) = self.state().notification_stream.take() {
            stream.abort();
        }
    }
}

/// Reads the rest of a stream, so that its connection can be used again.
async fn drain(mut response: Response) {
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    let _ = tokio::time::timeout(Duration::from_millis(100), rest).await;
}
