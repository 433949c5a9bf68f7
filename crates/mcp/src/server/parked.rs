//! Requests of the stateless era that wait for what only their client knows.
//!
//! The client gets the questions and an opaque `requestState`. Until it repeats the request with both,
//! the call behind stays as it is, and nobody else can continue it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::exchange::InputRequest;
use super::random_id;
use super::running::RunningRequest;

/// People take their time to answer a form.
pub(super) const PARKING_TIME: Duration = Duration::from_secs(600);

const MAX_PARKED: usize = 1000;

#[derive(Debug)]
pub(super) struct ParkedCalls<C> {
    calls: Mutex<HashMap<String, ParkedCall<C>>>,
}

#[derive(Debug)]
pub(super) struct ParkedCall<C> {
    pub(super) caller: C,
    /// The operation of the first request; a repeated request must have the same.
    pub(super) target: String,
    pub(super) running: RunningRequest,
    pub(super) inputs: Vec<InputRequest>,
}

impl<C> Default for ParkedCalls<C> {
    fn default() -> Self {
        Self {
            calls: Mutex::default(),
        }
    }
}

impl<C: PartialEq> ParkedCalls<C> {
    /// The state to repeat the request with; the call back if too many wait already.
    pub(super) fn insert(&self, call: ParkedCall<C>) -> Result<String, Box<ParkedCall<C>>> {
        let mut calls = self.calls();
        if calls.len() >= MAX_PARKED {
            return Err(Box::new(call));
        }
        let state = random_id();
        calls.insert(state.clone(), call);
        Ok(state)
    }

    /// Takes a parked call. Its state is valid once, for the same caller and operation only.
    pub(super) fn take(&self, state: &str, caller: &C, target: &str) -> Option<ParkedCall<C>> {
        let mut calls = self.calls();
        let call = calls.get(state)?;
        if call.caller != *caller || call.target != target {
            return None;
        }
        calls.remove(state)
    }

    pub(super) fn expire(&self, state: &str) {
        let expired = self.calls().remove(state);
        // Dropped without the lock, because it cancels running work.
        drop(expired);
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, ParkedCall<C>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> ParkedCall<C> {
    /// Passes on the client's answers. Missing ones are asked for again.
    pub(super) fn answer(&mut self, mut answers: Map<String, Value>) {
        let inputs = std::mem::take(&mut self.inputs);
        for input in inputs {
            match answers.remove(&input.key) {
                // An error only means that the asking task has given up.
                Some(answer) => drop(input.answer.send(Ok(answer))),
                None => self.inputs.push(input),
            }
        }
    }
}
