//! A server as the registry holds it: its tools are listed as soon as its stored documents are
//! loaded, whether it can be reached or not.
//!
//! A [`supervisor`] fetches the documents on a schedule and merges what has changed into
//! the [`document_set`]; a call looks the tool up in the [`tools`] of that set, builds its
//! request, adds credentials and reads the response.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{
    ErrorKind, OpenapiConfig, SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult,
};
use tenon_openapi::request;
use tenon_tools::{CallContext, ToolSource};
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::OpenapiError;
use super::mapping::build_error;
use crate::call_timeouts::{CallTimeouts, CurrentTimeouts};
use crate::logs::Logs;

mod change_log;
mod client;
mod document_set;
mod inherited;
mod preview;
mod read_result;
mod settings;
mod status;
mod supervisor;
mod tools;

pub use inherited::InheritedState;
pub use preview::{OpenapiPreview, preview, preview_document};
pub use settings::{
    DocumentRecord, DocumentStore, DocumentStoreError, OpenapiSettings, RefreshSchedule,
};
pub use status::OpenapiStatus;
pub use tools::{DocumentSummary, ToolChanges};

use client::OpenapiClient;
use document_set::DocumentSet;
use inherited::LoadedDocuments;
use status::{OpenapiAvailability, OpenapiState};

/// How long a call that has no deadline of its own waits for a server that is on its way up.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(60);

/// One OpenAPI server, or an mcpo with many behind it. Its task ends when this is
/// dropped or stopped.
pub struct OpenapiServer {
    shared: Arc<OpenapiShared>,
    _stops: DropGuard,
}

/// What a server and its supervisor have in common.
struct OpenapiShared {
    settings: OpenapiSettings,
    schedule: RefreshSchedule,
    logs: Logs,
    state: OpenapiState,
    timeouts: CurrentTimeouts,
    loaded: Mutex<LoadedDocuments>,
    /// Somebody wants its document read now.
    refresh: Notify,
    /// Somebody wants it to begin anew.
    restart: Notify,
    readings: watch::Sender<RefreshProgress>,
    /// It is to end for good.
    stopping: CancellationToken,
    /// It has.
    stopped: CancellationToken,
}

/// How many readings there were, and what came of the last.
#[derive(Debug, Clone)]
struct RefreshProgress {
    begun: u64,
    ended: u64,
    outcome: Result<Arc<ToolChanges>, OpenapiError>,
}

impl OpenapiServer {
    /// Starts its task, which reads what is kept and then its document.
    pub fn new(settings: OpenapiSettings) -> Arc<Self> {
        Self::with_schedule(settings, RefreshSchedule::default())
    }

    pub fn with_schedule(mut settings: OpenapiSettings, schedule: RefreshSchedule) -> Arc<Self> {
        // Taken out: what it was is not to be held for as long as it runs.
        let inherited = settings.inherited.take();
        let inherited = inherited.filter(|from| from.origin == settings.config.origin);
        let (logs, state) = (Logs::default(), OpenapiState::new());
        let loaded = inherited.map(|from| {
            logs.note("What it offered with other settings is listed until it is read again.");
            state.inherit(from.status, from.tools);
            from.loaded
        });
        let timeouts = call_timeouts(&settings.config);
        let readings = RefreshProgress {
            begun: 0,
            ended: 0,
            outcome: Ok(Arc::default()),
        };
        let shared = Arc::new(OpenapiShared {
            settings,
            schedule,
            logs,
            state,
            timeouts: CurrentTimeouts::new(timeouts),
            loaded: Mutex::new(loaded.unwrap_or_default()),
            refresh: Notify::new(),
            restart: Notify::new(),
            readings: watch::Sender::new(readings),
            stopping: CancellationToken::new(),
            stopped: CancellationToken::new(),
        });
        tokio::spawn(supervisor::run(shared.clone()));
        Arc::new(Self {
            _stops: shared.stopping.clone().drop_guard(),
            shared,
        })
    }

    pub fn status(&self) -> OpenapiStatus {
        self.shared.state.status()
    }

    /// How it is once it is no longer on its way up. FetchedDocuments has its bounds, so this has.
    pub async fn settled(&self) -> OpenapiStatus {
        let mut changes = self.changes();
        loop {
            let status = self.status();
            let is_settled = status.state != SourceState::Starting;
            if is_settled || changes.changed().await.is_err() {
                return status;
            }
        }
    }

    /// Counts up whenever the status or the tools have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.state.changes()
    }

    pub fn logs(&self) -> &Logs {
        &self.shared.logs
    }

    /// For the one that takes its place. None, if it has nothing to offer.
    pub fn inherited_state(&self) -> Option<InheritedState> {
        let loaded = self.shared.loaded().clone();
        loaded.documents.as_ref()?;
        Some(InheritedState {
            origin: self.shared.settings.config.origin.clone(),
            loaded,
            tools: self.shared.state.offer(),
            status: self.status(),
        })
    }

    /// Reads its document now, and says what is different. Many that ask at the
    /// same time are answered by one reading.
    pub async fn refresh(&self) -> Result<Arc<ToolChanges>, OpenapiError> {
        let mut readings = self.shared.readings.subscribe();
        // One that runs already may have looked before there was anything to see.
        let wanted = readings.borrow_and_update().begun + 1;
        self.shared.refresh.notify_one();
        let read = readings.wait_for(|readings| readings.ended >= wanted);
        tokio::select! {
            read = read => match read {
                Ok(readings) => readings.outcome.clone(),
                Err(_) => Err(OpenapiError::Stopped),
            },
            () = self.shared.stopped.cancelled() => Err(OpenapiError::Stopped),
        }
    }

    /// Begins anew: variables are filled in again and its document is read, without
    /// waiting for either.
    pub fn restart(&self) {
        self.shared.restart.notify_one();
    }

    /// Ends it for good. Calls that are underway end as they may.
    pub async fn stop(&self) {
        self.shared.stopping.cancel();
        self.shared.stopped.cancelled().await;
    }

    /// Other timeouts for calls. Calls that wait for the server heed them at once.
    pub fn set_timeouts(&self, timeouts: CallTimeouts) {
        self.shared.timeouts.set(timeouts);
    }

    /// What calls are made with, as soon as the server is up.
    async fn client(&self, tool: &str) -> Result<Arc<OpenapiClient>, ToolError> {
        // Nearly always.
        if let OpenapiAvailability::Ready(client) = self.shared.state.availability() {
            return Ok(client);
        }
        let mut availability = self.shared.state.watch_availability();
        let ready = async {
            loop {
                let now = availability.borrow_and_update().clone();
                match now {
                    OpenapiAvailability::Ready(client) => return Ok(client),
                    OpenapiAvailability::Starting => {}
                    OpenapiAvailability::Failed(why) => return Err(self.failed(&why)),
                    OpenapiAvailability::Off => return Err(self.off()),
                }
                if availability.changed().await.is_err() {
                    return Err(self.off());
                }
            }
        };
        let timeouts = &self.shared.timeouts;
        let ready = timeouts.wait(tool, DEFAULT_START_TIMEOUT, ready).await;
        ready.unwrap_or_else(|| {
            Err(self.cannot(
                "is still starting, and the time of this call is up. Nothing was done; try again \
                 in a minute.",
            ))
        })
    }

    fn failed(&self, why: &str) -> ToolError {
        self.cannot(&format!(
            "cannot be used now: {why} Do without it, or tell the user that its log and a button \
             to read it again are under Settings → Tool servers."
        ))
    }

    fn off(&self) -> ToolError {
        self.cannot("has been switched off or removed. Do without it.")
    }

    fn cannot(&self, what: &str) -> ToolError {
        let title = &self.shared.settings.info.title;
        ToolError::new(ErrorKind::Unavailable, format!("{title} {what}"))
    }
}

impl OpenapiShared {
    fn loaded(&self) -> MutexGuard<'_, LoadedDocuments> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is still to be stored counts as unstored: whoever is stopped in the middle of it has
    /// not done it.
    fn set_documents(&self, documents: DocumentSet, is_stored: bool) {
        let mut loaded = self.loaded();
        loaded.documents = Some(Arc::new(documents));
        loaded.unstored |= !is_stored;
    }
}

fn call_timeouts(config: &OpenapiConfig) -> CallTimeouts {
    CallTimeouts::from_millis(config.timeout_ms, &config.tool_timeouts_ms)
}

#[async_trait]
impl ToolSource for OpenapiServer {
    fn info(&self) -> &SourceInfo {
        &self.shared.settings.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.shared.state.offer().definitions()
    }

    fn state(&self) -> SourceState {
        self.shared.state.source_state()
    }

    fn unavailable(&self) -> Option<String> {
        match self.shared.state.availability() {
            OpenapiAvailability::Failed(why) => Some(self.failed(&why).message),
            OpenapiAvailability::Off => Some(self.off().message),
            OpenapiAvailability::Ready(_) | OpenapiAvailability::Starting => None,
        }
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        self.shared.timeouts.of(tool)
    }

    async fn call(&self, tool: &str, input: Value, _context: &CallContext) -> ToolResult {
        let client = self.client(tool).await?;
        let tools = self.shared.state.offer();
        let Some(entry) = tools.get(tool) else {
            let message = self.cannot("no longer has this tool. Do without it.");
            return Err(ToolError::new(ErrorKind::UnknownTool, message.message));
        };
        let Some(base) = &entry.base else {
            return Err(self.cannot(
                "cannot be called: its document does not say where its server is. The user can \
                 set its address under Settings → Tool servers.",
            ));
        };
        let request = match &entry.server {
            Some(server) => request::build_at(&entry.operation, Url::clone(server), &input),
            None => request::build(&entry.operation, base, &input),
        };
        let request = request.map_err(build_error)?;
        let credentials = client.credentials(entry, base);
        let credentials = credentials.map_err(|error| self.failed(&error.to_string()))?;
        // `Toolset::call` keeps the deadline.
        let result = credentials.call(&entry.operation, request).await;
        result.inspect_err(|error| {
            // What a server said is for the model; that it could not be asked is for its owner.
            if error.kind == ErrorKind::Unavailable {
                let logs = &self.shared.logs;
                logs.note(format!("A call of `{tool}` failed: {}", error.message));
            }
        })
    }
}

impl std::fmt::Debug for OpenapiServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenapiServer")
            .field(&self.shared.settings.info.id)
            .finish()
    }
}
