//! Several messages in one request: up to 2025-03-26.

use futures::future::join_all;
use http::StatusCode;

use crate::jsonrpc::RpcError;
use crate::server::batch::read_batch;
use crate::server::body::{self, ServerResponse};
use crate::server::endpoint::McpEndpoint;
use crate::server::engine::Begin;
use crate::server::message::{ClientRequest, InboundMessage};
use crate::server::reply::Reply;
use crate::server::running::Step;
use crate::server::service::McpService;
use crate::server::session_store::{ServerSession, SessionLease};

impl<S: McpService> McpEndpoint<S> {
    pub(super) async fn post_batch(
        &self,
        session: SessionLease<S::Caller>,
        text: &[u8],
        caller: S::Caller,
    ) -> ServerResponse {
        let allows_batches = session.handshake.allows_batches();
        let messages = match read_batch(text, allows_batches) {
            Ok(messages) => messages,
            Err(error) => return body::json(StatusCode::BAD_REQUEST, Reply::error(None, error)),
        };
        let messages = messages.iter().map(|message| message.get().as_bytes());
        let replies = messages.map(|message| self.answer_in_batch(&session, message, &caller));
        let replies: Vec<String> = join_all(replies).await.into_iter().flatten().collect();
        if replies.is_empty() {
            return body::empty(StatusCode::ACCEPTED);
        }
        let json = format!("[{}]", replies.join(","));
        body::json(StatusCode::OK, Reply::success(json))
    }

    async fn answer_in_batch(
        &self,
        session: &ServerSession<S::Caller>,
        text: &[u8],
        caller: &S::Caller,
    ) -> Option<String> {
        match InboundMessage::read(text) {
            Ok(InboundMessage::Request(request)) => {
                let outcome = self.run_in_batch(session, &request, caller).await;
                let error = |error| Some(Reply::error(Some(request.id), error).json);
                outcome.unwrap_or_else(error)
            }
            Ok(InboundMessage::Notification { method, params }) => {
                session.on_notification(&method, params);
                None
            }
            Ok(InboundMessage::Response { id, answer }) => {
                session.requests.on_answer(id, answer);
                None
            }
            Err(fault) => Some(Reply::error(fault.id.as_deref(), fault.error).json),
        }
    }

    /// What a request says before its result is left out, and what it asks fails.
    async fn run_in_batch(
        &self,
        session: &ServerSession<S::Caller>,
        request: &ClientRequest<'_>,
        caller: &S::Caller,
    ) -> Result<Option<String>, RpcError> {
        let handshake = &session.handshake;
        let mut running = match self
            .engine
            .begin_handshake(caller, handshake, request)
            .await?
        {
            Begin::Reply(reply) => return Ok(Some(reply.json)),
            Begin::Run(running) => running,
            Begin::Listen(_) => return Ok(None),
        };
        let cancellation = &running.exchange.cancellation;
        let _entry = session.requests.insert(request.id, cancellation)?;
        loop {
            match running.step().await {
                Step::Message(_) => {}
                Step::Cancelled => return Ok(None),
                Step::Done(outcome) => {
                    let writer = &self.engine.writer;
                    let reply = writer.response(request.id, &handshake.client, outcome);
                    return Ok(Some(reply.json));
                }
            }
        }
    }
}
