//! Requests by POST.

use std::time::Duration;

use futures::stream;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::AcceptedTypes;
use super::header_check;
use crate::jsonrpc::RpcError;
use crate::message::SESSION_ID;
use crate::server::body::{self, ServerResponse};
use crate::server::endpoint::McpEndpoint;
use crate::server::engine::Begin;
use crate::server::event_stream::message_event;
use crate::server::handshake::HandshakeState;
use crate::server::message::ClientRequest;
use crate::server::reply::Reply;
use crate::server::running::{RunningRequest, Step};
use crate::server::service::McpService;
use crate::server::session_store::SessionLease;
use crate::server::stateless::{StatelessRequest, StatelessStep};

/// A response that takes longer becomes a stream, which can be kept alive.
pub(super) const STREAM_AFTER: Duration = Duration::from_secs(10);

impl<S: McpService> McpEndpoint<S> {
    pub(super) fn initialize(
        &self,
        request: &ClientRequest<'_>,
        caller: S::Caller,
    ) -> ServerResponse {
        let client = request.params.handshake_client();
        let members = self.engine.initialize_members(&caller, &client);
        let json = self.engine.writer.result(request.id, &client, &members);
        let Some(session) = self
            .engine
            .sessions
            .insert(caller, HandshakeState::new(client))
        else {
            let error = RpcError::new(RpcError::INTERNAL_ERROR, "Too many sessions are in use.");
            let reply = Reply::error(Some(request.id), error);
            return body::json(StatusCode::SERVICE_UNAVAILABLE, reply);
        };
        let mut response = body::json(StatusCode::OK, Reply::success(json));
        if let Ok(id) = HeaderValue::try_from(session.id()) {
            response.headers_mut().insert(SESSION_ID, id);
        }
        response
    }

    /// A request of a session.
    pub(super) async fn post_request(
        &self,
        session: SessionLease<S::Caller>,
        accept: AcceptedTypes,
        request: &ClientRequest<'_>,
        caller: S::Caller,
    ) -> ServerResponse {
        let handshake = &session.handshake;
        let begin = self
            .engine
            .begin_handshake(&caller, handshake, request)
            .await;
        let running = match begin {
            Ok(Begin::Run(running)) => running,
            Ok(Begin::Reply(reply)) => return accept.respond(StatusCode::OK, reply),
            // There are no such requests in this era.
            Ok(Begin::Listen(_)) => return body::empty(StatusCode::ACCEPTED),
            Err(error) => {
                return accept.respond(StatusCode::OK, Reply::error(Some(request.id), error));
            }
        };
        self.answer(session, accept, request.id, running).await
    }

    /// The thin path of a call: nothing is spawned and no stream begins unless there is something
    /// to say before the result.
    async fn answer(
        &self,
        session: SessionLease<S::Caller>,
        accept: AcceptedTypes,
        id: &RawValue,
        mut running: RunningRequest,
    ) -> ServerResponse {
        let entry = match session.requests.insert(id, &running.exchange.cancellation) {
            Ok(entry) => entry,
            Err(error) => {
                return body::json(StatusCode::TOO_MANY_REQUESTS, Reply::error(Some(id), error));
            }
        };
        loop {
            let message = match timeout(STREAM_AFTER, running.step()).await {
                Ok(Step::Done(outcome)) => {
                    let client = &session.handshake.client;
                    let reply = self.engine.writer.response(id, client, outcome);
                    return accept.respond(StatusCode::OK, reply);
                }
                // Nobody waits for the response any more.
                Ok(Step::Cancelled) => return body::empty(StatusCode::ACCEPTED),
                Ok(Step::Message(message)) => Some(message),
                Err(_) => None,
            };
            if accept.events {
                let id = id.to_owned();
                return self.stream_response(session, entry, id, running, message);
            }
            // A client that accepts no stream gets no notifications before the result, and
            // questions to it fail.
        }
    }

    /// A request of the stateless era. Closing the response cancels it.
    pub(super) async fn post_stateless(
        &self,
        headers: &HeaderMap,
        accept: AcceptedTypes,
        request: &ClientRequest<'_>,
        caller: S::Caller,
    ) -> ServerResponse {
        let refuse = |status, error| body::json(status, Reply::error(Some(request.id), error));
        if let Err(error) = header_check::check(headers, request) {
            return refuse(StatusCode::BAD_REQUEST, error);
        }
        let client = match request.params.stateless_client() {
            Ok(client) => client,
            Err(error) => return refuse(StatusCode::BAD_REQUEST, error),
        };
        if let Err(error) = self.check_header_params(headers, request, &caller).await {
            return refuse(StatusCode::BAD_REQUEST, error);
        }
        let mut running = match StatelessRequest::begin(&self.engine, &caller, client, request) {
            Ok(Begin::Run(running)) => running,
            Ok(Begin::Reply(reply)) => return accept.respond(StatusCode::OK, reply),
            Ok(Begin::Listen(filter)) => return self.listen(request.id, filter, &caller).await,
            Err(error) => return refuse(error_status(Some(error.code)), error),
        };
        loop {
            let notification = match timeout(STREAM_AFTER, running.next()).await {
                Ok(StatelessStep::Response(reply)) => {
                    let status = error_status(reply.error_code);
                    return accept.respond(status, reply);
                }
                Ok(StatelessStep::Cancelled) => return body::empty(StatusCode::ACCEPTED),
                Ok(StatelessStep::Notification(message)) => Some(message),
                Err(_) => None,
            };
            if accept.events {
                return super::streamed::stateless_response(notification, running);
            }
        }
    }

    async fn check_header_params(
        &self,
        headers: &HeaderMap,
        request: &ClientRequest<'_>,
        caller: &S::Caller,
    ) -> Result<(), RpcError> {
        let Some(name) = request.params.name.as_deref() else {
            return Ok(());
        };
        if request.method != "tools/call" || !self.engine.service.capabilities(caller).tools {
            return Ok(());
        }
        let tools = self.engine.service.tools(caller).await?;
        let params = tools.header_params(name);
        if params.is_empty() {
            return Ok(());
        }
        header_check::check_params(headers, params, &request.params.arguments()?)
    }
}

impl AcceptedTypes {
    /// JSON where the client takes it, and otherwise one event.
    pub(super) fn respond(self, status: StatusCode, reply: Reply) -> ServerResponse {
        if self.json || status != StatusCode::OK {
            return body::json(status, reply);
        }
        body::events(stream::iter([message_event(&reply.json)]))
    }
}

/// What the stateless era says about errors beside their code.
fn error_status(code: Option<i64>) -> StatusCode {
    match code {
        Some(RpcError::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            RpcError::HEADER_MISMATCH
            | RpcError::MISSING_CAPABILITY
            | RpcError::UNSUPPORTED_VERSION,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
