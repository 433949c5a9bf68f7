//! The protocol without a transport: what a request of either era begins.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::context::{ClientProfile, RequestContext};
use super::exchange::Exchange;
use super::handshake::HandshakeState;
use super::legacy_sse::SseConnections;
use super::message::{ClientRequest, parse_value};
use super::notification::SubscriptionFilter;
use super::operation::{Operation, ResultMembers};
use super::parked::{PARKING_TIME, ParkedCall, ParkedCalls};
use super::reply::{Reply, ReplyWriter};
use super::running::RunningRequest;
use super::service::{McpService, ServerIdentity};
use super::session_store::SessionStore;
use super::stateless::StatelessRequest;
use crate::jsonrpc::RpcError;

/// How many streams may be open at the same time, in all.
const MAX_OPEN_STREAMS: usize = 20_000;

/// Serves an [`McpService`]. Clones serve the same sessions.
pub struct McpServer<S: McpService> {
    pub(super) engine: Arc<Engine<S>>,
}

/// What differs from one endpoint to the next.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The names a browser may know this server by: those of `Host` and `Origin`, without ports. A page of
    /// another name is refused (DNS rebinding). None: whoever listens checks it.
    pub allowed_hosts: Option<Vec<String>>,
}

pub(super) struct Engine<S: McpService> {
    pub(super) service: S,
    pub(super) options: ServerOptions,
    pub(super) writer: ReplyWriter,
    pub(super) sessions: SessionStore<S::Caller>,
    pub(super) sse: SseConnections<S>,
    parked: ParkedCalls<S::Caller>,
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

/// One of the streams that may be open.
pub(super) struct StreamPermit<S: McpService>(Arc<Engine<S>>);

impl<S: McpService> McpServer<S> {
    pub fn new(service: S, identity: &ServerIdentity, options: ServerOptions) -> Self {
        let engine = Engine {
            service,
            options,
            writer: ReplyWriter::new(identity),
            sessions: SessionStore::new(),
            sse: SseConnections::default(),
            parked: ParkedCalls::default(),
            open_streams: AtomicUsize::new(0),
        };
        Self {
            engine: Arc::new(engine),
        }
    }

    pub fn service(&self) -> &S {
        &self.engine.service
    }
}

impl<S: McpService> Engine<S> {
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
                self.service.subscribe_resource(caller, uri).await?;
                if !state.subscribe(uri) {
                    return Err(RpcError::invalid_params("Too many subscriptions."));
                }
            }
            "resources/unsubscribe" if capabilities.resource_subscriptions => {
                state.unsubscribe(uri()?);
            }
            _ => {
                let operation = Operation::read(request, capabilities)?;
                let operation = operation.ok_or_else(|| method_not_found(&request.method))?;
                let token = params.meta.progress_token.map(RawValue::to_owned);
                let exchange = Exchange::new(
                    Arc::clone(&state.client),
                    token,
                    capabilities.logging.then(|| state.log_level()),
                    Map::new(),
                );
                return Ok(Begin::Run(self.run(caller.clone(), operation, exchange)));
            }
        }
        let json = self.writer.empty(request.id, &state.client);
        Ok(Begin::Reply(Reply::success(json)))
    }

    /// A request that stands alone.
    pub(super) fn begin_stateless(
        self: &Arc<Self>,
        caller: &S::Caller,
        client: ClientProfile,
        request: &ClientRequest<'_>,
    ) -> Result<Begin<StatelessRequest<S>>, RpcError> {
        let params = &request.params;
        let capabilities = self.service.capabilities(caller);
        match &*request.method {
            "server/discover" => {
                let instructions = self.service.instructions(caller);
                let members = self
                    .writer
                    .discover_members(capabilities, instructions.as_deref());
                let json = self.writer.result(request.id, &client, &members);
                return Ok(Begin::Reply(Reply::success(json)));
            }
            "subscriptions/listen" => {
                let filter = params.notifications.clone();
                let filter = filter
                    .ok_or_else(|| RpcError::invalid_params("`notifications` is missing."))?;
                return Ok(Begin::Listen(filter.accepted(capabilities)));
            }
            _ => {}
        }
        let operation = Operation::read(request, capabilities)?;
        let operation = operation.ok_or_else(|| method_not_found(&request.method))?;
        let target = operation.target();
        let token = params.meta.progress_token.map(RawValue::to_owned);
        let answers = match params.input_responses.map(parse_value).transpose()? {
            Some(Value::Object(answers)) => answers,
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                return Err(RpcError::invalid_params(
                    "`inputResponses` must be an object.",
                ));
            }
        };
        let id = request.id.to_owned();
        if let Some(state) = params.request_state.as_deref() {
            let call = self.parked.take(state, caller, &target);
            let mut call = call.ok_or_else(|| {
                RpcError::invalid_params(
                    "`requestState` is unknown or has expired. Send the request without it.",
                )
            })?;
            call.answer(answers);
            call.running.exchange.set_progress_token(token);
            return Ok(Begin::Run(StatelessRequest::resume(self, id, call)));
        }
        let takes_input = operation.takes_input();
        let log_level = params.meta.log_level.filter(|_| capabilities.logging);
        let exchange = Exchange::new(Arc::new(client), token, log_level, answers);
        let running = self.run(caller.clone(), operation, exchange);
        let target = takes_input.then_some(target);
        let request = StatelessRequest::new(self, caller.clone(), id, target, running);
        Ok(Begin::Run(request))
    }

    fn run(
        self: &Arc<Self>,
        caller: S::Caller,
        operation: Operation,
        exchange: Exchange,
    ) -> RunningRequest {
        let exchange = Arc::new(exchange);
        let context = RequestContext::new(caller, Arc::clone(&exchange));
        let engine = Arc::clone(self);
        let future = async move { operation.run(&engine.service, &context).await };
        RunningRequest::new(exchange, Box::pin(future))
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

impl<S: McpService> Clone for McpServer<S> {
    fn clone(&self) -> Self {
        Self {
            engine: Arc::clone(&self.engine),
        }
    }
}

impl<S: McpService> fmt::Debug for McpServer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").finish_non_exhaustive()
    }
}
