//! How a model step went, attempt by attempt, and how it is put on record.

use std::time::Instant;

use tenon_domain::{ErrorDetail, MessageId, StopReason, TurnId, Usage, UserId};
use tenon_llm::{AttemptContent, ModelAttempt};
use tenon_store::{ExchangeMaker, ModelCall, ModelExchange, Store, now};

use crate::request::TurnModel;

/// A model step that is over.
#[derive(Debug)]
pub(crate) struct StepTrace {
    pub started: Instant,
    /// Of the last attempt: after it nothing is asked again.
    pub first_token: Option<Instant>,
    pub usage: Usage,
    pub stop: Option<StopReason>,
    /// Why it was cut off, where it was and nobody stopped it.
    pub error: Option<ErrorDetail>,
    /// None where no server was asked.
    pub attempts: Vec<ModelAttempt>,
}

/// For whom a model was asked, and which.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelCaller<'a> {
    pub user: &'a UserId,
    pub turn: Option<&'a TurnId>,
    pub message: Option<&'a MessageId>,
    pub model: &'a TurnModel,
    pub keeps_requests: bool,
}

impl StepTrace {
    /// Writes it behind. What was sent is masked when it is written.
    pub(crate) fn store(self, store: &Store, caller: ModelCaller<'_>) {
        let (end, ended_at) = (Instant::now(), now());
        let at = |instant: Instant| ended_at - millis(instant, end) as i64;
        let prices = caller.model.prices.as_ref();
        // What came of the step is that of its last attempt.
        let call = |number: usize, attempt: Option<&ModelAttempt>, is_last: bool| {
            let started = attempt.map_or(self.started, |attempt| attempt.started);
            let ended = attempt.and_then(|attempt| attempt.ended).unwrap_or(end);
            let usage = if is_last {
                self.usage
            } else {
                Usage::default()
            };
            let own_error = attempt.and_then(|attempt| attempt.error.clone());
            // Noted when it is read, which on a busy machine may be after the end of the attempt,
            // so it is capped.
            let first_token = self.first_token.filter(|_| is_last);
            let first_token = first_token.map(|first| first.min(ended));
            ModelCall {
                user: caller.user.clone(),
                turn: caller.turn.cloned(),
                message: caller.message.cloned(),
                model: caller.model.shown.clone(),
                attempt: number as u64,
                started_at: at(started),
                first_token_ms: first_token.map(|first| millis(started, first)),
                duration_ms: millis(started, ended),
                wait_ms: attempt.and_then(|attempt| Some(attempt.wait?.as_millis() as u64)),
                usage,
                cost: prices
                    .filter(|_| usage != Usage::default())
                    .map(|prices| prices.cost(&usage)),
                stop: self.stop.filter(|_| is_last),
                error: own_error.or_else(|| self.error.clone().filter(|_| is_last)),
                status: attempt.and_then(|attempt| attempt.status),
            }
        };
        if self.attempts.is_empty() {
            return store.model_call_behind(call(1, None, true), None);
        }
        let count = self.attempts.len();
        for (number, attempt) in (1..).zip(&self.attempts) {
            let content = caller.keeps_requests.then(|| exchange(&attempt.content));
            let call = call(number, Some(attempt), number == count);
            store.model_call_behind(call, content);
        }
    }
}

fn exchange(content: &AttemptContent) -> ExchangeMaker {
    let content = content.clone();
    Box::new(move || {
        let masked = content.mask();
        ModelExchange {
            url: masked.url,
            request: masked.request,
            response: masked.response,
        }
    })
}

fn millis(from: Instant, to: Instant) -> u64 {
    to.saturating_duration_since(from).as_millis() as u64
}
