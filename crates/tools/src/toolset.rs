//! What one user may call in one turn, and the one road a call takes: look up
//! → validate → policy → deadline → source → cap. Between policy and deadline
//! a person may be asked, which may take hours.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use tenon_domain::{
    Access, ErrorKind, Policy, SourceState, ToolCall, ToolError, ToolId, ToolResult, ToolSpec,
    tool_id,
};
use tokio_util::sync::CancellationToken;

use crate::addresses::KnownAddresses;
use crate::cap::Cap;
use crate::prepared::{Prepared, Question, Ready, Reason};
use crate::registry::{Catalog, Tool};
use crate::shelf::{READ_RESULT, SEARCH_RESULT, Shelf};
use crate::validate::OnBehalf;
use crate::{Asker, CallContext, Guests};

/// A check takes some seconds at most; the rest is waiting for others.
const VALIDATION_DEADLINE: Duration = Duration::from_secs(30);

/// An immutable snapshot of the registry, as one user sees it.
#[derive(Clone)]
pub struct Toolset {
    catalog: Arc<Catalog>,
    guests: Guests,
    access: Access,
    shelf: Arc<dyn Shelf>,
    limits: Limits,
    /// What the conversation knows; see [`Toolset::knowing`].
    known: Arc<KnownAddresses>,
}

/// What a call may cost, whatever the tool.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For tools whose source says nothing else.
    pub deadline: Duration,
    /// However many signs of life it gives, a call ends after this.
    pub longest: Duration,
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
            longest: Duration::from_secs(60 * 60),
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
            guests: Guests::default(),
            access,
            shelf,
            limits,
            known: Arc::default(),
        }
    }

    /// The same, with what somebody brought along.
    pub fn with(self, guests: &Guests) -> Self {
        Self {
            guests: guests.clone(),
            ..self
        }
    }

    pub(crate) fn with_known(self, known: KnownAddresses) -> Self {
        let known = Arc::new(known);
        Self { known, ..self }
    }

    /// The road for everybody who cannot ask a person on the way: what would
    /// have to be asked about is refused.
    pub async fn call(&self, call: &ToolCall, context: &CallContext) -> ToolResult {
        let prepared = self.prepare(call, context.asker, &context.cancel).await?;
        match prepared {
            Prepared::Ready(ready) => ready.run(context).await,
            Prepared::Ask(question) => Err(question.nobody_to_ask("")),
        }
    }

    /// The first half of the road: look up → validate → policy. Nobody is asked
    /// about an input that does not fit, or a tool that cannot be reached.
    ///
    /// Few inputs take long to validate; those are validated within the time of the call, and no
    /// longer than until `cancel`.
    pub async fn prepare<'a>(
        &'a self,
        call: &'a ToolCall,
        asker: Asker,
        cancel: &CancellationToken,
    ) -> Result<Prepared<'a>, ToolError> {
        let prepared = self.check(call, asker, cancel).await;
        if let Err(error) = &prepared {
            tracing::info!(id = %call.tool_id, call = %call.id, kind = ?error.kind, "tool call refused");
        }
        prepared
    }

    /// A tool this user may call now.
    pub fn get(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        let tool = self.find(id)?;
        self.sees(tool).then_some(tool)
    }

    /// The same, whether it is switched on or not.
    pub(crate) fn find(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        let known = || self.catalog.get(&self.access.user, id.as_str());
        self.guests.get(id).or_else(known)
    }

    fn sees(&self, tool: &Tool) -> bool {
        let spec = &tool.spec;
        match self.guests.has(tool) {
            true => self.access.enabled(&spec.id, spec.annotations),
            false => self
                .access
                .sees(tool.source.info(), &spec.id, spec.annotations),
        }
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
        let known = known.filter(|tool| self.guests.get(&tool.spec.id).is_none());
        let mut tools: Vec<_> = known.chain(self.guests.tools()).collect();
        tools.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
        tools
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// What a model is offered: all but what it would be denied and what cannot be reached.
    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.tools()
            .into_iter()
            .filter(|tool| tool.source.state().can_be_called())
            .filter(|tool| self.policy(tool) != Policy::Deny)
            .map(|tool| tool.spec.clone())
            .collect()
    }

    pub fn policy(&self, tool: &Tool) -> Policy {
        let spec = &tool.spec;
        let policy = self
            .access
            .policy(tool.source.info(), &spec.id, spec.annotations);
        match policy {
            Policy::Ask if self.guests.has(tool) => Policy::Allow,
            other => other,
        }
    }

    /// The policy of one call: by default it depends on where the call would go, too.
    fn policy_of(&self, tool: &Tool, input: &Value) -> (Policy, Reason) {
        match (self.policy(tool), self.default_address(tool, input)) {
            (Policy::Allow, Some(address)) if !self.known.contains(&address) => {
                (Policy::by_default_to_new_address(), Reason::NewAddress)
            }
            (policy, _) => (policy, Reason::Policy),
        }
    }

    async fn check<'a>(
        &'a self,
        call: &'a ToolCall,
        asker: Asker,
        cancel: &CancellationToken,
    ) -> Result<Prepared<'a>, ToolError> {
        let tool = self
            .get(&call.tool_id)
            .ok_or_else(|| self.unknown(&call.tool_id))?;
        reachable(tool)?;
        self.validate(tool, &call.input, cancel).await?;
        let ready = Ready {
            toolset: self,
            tool,
            call,
        };
        let (policy, reason) = self.policy_of(tool, &call.input);
        match (asker, policy) {
            (Asker::Person, _) | (Asker::Model, Policy::Allow) => Ok(Prepared::Ready(ready)),
            (Asker::Model, Policy::Ask) => Ok(Prepared::Ask(Question { ready, reason })),
            (Asker::Model, Policy::Deny) => Err(ToolError::denied(format!(
                "{} is switched off by policy. Do without it.",
                tool.spec.display_name
            ))),
        }
    }

    async fn validate(
        &self,
        tool: &Tool,
        input: &Value,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let user = &self.access.user;
        let behalf = OnBehalf { user, cancel };
        let checked = async { tool.schema(behalf).await?.check(input, behalf).await };
        // A schema that no checker has met before must not take the turn with it.
        let checked = AssertUnwindSafe(checked).catch_unwind();
        let (deadline, _) = self.time_for(tool);
        match tokio::time::timeout(deadline.min(VALIDATION_DEADLINE), checked).await {
            Ok(checked) => checked.unwrap_or_else(|_panic| Err(tool.crashed())),
            Err(_late) => Err(ToolError::new(
                ErrorKind::TimedOut,
                "Too many inputs are being checked at once. Try again in a moment, with a smaller input.",
            )),
        }
    }

    /// How long a call may go without a sign of life, and how long it may take in all.
    pub(crate) fn time_for(&self, tool: &Tool) -> (Duration, Duration) {
        let silence = tool.source.deadline(&tool.spec.name);
        let silence = silence.unwrap_or(self.limits.deadline);
        let longest = self.limits.longest;
        (silence.min(longest), longest)
    }

    pub(crate) async fn cap(&self, result: ToolResult, context: &CallContext) -> ToolResult {
        let has = |id: &str| self.get(&ToolId::new(id)).is_some();
        let cap = Cap {
            shelf: &*self.shelf,
            limits: self.limits,
            context,
            can_read_on: has(READ_RESULT) && has(SEARCH_RESULT),
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
        let asked: String = id.as_str().chars().take(tool_id::MAX_LENGTH).collect();
        let advice = match nearest {
            Some(spec) => format!("The nearest is `{}`.", spec.id),
            None => "No tools are available now; answer without them.".into(),
        };
        ToolError::new(
            ErrorKind::UnknownTool,
            format!("There is no tool `{asked}`. {advice}"),
        )
    }
}

/// A person may have switched its source off, or something is wrong with it:
/// then nobody has to wait to find out.
fn reachable(tool: &Tool) -> Result<(), ToolError> {
    if tool.source.can_be_called() {
        return Ok(());
    }
    let state = tool.source.state();
    let message = tool.source.unavailable().unwrap_or_else(|| {
        let name = &tool.spec.display_name;
        let why = match state {
            SourceState::Failed { why } => {
                format!("cannot be used now: {}", why.trim_end_matches('.'))
            }
            SourceState::Offline => "cannot be reached: whoever runs it is away".into(),
            SourceState::Off
            | SourceState::Starting
            | SourceState::Ready
            | SourceState::Degraded { .. }
            | SourceState::Sleeping => "is switched off".into(),
        };
        format!("{name} {why}. Do without it.")
    });
    Err(ToolError::new(ErrorKind::Unavailable, message))
}

impl std::fmt::Debug for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolset")
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
