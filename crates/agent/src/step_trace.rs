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
        let blank = |number: usize, started: Instant, ended: Instant| ModelCall {
            user: caller.user.clone(),
            turn: caller.turn.cloned(),
            message: caller.message.cloned(),
            model: caller.model.shown.clone(),
            attempt: number as u64,
            started_at: at(started),
            first_token_ms: None,
            duration_ms: millis(started, ended),
            wait_ms: None,
            usage: Usage::default(),
            cost: None,
            stop: None,
            error: None,
            status: None,
        };
        let with_answer = |call: ModelCall, started: Instant| ModelCall {
            first_token_ms: self.first_token.map(|first| millis(started, first)),
            usage: self.usage,
            cost: prices
                .filter(|_| self.usage != Usage::default())
                .map(|prices| prices.cost(&self.usage)),
            stop: self.stop,
            error: call.error.or_else(|| self.error.clone()),
            ..call
        };
        if self.attempts.is_empty() {
            let call = with_answer(blank(1, self.started, end), self.started);
            return store.model_call_behind(call, None);
        }
        let count = self.attempts.len();
        for (index, attempt) in self.attempts.iter().enumerate() {
            let started = attempt.started;
            let call = ModelCall {
                wait_ms: attempt.wait.map(|wait| wait.as_millis() as u64),
                error: attempt.error.clone(),
                status: attempt.status,
                ..blank(index + 1, started, attempt.ended.unwrap_or(end))
            };
            let call = if index + 1 == count {
                with_answer(call, started)
            } else {
                call
            };
            let content = caller.keeps_requests.then(|| exchange(&attempt.content));
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
