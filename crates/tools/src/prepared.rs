//! A call halfway down the road: it fits its tool, and may be made or has to
//! be asked about first.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;
use tenon_domain::{CallStatus, ErrorKind, ToolCall, ToolError, ToolResult};

use crate::attendant::TimeUp;
use crate::registry::Tool;
use crate::{CallContext, Toolset};

/// What [`Toolset::prepare`] found.
#[derive(Debug)]
pub enum Prepared<'a> {
    Ready(Ready<'a>),
    /// A person has to be asked before it is made.
    Ask(Question<'a>),
}

/// A call that may be made.
#[derive(Debug)]
pub struct Ready<'a> {
    pub(crate) toolset: &'a Toolset,
    pub(crate) tool: &'a Arc<Tool>,
    pub(crate) call: &'a ToolCall,
}

/// A call that may be made once a person has allowed it.
#[derive(Debug)]
pub struct Question<'a> {
    pub(crate) ready: Ready<'a>,
    pub(crate) reason: Reason,
}

/// Why a person has to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The tool is one that is asked about.
    Policy,
    /// It would go to an address that the conversation does not know.
    NewAddress,
}

impl<'a> Question<'a> {
    /// A person has allowed it.
    pub fn approved(self) -> Ready<'a> {
        self.ready
    }

    /// The refusal where there is no person; `advice` is a sentence on what would allow it.
    pub fn nobody_to_ask(&self, advice: &str) -> ToolError {
        let name = &self.ready.tool.spec.display_name;
        let refusal = match self.reason {
            Reason::Policy => {
                format!("{name} needs a person's approval, and nobody can be asked here. {advice}")
            }
            Reason::NewAddress => format!(
                "{name} needs a person's approval for an address that the user did not write and \
                 no result showed, and nobody can be asked here. Ask the user to write the \
                 address. {advice}"
            ),
        };
        ToolError::denied(refusal.trim_end())
    }
}

impl Ready<'_> {
    /// The second half of the road: deadline → source → cap.
    pub async fn run(self, context: &CallContext) -> ToolResult {
        let started = Instant::now();
        let (name, call) = (self.tool.spec.display_name.as_str(), &self.call.id);
        tracing::info!(tool = name, id = %self.tool.spec.id, %call, "tool call started");
        let result = self.dispatch(context).await;
        let (status, took) = (CallStatus::of(&result), started.elapsed());
        match &result {
            Ok(_) => tracing::info!(tool = name, %call, ?took, "tool call {status}"),
            Err(error) => {
                tracing::info!(tool = name, %call, ?took, kind = ?error.kind, "tool call {status}");
            }
        }
        result
    }

    async fn dispatch(&self, context: &CallContext) -> ToolResult {
        let spec = &self.tool.spec;
        let (deadline, longest) = self.toolset.time_for(self.tool);
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
            up = context.pulse.time_up(deadline, longest) => {
                let name = &spec.display_name;
                let message = match up {
                    TimeUp::Silent => format!(
                        "{name} did not answer within {} s and was stopped.",
                        deadline.as_secs_f32()
                    ),
                    TimeUp::TooLong => format!(
                        "{name} was not done after {} s and was stopped.",
                        longest.as_secs_f32()
                    ),
                };
                Err(ToolError::new(ErrorKind::TimedOut, message))
            }
        }
    }
}
