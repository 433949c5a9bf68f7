//! The protocol without a transport: what a request of either era begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Map;
use serde_json::value::RawValue;
use tracing::Span;

use super::client_profile::ClientProfile;
use super::context::RequestContext;
use super::exchange::RequestExchange;
use super::handshake::HandshakeState;
use super::message::ClientRequest;
use super::notification::SubscriptionFilter;
use super::operation::{ResultMembers, ServiceOperation};
use super::options::ServerOptions;
use super::parked::{PARKING_TIME, ParkedCall, ParkedCalls};
use super::reply::{Reply, ReplyWriter};
use super::request_span;
use super::running::RunningRequest;
use super::service::{McpService, ServerIdentity};
use super::session_store::SessionStore;
use crate::jsonrpc::RpcError;

/// How many streams may be open at the same time, in all.
const MAX_OPEN_STREAMS: usize = 20_000;

pub(super) struct Engine<S: McpService> {
    pub(super) service: S,
    pub(super) options: ServerOptions,
    pub(super) writer: ReplyWriter,
    pub(super) sessions: SessionStore<S::Caller>,
    pub(super) parked: ParkedCalls<S::Caller>,
    open_streams: AtomicUsize,
}

/// What a request begins.
#[derive(Debug)]
pub(super) enum Begin<R> {
    /// It is answered at once.
    Reply(Reply),
    Run(R),
    /// From now on the client hears of these changes.
    Listen(SubscriptionFilter),
}

/// A permit for one open stream, of a limited number.
pub(super) struct StreamPermit<S: McpService>(Arc<Engine<S>>);

impl<S: McpService> Engine<S> {
    pub(super) fn new(service: S, identity: &ServerIdentity, options: ServerOptions) -> Self {
        Self {
            service,
            options,
            writer: ReplyWriter::new(identity),
            sessions: SessionStore::new(),
            parked: ParkedCalls::default(),
            open_streams: AtomicUsize::new(0),
        }
    }

    /// A request of a session, after `initialize`.
    pub(super) async fn begin_handshake(
        self: &Arc<Self>,
        caller: &S::Caller,
        state: &HandshakeState,
        request: &ClientRequest<'_>,
    ) -> Result<Begin<RunningRequest>, RpcError> {
        let params = &request.params;
        let capabilities = self.service.capabilities(caller);
        let uri = || {
            let uri = params.uri.as_deref();
            uri.ok_or_else(|| RpcError::invalid_params("`uri` is missing."))
        };
        match &*request.method {
            "ping" => {}
            "logging/setLevel" if capabilities.logging => {
                let level = params.level;
                let level = level.ok_or_else(|| RpcError::invalid_params("`level` is missing."))?;
                state.set_log_level(level);
            }
            "resources/subscribe" if capabilities.resource_subscriptions => {
                let uri = uri()?;
                // Boxed: it is rare, and the future of every call would carry it.
                Box::pin(self.service.subscribe_resource(caller, uri)).await?;
                if !state.subscribe(uri) {
                    return Err(RpcError::invalid_params("Too many subscriptions."));
                }
            }
            "resources/unsubscribe" if capabilities.resource_subscriptions => {
                state.unsubscribe(uri()?);
            }
            _ => {
                let operation = ServiceOperation::read(request, capabilities)?;
                let operation = operation.ok_or_else(|| method_not_found(&request.method))?;
                let token = params.meta.progress_token.map(RawValue::to_owned);
                let exchange = RequestExchange::new(
                    Arc::clone(&state.client),
                    token,
                    capabilities.logging.then(|| state.log_level()),
                    Map::new(),
                );
                let span = request_span::open(request);
                let running = self.run(caller.clone(), operation, exchange, span);
                return Ok(Begin::Run(running));
            }
        }
        let json = self.writer.empty(request.id, &state.client);
        Ok(Begin::Reply(Reply::success(json)))
    }

    pub(super) fn run(
        self: &Arc<Self>,
        caller: S::Caller,
        operation: ServiceOperation,
        exchange: RequestExchange,
        span: Span,
    ) -> RunningRequest {
        let exchange = Arc::new(exchange);
        let context = RequestContext::new(caller, Arc::clone(&exchange));
        let engine = Arc::clone(self);
        let future = async move { operation.run(&engine.service, &context).await };
        RunningRequest::new(exchange, Box::pin(request_span::run(span, future)))
    }

    /// Keeps a call until its client comes back with the answers.
    pub(super) fn park(self: &Arc<Self>, id: &RawValue, call: ParkedCall<S::Caller>) -> Reply {
        let questions = self.writer.questions(&call.inputs);
        match self.parked.insert(call) {
            Ok(state) => {
                let json = self.writer.input_required(id, &questions, &state);
                let engine = Arc::clone(self);
                tokio::spawn(async move {
                    tokio::time::sleep(PARKING_TIME).await;
                    engine.parked.expire(&state);
                });
                Reply::success(json)
            }
            Err(call) => {
                drop(call);
                let message = "Too many calls wait for an answer. Try again later.";
                Reply::error(Some(id), RpcError::new(RpcError::INTERNAL_ERROR, message))
            }
        }
    }

    /// The filter without the resources that the caller may not follow.
    pub(super) async fn follow(
        &self,
        caller: &S::Caller,
        mut filter: SubscriptionFilter,
    ) -> SubscriptionFilter {
        for uri in std::mem::take(&mut filter.resource_subscriptions) {
            if self.service.subscribe_resource(caller, &uri).await.is_ok() {
                filter.resource_subscriptions.insert(uri);
            }
        }
        filter
    }

    /// The answer to `initialize`.
    pub(super) fn initialize_members(
        &self,
        caller: &S::Caller,
        client: &ClientProfile,
    ) -> ResultMembers {
        let capabilities = self.service.capabilities(caller);
        let instructions = self.service.instructions(caller);
        self.writer
            .initialize_members(client, capabilities, instructions.as_deref())
    }

    /// None: too many are open.
    pub(super) fn open_stream(self: &Arc<Self>) -> Option<StreamPermit<S>> {
        let permit = StreamPermit(Arc::clone(self));
        let open = self.open_streams.fetch_add(1, Ordering::Relaxed);
        (open < MAX_OPEN_STREAMS).then_some(permit)
    }
}

pub(super) fn method_not_found(method: &str) -> RpcError {
    let method = tenon_text::line(method, 100);
    RpcError::new(
        RpcError::METHOD_NOT_FOUND,
        format!("Method not found: {method}"),
    )
}

impl<S: McpService> Drop for StreamPermit<S> {
    fn drop(&mut self) {
        self.0.open_streams.fetch_sub(1, Ordering::Relaxed);
    }
}
