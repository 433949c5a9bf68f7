//! The tools a person can see, how they are set for them, and calls they make themself.

mod call_traces;
mod direct_call;
mod list_filter;
mod view;

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tenon_agent::Agent;
use tenon_domain::{
    CallId, CallInterface, ChatId, SourceId, SourceKind, ToolAccess, ToolCall, ToolId, ToolResult,
    UserId,
};
use tenon_llm::tool_tokens;
use tenon_sources::browser::DeviceHub;
use tenon_store::{Store, fresh_id};
use tenon_tools::{
    CallClient, CallContext, CallOrigin, CallTimer, NoClient, Registry, Tool, Toolset,
};
use tokio_util::sync::CancellationToken;

use crate::auth::CurrentUser;
use crate::experts::{Expert, Experts};
use crate::outputs::manual_workspace;
use crate::traces::{self, ToolCallTrace};

pub(crate) use call_traces::CallTraces;
use direct_call::{DirectCallRecorder, FormObserver};

pub use list_filter::{ToolListFilter, ToolListPage};
pub use view::{CallToolAnswer, LocalView, SourcePolicy, SourceSwitch, SourceView, ToolView};

/// Most calls are over before anybody could revoke the credential they were made with, or stop the
/// server.
const WATCH_AFTER: Duration = Duration::from_millis(100);

/// Cheap to clone.
#[derive(Clone)]
pub struct UserTools {
    pub(crate) store: Store,
    pub(crate) registry: Arc<Registry>,
    pub(crate) agent: Agent,
    pub(crate) devices: DeviceHub,
    pub(crate) experts: Experts,
    pub(crate) call_traces: Arc<CallTraces>,
    /// Fires when calls should end, because the server does.
    pub(crate) closing: CancellationToken,
}

/// The caller of a tool outside chats: a person, or a program with their key.
#[derive(Debug, Clone, Copy)]
pub struct ToolCaller<'a> {
    pub user: &'a CurrentUser,
    /// Where the request came from, for the audit log.
    pub address: &'a str,
    pub interface: CallInterface,
    /// What an MCP client calls itself.
    pub client: Option<&'a str>,
    /// Whose tools alone count.
    pub expert: Option<&'a Expert>,
    /// Whether it finds, describes and calls tools with the three that do so.
    pub searches: bool,
}

impl<'a> ToolCaller<'a> {
    /// Over the API that is there for their credential, with all of their tools.
    pub fn new(user: &'a CurrentUser, address: &'a str) -> Self {
        Self {
            user,
            address,
            interface: (&user.entry_point()).into(),
            client: None,
            expert: None,
            searches: false,
        }
    }
}

impl UserTools {
    /// The trace of a call of this user, in one of their chats or outside of any.
    pub async fn call_trace(
        &self,
        user: &UserId,
        call: &CallId,
    ) -> tenon_store::Result<ToolCallTrace> {
        match self.call_traces.find(user, call).await? {
            Some(trace) => Ok(trace),
            None => traces::call_in_chat(&self.store, user, call).await,
        }
    }

    /// A call that somebody makes by hand, or a program with their key. None: there is no such
    /// tool.
    pub async fn call(
        &self,
        caller: ToolCaller<'_>,
        tool_id: ToolId,
        input: Value,
        cancel: CancellationToken,
    ) -> tenon_store::Result<Option<CallToolAnswer>> {
        let started = Instant::now();
        // There is nowhere to show a form to them: a tool that asks is declined.
        let client = Arc::new(NoClient);
        let mut call = ToolCall {
            id: CallId(fresh_id()),
            tool_id,
            input,
        };
        let called = self.call_for(client, caller, &mut call, cancel);
        let Some(result) = called.await? else {
            return Ok(None);
        };
        let duration_ms = started.elapsed().as_millis() as u64;
        Ok(Some(match result {
            Ok(output) => CallToolAnswer {
                ok: true,
                structured: output.structured().cloned(),
                content: output.content,
                error: None,
                duration_ms,
            },
            Err(error) => CallToolAnswer {
                ok: false,
                structured: None,
                content: Vec::new(),
                error: Some(error),
                duration_ms,
            },
        }))
    }

    /// The same for a client that hears of progress and can be asked. To drop it cancels the call.
    /// Where the caller searches, `call` becomes that of the tool which it names.
    pub async fn call_for(
        &self,
        client: Arc<dyn CallClient>,
        caller: ToolCaller<'_>,
        call: &mut ToolCall,
        cancel: CancellationToken,
    ) -> tenon_store::Result<Option<ToolResult>> {
        let user = caller.user;
        let access = match caller.expert {
            Some(expert) => Box::pin(self.expert_access(user, expert)).await?,
            None => self.access(user, None).await?,
        };
        let toolset = self.registry.toolset(access);
        let toolset = if caller.searches {
            toolset.with_search()
        } else {
            toolset
        };
        toolset.resolve(call);
        let call = &*call;
        let tool = toolset.find(&call.tool_id);
        let Some(tool) = tool.filter(|tool| toolset.shows(tool)) else {
            return Ok(None);
        };
        let client = FormObserver::new(client);
        let context = CallContext {
            call_id: call.id.clone(),
            origin: CallOrigin {
                tool_id: Some(call.tool_id.clone()),
                ..CallOrigin::default()
            },
            user: user.id.clone(),
            workspace: Some(self.workspace(&user.id)),
            cancel,
            client: client.clone(),
            timer: CallTimer::default(),
        };
        let recorder = DirectCallRecorder::begin(self, caller, call, tool, client);
        let cancel_in_time = async {
            tokio::time::sleep(WATCH_AFTER).await;
            tokio::select! {
                // Boxed: most calls are over before it begins.
                () = Box::pin(user.revoked(&self.store)) => {}
                () = self.closing.cancelled() => {}
            }
            context.cancel.cancel();
            pending::<Infallible>().await
        };
        let result = tokio::select! {
            biased;
            result = toolset.call(call, &context) => result,
            never = cancel_in_time => match never {},
        };
        recorder.end(&result);
        Ok(Some(result))
    }

    /// All that a user can see, as it is set for them, in a chat where one is named.
    pub async fn access(
        &self,
        user: &CurrentUser,
        chat: Option<&ChatId>,
    ) -> tenon_store::Result<ToolAccess> {
        let settings = self.store.tool_settings(&user.id, None, chat).await?;
        let access = ToolAccess::all(&user.id, user.caller()).with_settings(settings);
        match chat {
            None => Ok(access),
            // Boxed: calls outside any chat would carry it in their futures.
            Some(chat) => Box::pin(self.narrowed_to_chat(access, user, chat)).await,
        }
    }

    async fn narrowed_to_chat(
        &self,
        access: ToolAccess,
        user: &CurrentUser,
        chat: &ChatId,
    ) -> tenon_store::Result<ToolAccess> {
        let chat = self.store.chat(&user.id, chat).await?;
        // A deleted expert limits no tools here; the next message reports that it is gone.
        let expert = self.experts.of_chat(&user.id, chat.expert.as_ref()).await;
        let expert = expert.ok().flatten();
        Ok(access.filtered(expert.and_then(|expert| expert.for_turn().tools)))
    }

    /// The same for an expert, outside any chat.
    pub async fn expert_access(
        &self,
        user: &CurrentUser,
        expert: &Expert,
    ) -> tenon_store::Result<ToolAccess> {
        let settings = self.store.tool_settings(&user.id, Some(&expert.id), None);
        let access = ToolAccess::all(&user.id, user.caller()).with_settings(settings.await?);
        Ok(access.filtered(expert.for_turn().tools))
    }

    /// The folder of calls that a person makes outside any chat.
    pub fn workspace(&self, user: &UserId) -> PathBuf {
        self.agent.workspace(&manual_workspace(user))
    }

    /// All tools of a toolset, as people see them.
    pub fn views(&self, toolset: &Toolset) -> Vec<ToolView> {
        self.page(toolset, &ToolListFilter::ALL).tools
    }

    /// Some of them.
    pub fn page(&self, toolset: &Toolset, filter: &ToolListFilter<'_>) -> ToolListPage {
        // A large server is asked about once, not for each of its tools.
        let mut known: HashMap<&SourceId, SourceView> = HashMap::new();
        let (tools, has_more) = filter.select(toolset);
        let next = tools.last().filter(|_| has_more);
        let next = next.map(|tool| tool.spec.id.clone());
        let views = tools.into_iter().map(|tool| {
            let id = &tool.source.info().id;
            let source = known
                .entry(id)
                .or_insert_with(|| self.source_view(toolset, tool));
            let view = view_from(toolset, tool, source.clone());
            let parameters = filter.with_schemas.then(|| tool.spec.input_schema.clone());
            ToolView { parameters, ..view }
        });
        ToolListPage {
            tools: views.collect(),
            next,
        }
    }

    /// One of them, with the schema of its input.
    pub fn view(&self, toolset: &Toolset, id: &ToolId) -> Option<ToolView> {
        let tool = toolset.find(id)?;
        let is_shown = toolset.access().allows(tool.source.info(), id);
        let source = self.source_view(toolset, tool);
        let parameters = Some(tool.spec.input_schema.clone());
        let view = || ToolView {
            parameters,
            ..view_from(toolset, tool, source)
        };
        is_shown.then(view)
    }

    fn source_view(&self, toolset: &Toolset, tool: &Tool) -> SourceView {
        let source = tool.source.info();
        let local = match source.kind {
            SourceKind::Browser => self.devices.status(&toolset.access().user, &source.id),
            SourceKind::Builtin | SourceKind::Skill | SourceKind::Mcp | SourceKind::Openapi => None,
        };
        let settings = toolset.access().settings.as_deref();
        let setting = settings.map(|settings| settings.of_source(&source.id));
        let setting = setting.unwrap_or_default();
        SourceView {
            id: source.id.clone(),
            kind: source.kind,
            name: source.name.clone(),
            title: source.title.clone(),
            state: tool.source.state(),
            local: local.map(Into::into),
            switched: setting
                .enabled
                .map(|(enabled, by)| SourceSwitch { enabled, by }),
            decided: setting
                .policy
                .map(|(policy, by)| SourcePolicy { policy, by }),
        }
    }
}

impl std::fmt::Debug for UserTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserTools").finish_non_exhaustive()
    }
}

/// Without the schema.
fn view_from(toolset: &Toolset, tool: &Tool, source: SourceView) -> ToolView {
    ToolView {
        tool_id: tool.spec.id.clone(),
        display_name: tool.spec.display_name.clone(),
        skill_name: (source.kind == SourceKind::Skill).then(|| source.title.clone()),
        tool_name: tool.spec.name.clone(),
        title: tool.spec.title.clone(),
        description: tool.spec.description.clone(),
        keywords: Some(tool.source.keywords(&tool.spec.name))
            .filter(|keywords| !keywords.is_empty())
            .map(str::to_owned),
        parameters: None,
        annotations: tool.spec.annotations,
        source,
        runs_on: tool.spec.runs_on,
        tokens: tool.tokens(tool_tokens),
        enabled: toolset.is_enabled(tool),
        enabled_by: toolset.enabled_by(tool),
        pinned: toolset.has_pin(tool),
        policy: toolset.policy(tool),
        policy_by: toolset.set_policy(tool).map(|(_, by)| by),
    }
}
