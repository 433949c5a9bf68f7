//! A request of the stateless era: messages on the way, and one response.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use super::exchange::{InputRequest, ServerMessage};
use super::parked::ParkedCall;
use super::reply::Reply;
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
    /// What the client left out when it repeated the request.
    unanswered: Vec<InputRequest>,
}

#[derive(Debug)]
pub(super) enum StatelessStep {
    Notification(String),
    Response(Reply),
    Cancelled,
}

impl<S: McpService> StatelessRequest<S> {
    pub(super) fn new(
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

    pub(super) fn resume(
        engine: &Arc<Engine<S>>,
        id: Box<RawValue>,
        call: ParkedCall<S::Caller>,
    ) -> Self {
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
                // Where nobody can be asked, the question fails.
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
