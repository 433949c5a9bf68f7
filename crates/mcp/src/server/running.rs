//! A request while it runs, one step at a time.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::exchange::{InputRequest, RequestExchange, ServerMessage};
use super::operation::ResultMembers;
use crate::jsonrpc::RpcError;

pub(super) type Outcome = Result<ResultMembers, RpcError>;

/// Runs while somebody waits for its next step. Dropped, it is cancelled.
pub(super) struct RunningRequest {
    pub(super) exchange: Arc<RequestExchange>,
    future: BoxFuture<'static, Outcome>,
    outcome: Option<Outcome>,
}

#[derive(Debug)]
pub(super) enum Step {
    Message(ServerMessage),
    Done(Outcome),
    Cancelled,
}

impl RunningRequest {
    pub(super) fn new(exchange: Arc<RequestExchange>, future: BoxFuture<'static, Outcome>) -> Self {
        Self {
            exchange,
            future,
            outcome: None,
        }
    }

    /// What comes next: every message that was sent before the result comes before it. Nothing is
    /// lost when the wait is given up.
    pub(super) async fn step(&mut self) -> Step {
        loop {
            if let Some(message) = self.exchange.take_message() {
                return Step::Message(message);
            }
            if let Some(outcome) = self.outcome.take() {
                return Step::Done(outcome);
            }
            tokio::select! {
                biased;
                () = self.exchange.cancellation.cancelled() => return Step::Cancelled,
                outcome = &mut self.future => self.outcome = Some(outcome),
                () = self.exchange.queued() => {}
            }
        }
    }

    /// The questions that are already there beside the first one.
    pub(super) fn gather_inputs(&self, first: InputRequest) -> Vec<InputRequest> {
        let others = self.exchange.take_requests();
        std::iter::once(first).chain(others).collect()
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.exchange.cancellation.cancel();
    }
}

impl fmt::Debug for RunningRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningRequest").finish_non_exhaustive()
    }
}
