//! A request of the stateless era: messages on the way, and one response.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::client_profile::ClientProfile;
use super::engine::{Begin, Engine, method_not_found};
use super::exchange::{InputRequest, RequestExchange, ServerMessage};
use super::message::{ClientRequest, parse_value};
use super::operation::ServiceOperation;
use super::parked::ParkedCall;
use super::reply::Reply;
use super::request_span;
use super::running::{RunningRequest, Step};
use super::service::McpService;
use crate::jsonrpc::RpcError;

pub(super) struct StatelessRequest<S: McpService> {
    engine: Arc<Engine<S>>,
    caller: S::Caller,
    id: Box<RawValue>,
    /// What it asks for; none where the client cannot be asked for input.
    target: Option<String>,
    /// Gone once the response is there.
    running: Option<RunningRequest>,
    /// Questions that the client left unanswered when it repeated the request.
    unanswered: Vec<InputRequest>,
}

#[derive(Debug)]
pub(super) enum StatelessStep {
    Notification(String),
    Response(Reply),
    Cancelled,
}

impl<S: McpService> StatelessRequest<S> {
    /// A request that stands alone.
    pub(super) fn begin(
        engine: &Arc<Engine<S>>,
        caller: &S::Caller,
        client: ClientProfile,
        request: &ClientRequest<'_>,
    ) -> Result<Begin<Self>, RpcError> {
        let params = &request.params;
        let capabilities = engine.service.capabilities(caller);
        match &*request.method {
            "server/discover" => {
                let instructions = engine.service.instructions(caller);
                let members = engine
                    .writer
                    .discover_members(capabilities, instructions.as_deref());
                let json = engine.writer.result(request.id, &client, &members);
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
        let operation = ServiceOperation::read(request, capabilities)?;
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
            let call = engine.parked.take(state, caller, &target);
            let mut call = call.ok_or_else(|| {
                RpcError::invalid_params(
                    "`requestState` is unknown or has expired. Send the request without it.",
                )
            })?;
            call.answer(answers);
            call.running.exchange.set_progress_token(token);
            return Ok(Begin::Run(Self::resume(engine, id, call)));
        }
        let takes_input = operation.takes_input();
        let log_level = params.meta.log_level.filter(|_| capabilities.logging);
        let exchange = RequestExchange::new(Arc::new(client), token, log_level, answers);
        let span = request_span::open(request);
        let running = engine.run(caller.clone(), operation, exchange, span);
        let target = takes_input.then_some(target);
        let request = Self::new(engine, caller.clone(), id, target, running);
        Ok(Begin::Run(request))
    }

    fn new(
        engine: &Arc<Engine<S>>,
        caller: S::Caller,
        id: Box<RawValue>,
        target: Option<String>,
        running: RunningRequest,
    ) -> Self {
        Self {
            engine: Arc::clone(engine),
            caller,
            id,
            target,
            running: Some(running),
            unanswered: Vec::new(),
        }
    }

    fn resume(engine: &Arc<Engine<S>>, id: Box<RawValue>, call: ParkedCall<S::Caller>) -> Self {
        let request = Self::new(engine, call.caller, id, Some(call.target), call.running);
        Self {
            unanswered: call.inputs,
            ..request
        }
    }

    pub(super) fn cancellation(&self) -> CancellationToken {
        let running = self.running.as_ref();
        running.map_or_else(CancellationToken::new, |running| {
            running.exchange.cancellation.clone()
        })
    }

    /// After a response there is no next step. Nothing is lost when the wait is given up.
    pub(super) async fn next(&mut self) -> StatelessStep {
        if !self.unanswered.is_empty() {
            let inputs = std::mem::take(&mut self.unanswered);
            return StatelessStep::Response(self.park(inputs));
        }
        loop {
            let Some(running) = &mut self.running else {
                return StatelessStep::Cancelled;
            };
            match running.step().await {
                Step::Message(ServerMessage::Notification(message)) => {
                    return StatelessStep::Notification(message);
                }
                Step::Message(ServerMessage::Request(input)) if self.target.is_some() => {
                    let inputs = running.gather_inputs(input);
                    return StatelessStep::Response(self.park(inputs));
                }
                // A client that cannot be asked: the question fails.
                Step::Message(ServerMessage::Request(_) | ServerMessage::CloseStream) => {}
                Step::Cancelled => return StatelessStep::Cancelled,
                Step::Done(outcome) => {
                    let client = Arc::clone(&running.exchange.client);
                    self.running = None;
                    let reply = self.engine.writer.response(&self.id, &client, outcome);
                    return StatelessStep::Response(reply);
                }
            }
        }
    }

    fn park(&mut self, inputs: Vec<InputRequest>) -> Reply {
        let (Some(running), Some(target)) = (self.running.take(), self.target.clone()) else {
            let error = RpcError::invalid_params("Nothing waits for an answer.");
            return Reply::error(Some(&self.id), error);
        };
        let call = ParkedCall {
            caller: self.caller.clone(),
            target,
            running,
            inputs,
        };
        self.engine.park(&self.id, call)
    }
}

impl<S: McpService> std::fmt::Debug for StatelessRequest<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StatelessRequest").finish_non_exhaustive()
    }
}
