//! A server on a user's own machine, as a source of tools.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{ErrorDetail, SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult};
use tenon_openapi::document::hash;
use tenon_openapi::request::OpenapiRequest;
use tenon_tools::{CallContext, ToolSource};

use super::call_result;
use super::cluster_wire::CallTarget;
use super::device::Device;
use super::local_tools::LocalTools;
use super::wire::{ExecuteTool, LocalCallOutcome, LocalProtocol};
use crate::call_error::{ServerCallError, failed, unavailable};
use crate::fault::ServerFault;
use crate::lock::lock;

/// The page keeps to it as well.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Reading a result of this size takes about a millisecond; larger ones are read on a blocking
/// thread.
const MAX_INLINE_BYTES: usize = 256 * 1024;

pub(super) struct LocalServer {
    info: SourceInfo,
    pub(super) device: Arc<Device>,
    pub(super) url: String,
    pub(super) via: LocalProtocol,
    inner: Mutex<Inner>,
}

#[derive(Clone)]
struct Inner {
    /// The tools when it was last seen.
    tools: Vec<ToolDefinition>,
    /// For other servers, which have them in the store.
    tools_hash: String,
    /// With the hash of the page. Not stored: a page sends it again after a restart.
    parsed: Option<(String, Arc<LocalTools>)>,
    state: DiscoveryState,
}

/// The result of the pages' last probe of a local server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiscoveryState {
    Found,
    Missing,
    /// Its tools cannot be used.
    Unusable(ErrorDetail),
}

impl LocalServer {
    pub(super) fn new(
        info: SourceInfo,
        device: Arc<Device>,
        url: String,
        via: LocalProtocol,
        tools: Vec<ToolDefinition>,
    ) -> Self {
        Self {
            info,
            device,
            url,
            via,
            inner: Mutex::new(Inner {
                tools_hash: hash_of(&tools),
                tools,
                parsed: None,
                state: DiscoveryState::Missing,
            }),
        }
    }

    /// The same server, presented otherwise.
    pub(super) fn with_info(&self, info: SourceInfo) -> Self {
        Self {
            info,
            device: self.device.clone(),
            url: self.url.clone(),
            via: self.via,
            inner: Mutex::new(self.inner().clone()),
        }
    }

    /// Whether its tools have this hash.
    pub(super) fn has(&self, hash: &str) -> bool {
        let inner = self.inner();
        inner
            .parsed
            .as_ref()
            .is_some_and(|(known, _)| known == hash)
    }

    pub(super) fn notes(&self) -> Vec<ErrorDetail> {
        let inner = self.inner();
        let parsed = inner.parsed.as_ref();
        parsed
            .map(|(_, parsed)| parsed.notes.clone())
            .unwrap_or_default()
    }

    pub(super) fn count(&self) -> usize {
        self.inner().tools.len()
    }

    /// Replaces its tools, and says whether they changed.
    pub(super) fn set_tools(&self, hash: String, parsed: LocalTools) -> bool {
        let mut inner = self.inner();
        let is_new = inner.tools != parsed.tools;
        if is_new {
            inner.tools.clone_from(&parsed.tools);
            inner.tools_hash = hash_of(&parsed.tools);
        }
        inner.parsed = Some((hash, Arc::new(parsed)));
        is_new
    }

    /// Says whether the state changed.
    pub(super) fn set_state(&self, state: DiscoveryState) -> bool {
        let mut inner = self.inner();
        let has_changed = inner.state != state;
        inner.state = state;
        has_changed
    }

    pub(super) fn is_found(&self) -> bool {
        self.inner().state == DiscoveryState::Found
    }

    pub(super) fn tools_hash(&self) -> String {
        self.inner().tools_hash.clone()
    }

    pub(super) fn is_parsed(&self) -> bool {
        self.inner().parsed.is_some()
    }

    /// The state according to the pages connected to this server.
    pub(super) fn state_here(&self) -> SourceState {
        let (state, is_known) = {
            let inner = self.inner();
            (inner.state.clone(), inner.parsed.is_some())
        };
        if !self.device.is_here() || !is_known {
            return SourceState::Offline;
        }
        match state {
            DiscoveryState::Found => SourceState::Ready,
            DiscoveryState::Unusable(why) => SourceState::Failed { why },
            DiscoveryState::Missing => SourceState::Failed {
                why: ServerFault::LocalMissing {
                    address: self.url.to_string().into(),
                }
                .into(),
            },
        }
    }

    /// Has a page of this server make a call.
    pub(super) async fn execute_here(
        &self,
        tool: &str,
        input: Value,
        context: &CallContext,
    ) -> Result<LocalCallOutcome, ToolError> {
        let parsed = self
            .parsed()
            .ok_or_else(|| unavailable(self.device.offline()))?;
        let request = parsed.request(tool, &input)?;
        let order = order(tool, input, &self.url, request, context);
        self.device.execute(&self.info.id, &order, context).await
    }

    fn parsed(&self) -> Option<Arc<LocalTools>> {
        let inner = self.inner();
        inner.parsed.as_ref().map(|(_, parsed)| parsed.clone())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

#[async_trait]
impl ToolSource for LocalServer {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.inner().tools.clone()
    }

    fn state(&self) -> SourceState {
        let here = self.state_here();
        if here == SourceState::Ready {
            return here;
        }
        // A browser at another server may reach what those here do not.
        match self.device.remote_state(&self.info.id) {
            Some((_, elsewhere)) if here == SourceState::Offline => elsewhere,
            Some((_, SourceState::Ready)) => SourceState::Ready,
            Some(_) | None => here,
        }
    }

    fn unavailable(&self) -> Option<ErrorDetail> {
        match self.state() {
            SourceState::Offline => Some(self.device.offline().into()),
            SourceState::Failed { .. } => {
                let address = self.url.to_string().into();
                Some(ServerCallError::NothingAt { address }.into())
            }
            SourceState::Starting
            | SourceState::Ready
            | SourceState::Degraded { .. }
            | SourceState::Sleeping
            | SourceState::Off => None,
        }
    }

    fn device(&self) -> Option<&str> {
        Some(&self.device.id)
    }

    fn deadline(&self, _tool: &str) -> Option<Duration> {
        Some(IDLE_TIMEOUT)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let elsewhere = self.device.remote_state(&self.info.id);
        let outcome = match elsewhere {
            Some((server, SourceState::Ready)) if self.state_here() != SourceState::Ready => {
                let target = CallTarget::Tool {
                    server: self.info.id.clone(),
                    tool: tool.to_owned(),
                    input,
                };
                let device = &self.device;
                device.execute_elsewhere(&server, target, context).await?
            }
            Some(_) | None => self.execute_here(tool, input, context).await?,
        };
        read_outcome(outcome).await
    }
}

fn hash_of(tools: &[ToolDefinition]) -> String {
    hash(&serde_json::to_vec(tools).unwrap_or_default())
}

/// The command that asks a page to make a call.
pub(super) fn order(
    tool: &str,
    input: Value,
    server_url: &str,
    request: Option<OpenapiRequest>,
    context: &CallContext,
) -> ExecuteTool {
    let origin = &context.origin;
    ExecuteTool {
        call_id: context.call_id.clone(),
        chat_id: origin.chat_id.clone(),
        message_id: origin.message_id.clone(),
        tool_id: origin.tool_id.clone(),
        tool_name: tool.to_owned(),
        tool_args: input,
        server_url: server_url.to_owned(),
        request: request.map(Into::into),
        deadline_ms: IDLE_TIMEOUT.as_millis() as u64,
    }
}

/// Converts the outcome of a call into a tool result.
pub(super) async fn read_outcome(outcome: LocalCallOutcome) -> ToolResult {
    if outcome.body_bytes() <= MAX_INLINE_BYTES {
        return call_result::read(outcome);
    }
    tokio::task::spawn_blocking(move || call_result::read(outcome))
        .await
        .unwrap_or_else(|_panic| Err(failed(ServerCallError::Unreadable)))
}

impl std::fmt::Debug for LocalServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LocalServer").field(&self.info.id).finish()
    }
}
