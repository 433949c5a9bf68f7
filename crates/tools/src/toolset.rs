//! The tools of one user in one turn, and the one path of a call: look up → validate →
//! policy → timeout → source → cap. Between policy and timeout a person may be asked for
//! approval, which may take hours.

mod callable_stamp;
mod known_addresses;
mod offer;
mod policy;
mod prepared_call;
mod search;
mod search_tools;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use tenon_domain::text;
use tenon_domain::{
    ErrorKind, Policy, SourceInfo, SourceState, ToolAccess, ToolCall, ToolError, ToolId,
    ToolResult, ToolSpec, tool_id,
};
use tokio_util::sync::CancellationToken;

use crate::addresses::KnownAddresses;
use crate::call_error::CallError;
use crate::call_metrics::CallCounters;
use crate::cap::Cap;
use crate::catalog::{Catalog, Tool};
use crate::output_store::{OUTPUT_READERS, OutputStore};
use crate::tool_embeddings::ToolEmbeddings;
use crate::validate::ValidationContext;
use crate::{CallContext, CallLimits, RequestTools, ToolSource};
pub use callable_stamp::CallableStamp;
pub use offer::{OfferLimits, OfferSize, ToolOffer};
use policy::Decision;
pub use prepared_call::{PreparedCall, ReadyCall, UnapprovedCall};
use search_tools::SearchTools;
pub(crate) use search_tools::search_source_info;
pub use search_tools::{TOOL_CALL, TOOL_DESCRIBE, TOOL_SEARCH};

/// One validation takes some seconds at most; the rest is queueing.
const VALIDATION_TIMEOUT: Duration = Duration::from_secs(30);

/// An immutable snapshot of the registry, as one user sees it.
#[derive(Clone)]
pub struct Toolset {
    catalog: Arc<Catalog>,
    request_tools: RequestTools,
    access: ToolAccess,
    outputs: Arc<dyn OutputStore>,
    limits: CallLimits,
    /// Addresses known to the conversation; see [`Toolset::with_known_addresses`].
    known: Arc<KnownAddresses>,
    /// See [`Toolset::with_search`].
    search: Option<SearchTools>,
    search_counters: Arc<CallCounters>,
    embeddings: Option<Arc<ToolEmbeddings>>,
}

impl Toolset {
    pub(crate) fn new(
        catalog: Arc<Catalog>,
        access: ToolAccess,
        outputs: Arc<dyn OutputStore>,
        (search_counters, embeddings): (Arc<CallCounters>, Option<Arc<ToolEmbeddings>>),
        limits: CallLimits,
    ) -> Self {
        Self {
            catalog,
            request_tools: RequestTools::default(),
            access,
            outputs,
            limits,
            known: Arc::default(),
            search: None,
            search_counters,
            embeddings,
        }
    }

    /// Adds the tools of one request.
    pub fn with_request_tools(self, request_tools: &RequestTools) -> Self {
        Self {
            request_tools: request_tools.clone(),
            ..self
        }
    }

    fn with_known(self, known: KnownAddresses) -> Self {
        let known = Arc::new(known);
        Self { known, ..self }
    }

    /// Runs a call without asking for approval: a call that would need it is refused.
    pub async fn call(&self, call: &ToolCall, context: &CallContext) -> ToolResult {
        match self.prepare(call, &context.cancel).await? {
            PreparedCall::Ready(ready) => ready.run(context).await,
            PreparedCall::Ask(question) => Err(question.refuse()),
        }
    }

    /// The first half of the path: look up → validate → policy. No approval is asked for an
    /// input that does not fit, or a tool that cannot be reached. Validation ends with the idle
    /// timeout of the call or with `cancel`.
    pub async fn prepare<'a>(
        &'a self,
        call: &'a ToolCall,
        cancel: &CancellationToken,
    ) -> Result<PreparedCall<'a>, ToolError> {
        let prepared = self.check(call, cancel).await;
        if let Err(error) = &prepared {
            tracing::info!(id = %call.tool_id, call = %call.id, kind = ?error.kind, "tool call refused");
            if let Some(tool) = self.get(&call.tool_id) {
                tool.counters.refused(error.kind);
            }
        }
        prepared
    }

    /// A tool of this user that is switched on.
    pub fn get(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        let tool = self.find(id)?;
        self.sees(tool).then_some(tool)
    }

    /// The same, whether it is switched on or not.
    pub fn find(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        let known = || self.catalog.get(&self.access.user, id.as_str());
        let search = || self.search.as_ref()?.get(id);
        self.request_tools.get(id).or_else(known).or_else(search)
    }

    /// Whether it is there for this caller as far as an expert goes; other reasons against a call
    /// are told.
    pub fn shows(&self, tool: &Tool) -> bool {
        let search = self.search.as_ref();
        search.is_some_and(|search| search.has(tool))
            || self.access.allows(tool.source.info(), &tool.spec.id)
    }

    fn sees(&self, tool: &Tool) -> bool {
        self.includes(tool) && self.is_enabled(tool)
    }

    fn includes(&self, tool: &Tool) -> bool {
        let source = tool.source.info();
        let search = self.search.as_ref();
        self.request_tools.has(tool)
            || search.is_some_and(|search| search.has(tool))
            || self.access.includes(source, &tool.spec.id)
    }

    /// All of them, by id, so that a model is told the same list every time.
    pub fn tools(&self) -> Vec<&Arc<Tool>> {
        let mut tools = self.listed();
        tools.retain(|tool| self.sees(tool));
        tools
    }

    /// The same with those that are switched off, for people to switch on again.
    pub fn listed(&self) -> Vec<&Arc<Tool>> {
        let known = self.catalog.all(&self.access.user);
        let known = known.filter(|tool| self.request_tools.get(&tool.spec.id).is_none());
        let mut tools: Vec<_> = known.chain(self.request_tools.tools()).collect();
        tools.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
        tools
    }

    /// The sources that this user sees, by id, with their tools in their own order, switched on or
    /// not.
    pub fn sources(&self) -> impl Iterator<Item = (&SourceInfo, &[Arc<Tool>])> {
        let connected = self.catalog.connected.values();
        let connected = connected.map(|connected| (connected.source.info(), &**connected.tools));
        let user = &self.access.user;
        connected.filter(move |(info, _)| info.owner.as_ref().is_none_or(|owner| owner == user))
    }

    pub fn access(&self) -> &ToolAccess {
        &self.access
    }

    /// The tools a model may call: all except denied and unreachable ones.
    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        let tools = self.callable().into_iter();
        tools.map(|tool| tool.spec.clone()).collect()
    }

    fn callable(&self) -> Vec<&Arc<Tool>> {
        let mut tools = self.tools();
        tools.retain(|tool| {
            tool.source.state().can_be_called() && self.policy(tool) != Policy::Deny
        });
        tools
    }

    /// The tools this caller can call without asking: not denied, reachable, and without need of an
    /// approval.
    pub fn callable_now(&self) -> Vec<&Arc<Tool>> {
        let mut tools = self.tools();
        tools.retain(|tool| tool.source.can_be_called() && self.runs_unasked(tool));
        tools
    }

    /// The sources with resources or prompts. Where all tools of one are switched off or denied, so
    /// is the rest of it.
    pub fn context_sources(&self) -> Vec<&Arc<dyn ToolSource>> {
        let user = &self.access.user;
        let is_usable = |tool: &Arc<Tool>| self.sees(tool) && self.policy(tool) != Policy::Deny;
        let connected = self.catalog.connected.values().filter(|connected| {
            let owner = connected.source.info().owner.as_ref();
            let (tools, source) = (&connected.tools, &connected.source);
            owner.is_none_or(|owner| owner == user)
                && source.context().is_some()
                && (tools.is_empty() || tools.iter().any(is_usable))
        });
        connected.map(|connected| &connected.source).collect()
    }

    async fn check<'a>(
        &'a self,
        call: &'a ToolCall,
        cancel: &CancellationToken,
    ) -> Result<PreparedCall<'a>, ToolError> {
        let tool = self.look_up(&call.tool_id)?;
        reachable(tool)?;
        self.validate(tool, &call.input, cancel).await?;
        let ready = ReadyCall {
            toolset: self,
            tool,
            call,
        };
        match self.decide(tool, &call.input) {
            Decision::Run => Ok(PreparedCall::Ready(ready)),
            Decision::Ask(reason) => Ok(PreparedCall::Ask(UnapprovedCall { ready, reason })),
            Decision::Refuse(error) => Err(error),
        }
    }

    async fn validate(
        &self,
        tool: &Tool,
        input: &Value,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let user = &self.access.user;
        let behalf = ValidationContext { user, cancel };
        let checked = async { tool.schema(behalf).await?.check(input, behalf).await };
        // A schema that no checker has met before must not take the turn with it.
        let checked = AssertUnwindSafe(checked).catch_unwind();
        let (idle, _) = self.timeouts_of(tool);
        match tokio::time::timeout(idle.min(VALIDATION_TIMEOUT), checked).await {
            Ok(checked) => checked.unwrap_or_else(|_panic| Err(tool.crashed())),
            Err(_late) => Err(CallError::TooManyChecks.into()),
        }
    }

    /// The idle and the total timeout of a call.
    pub(crate) fn timeouts_of(&self, tool: &Tool) -> (Duration, Duration) {
        let idle = tool.source.deadline(&tool.spec.name);
        let idle = idle.unwrap_or(self.limits.idle_timeout);
        let total = self.limits.total_timeout;
        (idle.min(total), total)
    }

    pub(crate) async fn cap(&self, result: ToolResult, context: &CallContext) -> ToolResult {
        let has = |id: &str| self.get(&ToolId::new(id)).is_some();
        let readers = || {
            let mut known = OUTPUT_READERS.into_iter();
            known.find(|readers| has(readers.read) && has(readers.search))
        };
        let cap = Cap {
            outputs: &*self.outputs,
            limits: self.limits,
            context,
            readers: &readers,
        };
        cap.apply(result).await
    }

    fn unknown(&self, id: &ToolId) -> ToolError {
        let specs = self.specs();
        // Models remember a tool by its own name as often as by its id.
        let likeness = |tool: &ToolSpec| {
            let to = |name: &str| strsim::jaro_winkler(name, id.as_str());
            to(tool.id.as_str()).max(to(&tool.name))
        };
        let nearest = specs
            .iter()
            .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let id = text::shorten(id.as_str(), tool_id::MAX_ID_BYTES);
        let id = id.as_ref().into();
        ToolError::from(match nearest {
            Some(spec) => CallError::UnknownTool {
                id,
                nearest: spec.id.as_str().into(),
            },
            None => CallError::NoTools { id },
        })
    }
}

/// A person may have switched its source off, or something is wrong with it:
/// then nobody has to wait to find out.
fn reachable(tool: &Tool) -> Result<(), ToolError> {
    if tool.source.can_be_called() {
        return Ok(());
    }
    if let Some(why) = tool.source.unavailable() {
        return Err(ToolError::coded(ErrorKind::Unavailable, why));
    }
    let name = tool.spec.display_name.as_str().into();
    Err(ToolError::from(match tool.source.state() {
        SourceState::Failed { mut why } => {
            // The sentence goes on after it.
            why.message
                .truncate(why.message.trim_end_matches('.').len());
            let why = why.into();
            CallError::SourceFailed { name, why }
        }
        SourceState::Offline => CallError::SourceOffline { name },
        SourceState::Off
        | SourceState::Starting
        | SourceState::Ready
        | SourceState::Degraded { .. }
        | SourceState::Sleeping => CallError::SourceOff { name },
    }))
}

impl std::fmt::Debug for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolset")
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
