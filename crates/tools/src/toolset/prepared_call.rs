//! A call that was looked up and validated, and either may run or needs approval first.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use tenon_domain::{CallStatus, ToolCall, ToolError, ToolResult};
use tracing::Instrument;

use crate::CallContext;
use crate::call_error::CallError;
use crate::call_span;
use crate::call_timer::CallTimeout;
use crate::catalog::Tool;
use crate::toolset::Toolset;

/// The result of [`Toolset::prepare`].
#[derive(Debug)]
pub enum PreparedCall<'a> {
    Ready(ReadyCall<'a>),
    /// It needs the approval of a person.
    Ask(UnapprovedCall<'a>),
}

/// A call that may run.
#[derive(Debug)]
pub struct ReadyCall<'a> {
    pub(crate) toolset: &'a Toolset,
    pub(crate) tool: &'a Arc<Tool>,
    pub(crate) call: &'a ToolCall,
}

/// A call that may run once a person has approved it.
#[derive(Debug)]
pub struct UnapprovedCall<'a> {
    pub(crate) ready: ReadyCall<'a>,
    pub(crate) reason: ApprovalReason,
}

/// Why a call needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApprovalReason {
    /// The policy of the tool is to ask.
    Policy,
    /// It would go to an address that the conversation does not know.
    NewAddress,
}

impl<'a> UnapprovedCall<'a> {
    /// A person has allowed it.
    pub fn approved(self) -> ReadyCall<'a> {
        self.ready
    }

    /// The error where nobody can approve it.
    pub fn refuse(&self) -> ToolError {
        let error = self.ready.toolset.unapproved(self.ready.tool, self.reason);
        self.ready.tool.counters.refused(error.kind);
        error
    }
}

impl ReadyCall<'_> {
    /// The second half of the path: timeout → source → cap.
    pub async fn run(self, context: &CallContext) -> ToolResult {
        let started = Instant::now();
        let (name, call) = (LogName(self.tool), &self.call.id);
        tracing::debug!(tool = %name, id = %self.tool.spec.id, %call, "tool call started");
        let span = call_span::open(self.tool, self.call);
        let result = self.dispatch(context).instrument(span.clone()).await;
        call_span::finish(&span, &result);
        let (status, took) = (CallStatus::of(&result), started.elapsed());
        self.tool.counters.ran(&result, took);
        match &result {
            Ok(_) => tracing::debug!(tool = %name, %call, ?took, "tool call {status}"),
            Err(error) => {
                tracing::info!(tool = %name, %call, ?took, kind = ?error.kind, "tool call {status}");
            }
        }
        result
    }

    async fn dispatch(&self, context: &CallContext) -> ToolResult {
        let spec = &self.tool.spec;
        let (idle, total) = self.toolset.timeouts_of(self.tool);
        let work = async {
            let input = self.call.input.clone();
            let result = self.tool.source.call(&spec.name, input, context).await;
            self.toolset.cap(result, context).await
        };
        // A tool that panics must not take the turn with it.
        let work = AssertUnwindSafe(work).catch_unwind();
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(ToolError::cancelled()),
            answer = work => answer.unwrap_or_else(|_panic| Err(self.tool.crashed())),
            timeout = context.timer.expired(idle, total) => {
                let name = spec.display_name.as_str().into();
                let seconds = |limit: Duration| limit.as_secs_f32().to_string().into();
                Err(ToolError::from(match timeout {
                    CallTimeout::Idle => CallError::IdleTimeout { name, seconds: seconds(idle) },
                    CallTimeout::Total => CallError::TotalTimeout { name, seconds: seconds(total) },
                }))
            }
        }
    }
}

/// The title of the source and the tool's native name: what somebody who reads a log looks for.
struct LogName<'a>(&'a Tool);

impl fmt::Display for LogName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.source.info().title, self.0.spec.name)
    }
}
