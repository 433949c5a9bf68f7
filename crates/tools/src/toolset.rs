//! What one user may call in one turn, and the one road a call takes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use tenon_domain::{
    Access, CallStatus, ErrorKind, Policy, ToolCall, ToolError, ToolId, ToolResult, ToolSpec,
};

use crate::cap::cap;
use crate::registry::{Catalog, Tool};
use crate::{Asker, CallContext, Shelf};

/// An immutable snapshot of the registry, as one user sees it.
#[derive(Clone)]
pub struct Toolset {
    catalog: Arc<Catalog>,
    access: Access,
    shelf: Arc<dyn Shelf>,
    limits: Limits,
}

/// What a call may cost, whatever the tool.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For tools whose source says nothing else.
    pub deadline: Duration,
    /// How much text of one output is shown. About 4,000 tokens: a page of
    /// results fits, a context is not flooded.
    pub shown_bytes: usize,
    /// How large a picture may be and still go to the model whole.
    pub image_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(120),
            shown_bytes: 16 * 1024,
            image_bytes: 5 * 1024 * 1024,
        }
    }
}

impl Toolset {
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        access: Access,
        shelf: Arc<dyn Shelf>,
        limits: Limits,
    ) -> Self {
        Self {
            catalog,
            access,
            shelf,
            limits,
        }
    }

    /// The road: look up → validate → policy → deadline → source → cap.
    pub async fn call(&self, call: &ToolCall, context: &CallContext) -> ToolResult {
        let started = Instant::now();
        let result = match self.get(&call.tool_id) {
            None => {
                tracing::info!(id = %call.tool_id, "tool call to an unknown tool");
                Err(self.unknown(&call.tool_id))
            }
            Some(tool) => {
                let result = self.dispatch(tool, call, context).await;
                log(tool, &result, started.elapsed());
                result
            }
        };
        cap(result, &context.user, &*self.shelf, self.limits).await
    }

    /// A tool this user may call now.
    pub fn get(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        let tool = self.catalog.get(&self.access.user, id.as_str())?;
        self.access.sees(tool.source.info(), id).then_some(tool)
    }

    /// All of them, by id, so that a model is told the same list every time.
    pub fn tools(&self) -> Vec<&Arc<Tool>> {
        let all = self.catalog.all(&self.access.user);
        let mut tools: Vec<_> = all
            .filter(|tool| self.access.sees(tool.source.info(), &tool.spec.id))
            .collect();
        tools.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
        tools
    }

    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.tools()
            .into_iter()
            .map(|tool| tool.spec.clone())
            .collect()
    }

    pub fn policy(&self, id: &ToolId) -> Policy {
        self.access.policy(id)
    }

    async fn dispatch(&self, tool: &Tool, call: &ToolCall, context: &CallContext) -> ToolResult {
        tool.schema().check(&call.input)?;
        self.permit(tool, context)?;

        let deadline = tool
            .source
            .deadline(&tool.spec.name)
            .unwrap_or(self.limits.deadline);
        // A tool that panics must not take the turn with it.
        let work = AssertUnwindSafe(
            tool.source
                .call(&tool.spec.name, call.input.clone(), context),
        );
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(ToolError::cancelled()),
            answer = tokio::time::timeout(deadline, work.catch_unwind()) => match answer {
                Ok(Ok(result)) => result,
                Ok(Err(_panic)) => Err(ToolError::failed(format!(
                    "{} crashed on this input. Try other arguments or another tool.",
                    tool.spec.display_name
                ))),
                Err(_elapsed) => Err(ToolError::new(ErrorKind::TimedOut, format!(
                    "{} did not answer within {} s and was stopped.",
                    tool.spec.display_name,
                    deadline.as_secs_f32()
                ))),
            },
        }
    }

    fn permit(&self, tool: &Tool, context: &CallContext) -> Result<(), ToolError> {
        let name = &tool.spec.display_name;
        match (context.asker, self.access.policy(&tool.spec.id)) {
            (Asker::Person, _) | (Asker::Model, Policy::Allow) => Ok(()),
            (Asker::Model, Policy::Deny) => Err(ToolError::denied(format!(
                "{name} is switched off by policy. Do without it."
            ))),
            (Asker::Model, Policy::Ask) => Err(ToolError::denied(format!(
                "{name} needs a person's approval, and nobody can be asked here."
            ))),
        }
    }

    fn unknown(&self, id: &ToolId) -> ToolError {
        let tools = self.tools();
        let nearest = tools
            .iter()
            .map(|tool| {
                (
                    strsim::jaro_winkler(tool.spec.id.as_str(), id.as_str()),
                    tool,
                )
            })
            .max_by(|(a, _), (b, _)| a.total_cmp(b));
        let asked: String = id
            .as_str()
            .chars()
            .take(tenon_domain::tool_id::MAX_LENGTH)
            .collect();
        let advice = match nearest {
            Some((likeness, tool)) if likeness > 0.75 => {
                format!("The nearest is `{}`.", tool.spec.id)
            }
            Some(_) => "Use one of the tools that are listed.".into(),
            None => "No tools are available now; answer without them.".into(),
        };
        ToolError::new(
            ErrorKind::UnknownTool,
            format!("There is no tool `{asked}`. {advice}"),
        )
    }
}

/// One line per call, with the name a person knows it by.
fn log(tool: &Tool, result: &ToolResult, took: Duration) {
    let (name, id) = (&tool.spec.display_name, &tool.spec.id);
    match result {
        Ok(_) => tracing::info!(tool = name, %id, ?took, "tool call done"),
        Err(error) => {
            let status = CallStatus::of(result);
            tracing::info!(tool = name, %id, ?took, kind = ?error.kind, "tool call {status}");
        }
    }
}

impl std::fmt::Debug for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolset")
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
