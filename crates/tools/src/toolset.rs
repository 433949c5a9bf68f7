//! What one user may call in one turn, and the one road a call takes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use tenon_domain::{
    Access, CallStatus, ErrorKind, Policy, ToolCall, ToolError, ToolId, ToolResult, ToolSpec,
    tool_id,
};

use crate::cap::Cap;
use crate::registry::{Catalog, Tool};
use crate::shelf::{READ_RESULT, SEARCH_RESULT, Shelf};
use crate::{Asker, CallContext};

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
        let Some(tool) = self.get(&call.tool_id) else {
            tracing::info!(id = %call.tool_id, call = %call.id, "call of an unknown tool");
            return Err(self.unknown(&call.tool_id));
        };
        let started = Instant::now();
        let name = tool.spec.display_name.as_str();
        tracing::info!(tool = name, id = %tool.spec.id, call = %call.id, "tool call started");
        let result = self.dispatch(tool, call, context).await;
        let (status, took) = (CallStatus::of(&result), started.elapsed());
        match &result {
            Ok(_) => tracing::info!(tool = name, call = %call.id, ?took, "tool call {status}"),
            Err(error) => {
                tracing::info!(tool = name, call = %call.id, ?took, kind = ?error.kind, "tool call {status}");
            }
        }
        result
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
        let source = &tool.source;
        let deadline = source
            .deadline(&tool.spec.name)
            .unwrap_or(self.limits.deadline);
        let work = async {
            tool.schema().check(&call.input)?;
            self.permit(tool, context)?;
            let result = source
                .call(&tool.spec.name, call.input.clone(), context)
                .await;
            self.cap(result, context).await
        };
        // A tool that panics must not take the turn with it.
        let work = AssertUnwindSafe(work).catch_unwind();
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(ToolError::cancelled()),
            answer = tokio::time::timeout(deadline, work) => match answer {
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

    async fn cap(&self, result: ToolResult, context: &CallContext) -> ToolResult {
        let has = |id: &str| self.get(&ToolId::new(id)).is_some();
        let cap = Cap {
            shelf: &*self.shelf,
            limits: self.limits,
            context,
            can_read_on: has(READ_RESULT) && has(SEARCH_RESULT),
        };
        cap.apply(result).await
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
        // Models remember a tool by its own name as often as by its id.
        let likeness = |tool: &ToolSpec| {
            let to = |name: &str| strsim::jaro_winkler(name, id.as_str());
            to(tool.id.as_str()).max(to(&tool.name))
        };
        let nearest = tools
            .iter()
            .max_by(|a, b| likeness(&a.spec).total_cmp(&likeness(&b.spec)));
        let asked: String = id.as_str().chars().take(tool_id::MAX_LENGTH).collect();
        let advice = match nearest {
            Some(tool) => format!("The nearest is `{}`.", tool.spec.id),
            None => "No tools are available now; answer without them.".into(),
        };
        ToolError::new(
            ErrorKind::UnknownTool,
            format!("There is no tool `{asked}`. {advice}"),
        )
    }
}

impl std::fmt::Debug for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolset")
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
