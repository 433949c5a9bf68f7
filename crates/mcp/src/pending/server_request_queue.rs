//! What a server asks in the course of one call, until it is answered.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use super::ServerRequest;

/// More requests than these, in one call and at once, nobody would answer.
const MAX_SERVER_REQUESTS: usize = 8;

/// Every call has one and hardly any call uses it, so an empty one is small: a bounded channel
/// would take some kilobytes. One task receives.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerRequestQueue(Arc<Mutex<QueueState>>);

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<ServerRequest>,
    receiver: Option<Waker>,
}

impl ServerRequestQueue {
    /// False: there are too many already.
    pub(crate) fn push(&self, request: ServerRequest) -> bool {
        let receiver = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if state.waiting.len() >= MAX_SERVER_REQUESTS {
                return false;
            }
            state.waiting.push_back(request);
            state.receiver.take()
        };
        if let Some(receiver) = receiver {
            receiver.wake();
        }
        true
    }

    /// The next one. Cancel safe.
    pub(crate) async fn next(&self) -> ServerRequest {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(request) = state.waiting.pop_front() {
                return Poll::Ready(request);
            }
            match &mut state.receiver {
                Some(receiver) => receiver.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}
