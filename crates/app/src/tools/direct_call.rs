//! Records a call made outside a chat: an audit entry, and a trace with input and output that only
//! the caller can read.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::text::shorten_to_bytes;
use tenon_domain::{
    CallStatus, FormAnswer, FormRequest, MessageId, RunsOn, ToolCall, ToolError, ToolResult,
};
use tenon_store::{DirectCall, now};
use tenon_tools::{CallClient, ProgressUpdate, RemoteReply, Tool};

use super::{ToolCaller, UserTools};
use crate::lock::lock;
use crate::traces::{FormWait, ToolCallTrace};

/// Of an input, an output or an error.
const MAX_TEXT_BYTES: usize = 4 * 1024;

/// A server may ask as often as it likes, where nobody answers.
const MAX_FORMS: usize = 64;

/// Puts a call on record when it is dropped, also where that cancels the call.
pub(super) struct DirectCallRecorder<'a> {
    tools: &'a UserTools,
    caller: ToolCaller<'a>,
    call: &'a ToolCall,
    tool: &'a Tool,
    forms: Arc<FormObserver>,
    is_traced: bool,
    started: Instant,
    started_at: i64,
    /// None: dropped before it was over, it was cancelled.
    result: Option<CallSummary>,
}

struct CallSummary {
    status: CallStatus,
    output: Option<String>,
    output_bytes: Option<u64>,
    error: Option<ToolError>,
}

/// The client of a call, with the first forms that it was shown.
#[derive(Debug)]
pub(super) struct FormObserver {
    client: Arc<dyn CallClient>,
    forms: Mutex<Vec<FormWait>>,
}

impl<'a> DirectCallRecorder<'a> {
    pub(super) fn begin(
        tools: &'a UserTools,
        caller: ToolCaller<'a>,
        call: &'a ToolCall,
        tool: &'a Tool,
        forms: Arc<FormObserver>,
    ) -> Self {
        Self {
            tools,
            caller,
            call,
            tool,
            forms,
            is_traced: tools.call_traces.allows_one(&caller.user.id),
            started: Instant::now(),
            started_at: now(),
            result: None,
        }
    }

    pub(super) fn end(mut self, result: &ToolResult) {
        self.result = Some(self.summary(result));
    }

    fn summary(&self, result: &ToolResult) -> CallSummary {
        let text = match result {
            Ok(output) if self.is_traced => Some(output.to_text()),
            Ok(_) | Err(_) => None,
        };
        CallSummary {
            status: CallStatus::of(result),
            output_bytes: text.as_ref().map(|text| text.len() as u64),
            output: text.as_deref().map(beginning),
            error: result.as_ref().err().map(bounded),
        }
    }
}

impl Drop for DirectCallRecorder<'_> {
    fn drop(&mut self) {
        let result = self.result.take();
        let cancelled = || self.summary(&Err(ToolError::cancelled()));
        let result = result.unwrap_or_else(cancelled);
        let duration_ms = self.started.elapsed().as_millis() as u64;
        let spec = &self.tool.spec;
        let user = &self.caller.user.id;
        let device = match spec.runs_on {
            RunsOn::Browser => {
                let source = &self.tool.source.info().id;
                let status = self.tools.devices.status(user, source);
                status.map(|status| status.device.name)
            }
            RunsOn::Server => None,
        };
        let store = &self.tools.store;
        store.audit_call_behind(&DirectCall {
            user,
            entry: &self.caller.user.entry_point(),
            interface: self.caller.interface,
            client: self.caller.client,
            address: self.caller.address,
            id: &self.call.id,
            tool: &self.call.tool_id,
            display_name: &spec.display_name,
            runs_on: spec.runs_on,
            device: device.as_deref(),
            status: result.status,
            error: result.error.as_ref().map(ToolError::error_type),
            duration_ms,
        });
        if !self.is_traced {
            return;
        }
        let trace = ToolCallTrace {
            call_id: self.call.id.clone(),
            // Empty, because the call belongs to no chat.
            message_id: MessageId::new(""),
            tool_id: self.call.tool_id.clone(),
            display_name: spec.display_name.clone(),
            runs_on: spec.runs_on,
            device,
            status: result.status,
            requested_at: self.started_at,
            asked_at: None,
            answered_at: None,
            verdict: None,
            started_at: Some(self.started_at),
            ended_at: Some(self.started_at + duration_ms as i64),
            duration_ms: Some(duration_ms),
            forms: self.forms.waits(),
            input: beginning(&self.call.input.to_string()),
            output: result.output,
            output_bytes: result.output_bytes,
            error: result.error,
        };
        self.tools.call_traces.record(user, &trace);
    }
}

impl FormObserver {
    pub(super) fn new(client: Arc<dyn CallClient>) -> Arc<Self> {
        let forms = Mutex::default();
        Arc::new(Self { client, forms })
    }

    fn waits(&self) -> Vec<FormWait> {
        lock(&self.forms).clone()
    }
}

#[async_trait]
impl CallClient for FormObserver {
    fn progress(&self, progress: ProgressUpdate) {
        self.client.progress(progress);
    }

    fn keep_alive(&self) {
        self.client.keep_alive();
    }

    async fn ask(&self, message: String, wants: FormRequest) -> FormAnswer {
        let number = {
            let mut forms = lock(&self.forms);
            if forms.len() < MAX_FORMS {
                forms.push(FormWait {
                    shown_at: now(),
                    answered_at: None,
                    outcome: None,
                });
                Some(forms.len() - 1)
            } else {
                None
            }
        };
        let answer = self.client.ask(message, wants).await;
        let mut forms = lock(&self.forms);
        if let Some(form) = number.and_then(|number| forms.get_mut(number)) {
            form.answered_at = Some(now());
            form.outcome = Some(answer.outcome());
        }
        answer
    }

    async fn sample(&self, params: Value) -> Option<Value> {
        self.client.sample(params).await
    }

    fn headers(&self) -> &[(String, String)] {
        self.client.headers()
    }

    fn remote_reply(&self, reply: RemoteReply<'_>) {
        self.client.remote_reply(reply);
    }
}

fn beginning(text: &str) -> String {
    shorten_to_bytes(text, MAX_TEXT_BYTES).into_owned()
}

/// A message has its parameters in it: where they are long, so is it.
fn bounded(error: &ToolError) -> ToolError {
    if error.message.len() > MAX_TEXT_BYTES {
        return ToolError::new(error.kind, beginning(&error.message));
    }
    ToolError {
        reply: None,
        ..error.clone()
    }
}
