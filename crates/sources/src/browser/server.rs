//! A server on somebody's machine, as the registry holds it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{ErrorKind, SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult};
use tenon_tools::{CallContext, ToolSource};

use super::answer;
use super::device::Device;
use super::offer::Offer;
use super::wire::{Execute, Via};

/// How long a call may go without a sign of life: the page keeps to it as well.
const DEADLINE: Duration = Duration::from_secs(120);

/// To read so much takes about a millisecond; whatever takes longer is done elsewhere.
const READ_APART: usize = 256 * 1024;

pub(super) struct LocalServer {
    info: SourceInfo,
    pub(super) device: Arc<Device>,
    pub(super) url: String,
    pub(super) via: Via,
    inner: Mutex<Inner>,
}

struct Inner {
    /// What was offered when it was last seen.
    tools: Vec<ToolDefinition>,
    /// Known as long as this process is: a page tells it again.
    offer: Option<(String, Arc<Offer>)>,
    standing: Standing,
}

/// How it was when the pages last looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Found,
    Missing,
    /// What it says of itself cannot be used; a sentence.
    Unusable(String),
}

impl LocalServer {
    pub(super) fn new(
        info: SourceInfo,
        device: Arc<Device>,
        url: String,
        via: Via,
        tools: Vec<ToolDefinition>,
    ) -> Self {
        Self {
            info,
            device,
            url,
            via,
            inner: Mutex::new(Inner {
                tools,
                offer: None,
                standing: Standing::Missing,
            }),
        }
    }

    /// Whether this is what it offers.
    pub(super) fn has(&self, hash: &str) -> bool {
        let inner = self.inner();
        inner.offer.as_ref().is_some_and(|(known, _)| known == hash)
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let inner = self.inner();
        let offer = inner.offer.as_ref();
        offer
            .map(|(_, offer)| offer.notes.clone())
            .unwrap_or_default()
    }

    pub(super) fn count(&self) -> usize {
        self.inner().tools.len()
    }

    /// What a page found there. Whether its tools are not what they were.
    pub(super) fn take(&self, hash: String, offer: Offer) -> bool {
        let mut inner = self.inner();
        let is_new = inner.tools != offer.tools;
        inner.tools.clone_from(&offer.tools);
        inner.offer = Some((hash, Arc::new(offer)));
        is_new
    }

    /// Whether that is news.
    pub(super) fn stand(&self, standing: Standing) -> bool {
        let mut inner = self.inner();
        let is_news = inner.standing != standing;
        inner.standing = standing;
        is_news
    }

    pub(super) fn is_found(&self) -> bool {
        self.inner().standing == Standing::Found
    }

    fn offer(&self) -> Option<Arc<Offer>> {
        let inner = self.inner();
        inner.offer.as_ref().map(|(_, offer)| offer.clone())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (standing, is_known) = {
            let inner = self.inner();
            (inner.standing.clone(), inner.offer.is_some())
        };
        if !self.device.is_there() || !is_known {
            return SourceState::Offline;
        }
        match standing {
            Standing::Found => SourceState::Ready,
            Standing::Unusable(why) => SourceState::Failed { why },
            Standing::Missing => SourceState::Failed {
                why: format!(
                    "Nothing was found at {} when it was last looked for.",
                    self.url
                ),
            },
        }
    }

    fn unavailable(&self) -> Option<String> {
        match self.state() {
            SourceState::Offline => Some(self.device.away_in_words()),
            SourceState::Failed { .. } => Some(format!(
                "This tool runs on the user's own computer, and nothing usable answers at {} there \
                 now. Ask the user to look after it, or do without it.",
                self.url
            )),
            SourceState::Starting
            | SourceState::Ready
            | SourceState::Degraded { .. }
            | SourceState::Sleeping
            | SourceState::Off => None,
        }
    }

    fn deadline(&self, _tool: &str) -> Option<Duration> {
        Some(DEADLINE)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let offer = self.offer().ok_or_else(|| self.device.away())?;
        let request = offer.request(tool, &input)?;
        let errand = &context.errand;
        let order = Execute {
            call_id: context.call_id.clone(),
            chat_id: errand.chat_id.clone(),
            message_id: errand.message_id.clone(),
            tool_id: errand.tool_id.clone(),
            tool_name: tool.to_owned(),
            tool_args: input,
            server_url: self.url.clone(),
            request: request.map(Into::into),
            deadline_ms: DEADLINE.as_millis() as u64,
        };
        let outcome = self.device.make(&order, context).await?;
        match outcome.weight() > READ_APART {
            false => answer::read(outcome),
            true => tokio::task::spawn_blocking(move || answer::read(outcome))
                .await
                .unwrap_or_else(|_panic| {
                    Err(ToolError::new(
                        ErrorKind::Failed,
                        "The answer could not be read.",
                    ))
                }),
        }
    }
}

impl std::fmt::Debug for LocalServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LocalServer").field(&self.info.id).finish()
    }
}
