//! Requests, responses and notifications over one transport.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_net::TraceContext;
use tracing::Span;
use tracing::field::display;

use crate::elicitation;
use crate::error::{ConnectionError, Error};
use crate::handler::CallHandler;
use crate::jsonrpc::{self, ParamsBuilder};
use crate::pending::{ActiveCall, ClientMethod, PendingRequests, ServerRequest};
use crate::request_span::RequestSpan;
use crate::transport::{Outgoing, Transport};

/// How long it may take until it is known whether a request was sent.
const SEND_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection that is negotiated, or is being negotiated.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) transport: Transport,
    pub(crate) pending: Arc<PendingRequests>,
    /// What every request of the stateless era carries: the members of `_meta`.
    pub(crate) meta: String,
}

/// A request before it has an id.
#[derive(Debug)]
pub(crate) struct RpcRequest<'a> {
    pub(crate) method: &'a str,
    /// What the method is applied to: a tool, a task.
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: Option<&'a Value>,
    pub(crate) params: ParamsBuilder,
}

impl<'a> RpcRequest<'a> {
    pub(crate) fn new(method: &'a str, params: ParamsBuilder) -> Self {
        Self {
            method,
            name: None,
            arguments: None,
            params,
        }
    }

    pub(crate) fn with_name(self, name: &'a str) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }
}

impl Session {
    /// A request outside of any call. Dropping it cancels it.
    pub(crate) async fn request(
        &self,
        request: RpcRequest<'_>,
        timeout: Duration,
    ) -> Result<Box<RawValue>, Error> {
        let span = RequestSpan::open(request.method, request.name, &self.transport);
        // In one expression: a future that was in a variable takes its room twice.
        let response = tokio::time::timeout(timeout, span.enter(self.send_request(request, None)))
            .await
            .unwrap_or(Err(Error::Timeout));
        span.finish(&response);
        response
    }

    /// A request in the course of a call: what the server asks goes to whoever made it. The span is
    /// still open: what the result says belongs to it, too.
    pub(crate) async fn request_in_call(
        &self,
        call: &ActiveCall,
        request: RpcRequest<'_>,
        handler: &dyn CallHandler,
    ) -> (RequestSpan, Result<Box<RawValue>, Error>) {
        let span = RequestSpan::open(request.method, request.name, &self.transport);
        let response = span
            .enter(self.send_request(request, Some((call, handler))))
            .await;
        span.finish(&response);
        (span, response)
    }

    /// A request that is meant to stay open, or whose caller has a deadline.
    pub(crate) async fn request_without_timeout(
        &self,
        request: RpcRequest<'_>,
    ) -> Result<Box<RawValue>, Error> {
        self.send_request(request, None).await
    }

    pub(crate) async fn notify(&self, method: &str, params: ParamsBuilder) -> Result<(), Error> {
        let body = jsonrpc::notification(method, &params.finish(&self.meta));
        self.transport
            .send(Outgoing::notification(method, body))
            .await
    }

    /// Sends a notification without waiting for it to be sent.
    pub(crate) fn queue_notification(&self, method: &str, params: ParamsBuilder) {
        let body = jsonrpc::notification(method, &params.finish(&self.meta));
        self.transport.queue(body);
    }

    /// The members of `_meta` of one request.
    fn request_meta(&self, method: &str, call_id: Option<u64>) -> String {
        let mut meta = self.meta.clone();
        let mut add = |member: std::fmt::Arguments<'_>| {
            let comma = if meta.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(meta, "{comma}{member}");
        };
        if let Some(token) = call_id {
            add(format_args!(r#""progressToken":{token}"#));
        }
        // Methods that introduce the client are sent to servers of any version, which ignore
        // unknown fields.
        let is_introduction = matches!(method, "initialize" | "server/discover");
        if let Some(context) = TraceContext::current().filter(|_| !is_introduction) {
            for (name, value) in context.pairs() {
                add(format_args!(r#""{name}":{}"#, jsonrpc::json(value)));
            }
        }
        meta
    }

    async fn send_request(
        &self,
        request: RpcRequest<'_>,
        call: Option<(&ActiveCall, &dyn CallHandler)>,
    ) -> Result<Box<RawValue>, Error> {
        let (id, mut response) = self.pending.add();
        let call_id = call.as_ref().map(|(call, _)| call.id);
        let handler = call.as_ref().map(|(_, handler)| *handler);
        Span::current().record("jsonrpc.request.id", display(id));
        let meta = self.request_meta(request.method, call_id);
        let outgoing = Outgoing {
            method: request.method,
            name: request.name,
            arguments: request.arguments,
            body: jsonrpc::request(id, request.method, &request.params.finish(&meta)),
            request_id: Some(id),
            call_id,
            headers: handler.map(CallHandler::headers).unwrap_or_default(),
        };
        let cancel = CancelOnDrop {
            session: self,
            id,
            method: request.method,
        };
        let mut sending = std::pin::pin!(self.transport.send(outgoing));
        let mut server_requests = ServerRequests::new(call);
        let mut is_sent = false;
        let mut response = loop {
            tokio::select! {
                biased;
                response = &mut response => break response,
                sent = &mut sending, if !is_sent => {
                    is_sent = true;
                    if let Err(error) = sent {
                        self.pending.resolve(id, Err(error));
                    }
                }
                reply = server_requests.next_reply() => self.transport.queue(reply),
            }
        };
        drop(cancel);
        if let Ok(Err(Error::ConnectionLost(why))) = &response
            && !is_sent
        {
            // The connection ended before the request was out: it may not have arrived at
            // all. Why it ended is what its end said.
            let sent = tokio::time::timeout(SEND_TIMEOUT, sending).await;
            if let Ok(Err(Error::NotSent(_))) = sent {
                response = Ok(Err(Error::NotSent(why.clone())));
            }
        }
        response.unwrap_or(Err(Error::ConnectionLost(ConnectionError::Closed)))
    }
}

/// Cancels a request on the server if it is dropped before its response.
struct CancelOnDrop<'a> {
    session: &'a Session,
    id: u64,
    method: &'a str,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let session = self.session;
        // The specification forbids to cancel the first request.
        let is_first = matches!(self.method, "initialize" | "server/discover");
        if !session.pending.remove(self.id) || is_first || session.transport.cancels_by_closing() {
            return;
        }
        let params = ParamsBuilder::new()
            .with("requestId", &self.id)
            .with("reason", "Nobody waits for the answer any longer.");
        session.queue_notification("notifications/cancelled", params);
    }
}

/// Handles a server's requests during a call, one at a time.
struct ServerRequests<'a> {
    call: Option<(&'a ActiveCall, &'a dyn CallHandler)>,
    answering: Option<BoxFuture<'a, String>>,
}

impl<'a> ServerRequests<'a> {
    fn new(call: Option<(&'a ActiveCall, &'a dyn CallHandler)>) -> Self {
        Self {
            call,
            answering: None,
        }
    }

    /// The next answer, as a message. Cancel safe.
    async fn next_reply(&mut self) -> String {
        let Some((call, handler)) = &mut self.call else {
            return std::future::pending().await;
        };
        if self.answering.is_none() {
            let request = call.requests.next().await;
            self.answering = Some(Box::pin(reply(*handler, request)));
        }
        let reply = match &mut self.answering {
            Some(answering) => answering.await,
            None => return std::future::pending().await,
        };
        self.answering = None;
        reply
    }
}

async fn reply(handler: &dyn CallHandler, request: ServerRequest) -> String {
    let ServerRequest { id, method, params } = request;
    match method {
        ClientMethod::Elicit => {
            let answer = elicitation::answer(handler, &params).await;
            jsonrpc::response(&id, &answer)
        }
        ClientMethod::Sample => match handler.sample(params).await {
            Some(result) => jsonrpc::response(&id, &result),
            None => jsonrpc::sampling_refusal(&id),
        },
    }
}
