//! Events in, a trace out.

use std::collections::HashMap;

use tenon_domain::text::shorten_to_bytes;
use tenon_domain::{
    CallId, CallRecord, CallStatus, Event, EventBody, FormId, MessageId, Part, Role, TurnId, Usage,
};
use tenon_store::{StoredModelCall, TurnEvents};

use super::{FormWait, ModelCallTrace, ToolCallTrace, TurnTrace};

/// How much is shown of an input, an output, or what a model said.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// A message of the model: when it was begun and finished, and what it says.
struct ModelMessage {
    id: MessageId,
    started_at: i64,
    finished_at: Option<i64>,
    parts: Vec<Part>,
}

pub(super) struct TraceBuilder {
    trace: TurnTrace,
    messages: Vec<ModelMessage>,
    /// Where the calls are, and the forms in them.
    places: HashMap<CallId, usize>,
    forms: HashMap<FormId, (CallId, usize)>,
    model_calls: Vec<StoredModelCall>,
}

impl TraceBuilder {
    pub(super) fn new(of: TurnEvents, model_calls: Vec<StoredModelCall>) -> Self {
        let mut builder = Self {
            trace: TurnTrace {
                turn_id: of.turn,
                chat_id: of.chat,
                model: of.model,
                door: of.door,
                started_at: of.started_at,
                ended_at: of.ended_at,
                now: None,
                outcome: None,
                usage: Usage::default(),
                cost: None,
                model_calls: Vec::new(),
                tool_calls: Vec::new(),
                is_whole: of.is_whole,
            },
            messages: Vec::new(),
            places: HashMap::new(),
            forms: HashMap::new(),
            model_calls,
        };
        for event in of.events {
            builder.apply(event);
        }
        builder
    }

    pub(super) fn build(mut self, now: i64) -> TurnTrace {
        let is_over = self.trace.ended_at.is_some();
        let messages = std::mem::take(&mut self.messages);
        let mut usage = Usage::default();
        for message in messages {
            let of_message =
                |stored: &StoredModelCall| stored.call.message.as_ref() == Some(&message.id);
            let (stored, others) = std::mem::take(&mut self.model_calls)
                .into_iter()
                .partition::<Vec<_>, _>(of_message);
            self.model_calls = others;
            if stored.is_empty() {
                let call = message.unrecorded(is_over);
                self.trace.model_calls.push(call);
                continue;
            }
            let last = stored.len() - 1;
            for (index, stored) in stored.into_iter().enumerate() {
                usage += stored.call.usage;
                let mut call = recorded(stored, &message.id);
                if index == last {
                    (call.output, call.calls) = message.said();
                }
                self.trace.model_calls.push(call);
            }
        }
        if self.trace.outcome.is_none() {
            // So far.
            self.trace.usage = usage;
        }
        self.trace.now = (!is_over).then_some(now);
        self.trace
    }

    fn apply(&mut self, event: Event) {
        let at = event.at;
        match event.body {
            EventBody::MessageStarted { message } => {
                if self.is_own(&message.turn_id) && message.role == Role::Assistant {
                    self.messages.push(ModelMessage {
                        id: message.id,
                        started_at: at,
                        finished_at: None,
                        parts: message.parts,
                    });
                }
            }
            EventBody::MessageFinished { message_id, parts } => {
                let mut messages = self.messages.iter_mut();
                if let Some(message) = messages.find(|message| message.id == message_id) {
                    message.finished_at = Some(at);
                    message.parts = parts;
                }
            }
            EventBody::CallRequested { call } => {
                self.places
                    .insert(call.id.clone(), self.trace.tool_calls.len());
                self.trace.tool_calls.push(requested(call, at));
            }
            EventBody::CallAsked { call_id } => self.call(&call_id, |call| {
                call.asked_at = Some(at);
            }),
            EventBody::CallAnswered { call_id, verdict } => self.call(&call_id, |call| {
                call.answered_at = Some(at);
                call.verdict = Some(verdict);
            }),
            EventBody::CallStarted { call_id } => self.call(&call_id, |call| {
                call.started_at = Some(at);
                call.status = CallStatus::Running;
            }),
            EventBody::FormShown { call_id, form } => {
                let mut number = 0;
                self.call(&call_id, |call| {
                    number = call.forms.len();
                    call.forms.push(FormWait {
                        shown_at: at,
                        answered_at: None,
                        outcome: None,
                    });
                });
                self.forms.insert(form.id, (call_id, number));
            }
            EventBody::FormAnswered {
                form_id, outcome, ..
            } => {
                if let Some((call_id, number)) = self.forms.remove(&form_id) {
                    self.call(&call_id, |call| {
                        if let Some(form) = call.forms.get_mut(number) {
                            form.answered_at = Some(at);
                            form.outcome = Some(outcome);
                        }
                    });
                }
            }
            EventBody::CallFinished {
                call_id,
                status,
                output,
                error,
                duration_ms,
            } => self.call(&call_id, |call| {
                call.status = status;
                call.ended_at = Some(at);
                call.duration_ms = Some(duration_ms);
                let text = output.map(|output| output.to_text());
                call.output_bytes = text.as_ref().map(|text| text.len() as u64);
                call.output = text.map(|text| beginning(&text));
                call.error = error;
            }),
            EventBody::TurnFinished {
                turn_id,
                outcome,
                usage,
                cost,
            } => {
                if self.is_own(&turn_id) {
                    self.trace.outcome = Some(outcome);
                    self.trace.usage = usage;
                    self.trace.cost = cost;
                }
            }
            EventBody::ChatTitled { .. }
            | EventBody::TurnStarted { .. }
            | EventBody::BranchChosen { .. }
            | EventBody::ToolsLeftOut { .. } => {}
        }
    }

    fn is_own(&self, turn: &TurnId) -> bool {
        self.trace.turn_id == *turn
    }

    fn call(&mut self, id: &CallId, change: impl FnOnce(&mut ToolCallTrace)) {
        let place = self.places.get(id);
        if let Some(call) = place.and_then(|place| self.trace.tool_calls.get_mut(*place)) {
            change(call);
        }
    }
}

impl ModelMessage {
    fn said(&self) -> (String, Vec<tenon_domain::ToolId>) {
        let calls = self.parts.iter().filter_map(Part::as_call);
        let calls = calls.map(|call| call.tool_id.clone()).collect();
        (beginning(&Part::words(&self.parts)), calls)
    }

    /// Of a call that runs, or that is not on record: what its message tells.
    fn unrecorded(&self, is_over: bool) -> ModelCallTrace {
        let (output, calls) = self.said();
        let ended_at = self.finished_at.or(is_over.then_some(self.started_at));
        ModelCallTrace {
            id: None,
            message_id: self.id.clone(),
            attempt: 1,
            started_at: self.started_at,
            first_token_ms: None,
            duration_ms: ended_at.map(|end| (end - self.started_at).max(0).unsigned_abs()),
            wait_ms: None,
            usage: Usage::default(),
            cost: None,
            stop: None,
            error: None,
            status: None,
            has_request: false,
            output,
            calls,
        }
    }
}

fn recorded(stored: StoredModelCall, message: &MessageId) -> ModelCallTrace {
    let call = stored.call;
    ModelCallTrace {
        id: Some(stored.id),
        message_id: message.clone(),
        attempt: call.attempt,
        started_at: call.started_at,
        first_token_ms: call.first_token_ms,
        duration_ms: Some(call.duration_ms),
        wait_ms: call.wait_ms,
        usage: call.usage,
        cost: call.cost,
        stop: call.stop,
        error: call.error,
        status: call.status,
        has_request: stored.has_request,
        output: String::new(),
        calls: Vec::new(),
    }
}

fn requested(call: CallRecord, at: i64) -> ToolCallTrace {
    ToolCallTrace {
        call_id: call.id,
        message_id: call.message_id,
        tool_id: call.tool_id,
        display_name: call.display_name,
        runs_on: call.runs_on,
        device: None,
        status: call.status,
        requested_at: at,
        asked_at: None,
        answered_at: None,
        verdict: None,
        started_at: None,
        ended_at: None,
        duration_ms: None,
        forms: Vec::new(),
        input: beginning(&call.input.to_string()),
        output: None,
        output_bytes: None,
        error: None,
    }
}

fn beginning(text: &str) -> String {
    shorten_to_bytes(text, MAX_TEXT_BYTES).into_owned()
}
