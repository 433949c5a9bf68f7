//! Legacy HTTP with SSE: one long stream for all that the server sends, and a POST for
//! each message to it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::HeaderValue;
use tenon_net::sse::{SseEvent, SseParser};
use tokio::task::JoinHandle;
use url::Url;

use super::endpoint::{self, HttpEndpoint, OutgoingRequest};
use super::headers;
use super::post_queue::PostQueue;
use crate::error::{ConnectionError, Error, ProtocolError};
use crate::jsonrpc::MAX_MESSAGE_BYTES;
use crate::message::PROTOCOL_VERSION;
use crate::pending::PendingRequests;

/// For a POST to be accepted. The response to its request comes on the stream.
const POST_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct SseTransport {
    endpoint: Arc<HttpEndpoint>,
    post_url: Url,
    version: OnceLock<HeaderValue>,
    pending: Arc<PendingRequests>,
    queue: Arc<PostQueue>,
    reader: JoinHandle<()>,
}

impl SseTransport {
    /// Opens the stream and waits for the address to post to.
    pub(crate) async fn start(
        endpoint: Arc<HttpEndpoint>,
        pending: Arc<PendingRequests>,
    ) -> Result<Arc<Self>, Error> {
        let stream = OutgoingRequest::event_stream(endpoint.url.clone());
        let mut response = endpoint.send(stream).await?;
        if endpoint::content_type(&response) != "text/event-stream" {
            return Err(ProtocolError::NotAnEventStream.into());
        }
        let mut parser = SseParser::new(MAX_MESSAGE_BYTES);
        let (post_url, rest) = loop {
            let Some(mut events) = endpoint::next_events(&mut response, &mut parser).await? else {
                return Err(ProtocolError::NoEndpoint.into());
            };
            if let Some(at) = events.iter().position(|event| event.name == "endpoint") {
                let rest = events.split_off(at + 1);
                let path = std::mem::take(&mut events[at].data);
                break (endpoint.join(path.trim())?, rest);
            }
        };
        let queue = PostQueue::start(endpoint.clone(), pending.log().clone());
        let reader = {
            let (queue, pending, post_url) = (queue.clone(), pending.clone(), post_url.clone());
            tokio::spawn(async move {
                let on_events = |events: Vec<SseEvent>| {
                    for event in events {
                        // An event without a name is a message, too.
                        if matches!(event.name.as_str(), "" | "message") {
                            let outcome = pending.on_message(event.data.as_bytes(), None);
                            for reply in outcome.replies {
                                queue.push(OutgoingRequest::post(post_url.clone(), reply));
                            }
                        }
                    }
                };
                on_events(rest);
                let why = loop {
                    match endpoint::next_events(&mut response, &mut parser).await {
                        Ok(Some(events)) => on_events(events),
                        Ok(None) => break ConnectionError::ClosedByServer,
                        Err(error) => break error.into(),
                    }
                };
                pending.close(why);
            })
        };
        Ok(Arc::new(Self {
            endpoint,
            post_url,
            version: OnceLock::new(),
            pending,
            queue,
            reader,
        }))
    }

    pub(crate) async fn send(
        &self,
        body: String,
        of_call: &[(String, String)],
    ) -> Result<(), Error> {
        let mut request = self.request(body);
        headers::add(&mut request.headers, of_call);
        let sent = tokio::time::timeout(POST_TIMEOUT, self.post(request)).await;
        sent.unwrap_or(Err(Error::Timeout))
    }

    async fn post(&self, request: OutgoingRequest) -> Result<(), Error> {
        let response = self.endpoint.send_any_status(request).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let (error, body) = endpoint::status_error(response).await;
        let status = status.as_u16();
        if status == 410 || endpoint::is_session_error(status, &body) {
            let why = ConnectionError::SessionForgotten;
            self.pending.close(why.clone());
            return Err(Error::NotSent(why));
        }
        Err(error)
    }

    pub(crate) fn queue(&self, body: String) {
        self.queue.push(self.request(body));
    }

    pub(crate) fn version(&self) -> Option<String> {
        let version = self.version.get()?.to_str().ok()?;
        Some(version.to_owned())
    }

    pub(crate) fn url(&self) -> &Url {
        &self.endpoint.url
    }

    pub(crate) fn set_version(&self, version: &str) {
        if let Ok(version) = HeaderValue::try_from(version) {
            let _ = self.version.set(version);
        }
    }

    fn request(&self, body: String) -> OutgoingRequest {
        let mut request = OutgoingRequest::post(self.post_url.clone(), body);
        let version = self.version.get().cloned();
        let version = version.map(|version| (PROTOCOL_VERSION, version));
        request.headers.extend(version);
        request
    }

    pub(crate) fn close(&self) {
        self.reader.abort();
        self.queue.stop();
        self.pending.close(ConnectionError::Closed);
    }
}

impl Drop for SseTransport {
    fn drop(&mut self) {
        self.reader.abort();
        self.queue.stop();
    }
}
