//! A server as the registry holds it: its tools are listed as soon as its stored documents are
//! loaded, whether it can be reached or not.
//!
//! A [`supervisor`] fetches the documents on a schedule and merges what has changed into
//! the [`document_set`]; a call looks the tool up in the [`tools`] of that set, builds its
//! request, adds credentials and reads the response.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{
    CodedError, ErrorDetail, ErrorKind, ErrorParam, SourceInfo, SourceState, ToolDefinition,
    ToolError, ToolResult,
};
use tenon_openapi::request;
use tenon_tools::{CallContext, ToolSource};
use tokio::sync::{Notify, watch};
use tokio_util::sync::DropGuard;
use url::Url;

use super::OpenapiError;
use super::mapping::build_error;
use crate::call_error::{ServerCallError, ServerRemedy, unavailable};
use crate::call_timeouts::CallTimeouts;
use crate::lock::lock;
use crate::supervisor::{
    CallErrors, HasCore, ServerCore, ServerStatus, StatusCell, SupervisedServer,
    SupervisorTimeouts, ToolChanges,
};

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
pub use settings::{OpenapiSettings, RefreshSchedule};

use client::OpenapiClient;
use document_set::DocumentSet;
use inherited::LoadedDocuments;
use tools::OpenapiTools;

/// How long a call that has no deadline of its own waits for a server that is on its way up.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(60);

/// How long stopping may take: the supervisor only drops the work in progress.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// One OpenAPI server, or an mcpo with many behind it. Its task ends when this is
/// dropped or stopped.
pub struct OpenapiServer {
    shared: Arc<OpenapiShared>,
    _stops: DropGuard,
}

/// State shared by a server and its supervisor.
struct OpenapiShared {
    settings: OpenapiSettings,
    schedule: RefreshSchedule,
    core: Arc<ServerCore<OpenapiTools, Arc<OpenapiClient>>>,
    loaded: Mutex<LoadedDocuments>,
    /// Somebody wants its document read now.
    refresh: Notify,
    readings: watch::Sender<RefreshProgress>,
}

/// Counters of readings, and the outcome of the last.
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
        // Taken out, so that the old state is not kept in memory as long as the server runs.
        let inherited = settings.inherited.take();
        let inherited = inherited.filter(|from| from.origin == settings.config.origin);
        let errors = CallErrors {
            title: settings.info.title.clone(),
            remedy: ServerRemedy::Refresh,
        };
        let config = &settings.config;
        let timeouts = CallTimeouts::from_millis(config.timeout_ms, &config.tool_timeouts_ms);
        let waits = SupervisorTimeouts {
            start: DEFAULT_START_TIMEOUT,
            stop: STOP_TIMEOUT,
        };
        let status = StatusCell::new(OpenapiTools::default(), 0);
        let core = Arc::new(ServerCore::new(status, errors, timeouts, waits));
        let loaded = inherited.map(|from| {
            core.logs
                .note("What it offered with other settings is listed until it is read again.");
            core.status.inherit(from.status, from.tools);
            from.loaded
        });
        let readings = RefreshProgress {
            begun: 0,
            ended: 0,
            outcome: Ok(Arc::default()),
        };
        let shared = Arc::new(OpenapiShared {
            settings,
            schedule,
            core,
            loaded: Mutex::new(loaded.unwrap_or_default()),
            refresh: Notify::new(),
            readings: watch::Sender::new(readings),
        });
        tokio::spawn(supervisor::supervise(shared.clone()));
        Arc::new(Self {
            _stops: shared.core.stopping.clone().drop_guard(),
            shared,
        })
    }

    /// The status once the server has started or failed. It returns in time, because reading has
    /// time limits.
    pub async fn settled(&self) -> ServerStatus {
        let mut changes = self.changes();
        loop {
            let status = self.status();
            let is_settled = status.state != SourceState::Starting;
            if is_settled || changes.changed().await.is_err() {
                return status;
            }
        }
    }

    /// State for the server that replaces this one. None if there is nothing to hand over.
    pub fn inherited_state(&self) -> Option<InheritedState> {
        let loaded = self.shared.loaded().clone();
        loaded.documents.as_ref()?;
        Some(InheritedState {
            origin: self.shared.settings.config.origin.clone(),
            loaded,
            tools: self.shared.core.status.offer(),
            status: self.status(),
        })
    }

    /// Reads its document now, and says what is different. Many that ask at the
    /// same time are answered by one reading.
    pub async fn refresh(&self) -> Result<Arc<ToolChanges>, OpenapiError> {
        let mut readings = self.shared.readings.subscribe();
        // A reading in progress may have started before the change that this caller knows of, so
        // wait for the next one.
        let wanted = readings.borrow_and_update().begun + 1;
        self.shared.refresh.notify_one();
        let read = readings.wait_for(|readings| readings.ended >= wanted);
        tokio::select! {
            read = read => match read {
                Ok(readings) => readings.outcome.clone(),
                Err(_) => Err(OpenapiError::Stopped),
            },
            () = self.shared.core.stopped.cancelled() => Err(OpenapiError::Stopped),
        }
    }

    fn title(&self) -> ErrorParam {
        self.shared.settings.info.title.as_str().into()
    }
}

impl OpenapiShared {
    fn loaded(&self) -> MutexGuard<'_, LoadedDocuments> {
        lock(&self.loaded)
    }

    /// Documents that still have to be written count as unstored: a task that is cancelled while
    /// writing has not stored them.
    fn set_documents(&self, documents: DocumentSet, is_stored: bool) {
        let mut loaded = self.loaded();
        loaded.documents = Some(Arc::new(documents));
        loaded.unstored |= !is_stored;
    }
}

impl HasCore for OpenapiServer {
    type Offer = OpenapiTools;
    type Connection = Arc<OpenapiClient>;

    fn core(&self) -> &ServerCore<OpenapiTools, Arc<OpenapiClient>> {
        &self.shared.core
    }
}

#[async_trait]
impl ToolSource for OpenapiServer {
    fn info(&self) -> &SourceInfo {
        &self.shared.settings.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.shared.core.status.offer().definitions()
    }

    fn state(&self) -> SourceState {
        self.shared.core.status.state()
    }

    fn unavailable(&self) -> Option<ErrorDetail> {
        self.shared.core.unavailable()
    }

    fn has_trusted_hints(&self) -> bool {
        self.shared.core.has_trusted_hints()
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        self.shared.core.call_timeouts.of(tool)
    }

    async fn call(&self, tool: &str, input: Value, _context: &CallContext) -> ToolResult {
        let client = self.shared.core.connection(tool, |_| true, || ()).await?;
        let tools = self.shared.core.status.offer();
        let Some(entry) = tools.get(tool) else {
            let gone = ServerCallError::ToolGone {
                server: self.title(),
            };
            return Err(ToolError::coded(ErrorKind::UnknownTool, gone));
        };
        let Some(base) = &entry.base else {
            return Err(unavailable(ServerCallError::NoServerAddress {
                server: self.title(),
            }));
        };
        let request = match &entry.server {
            Some(server) => request::build_at(&entry.operation, Url::clone(server), &input),
            None => request::build(&entry.operation, base, &input),
        };
        let request = request.map_err(build_error)?;
        let credentials = client.credentials(entry, base);
        let credentials =
            credentials.map_err(|error| self.shared.core.errors.failed(&error.detail()))?;
        // `Toolset::call` keeps the deadline.
        let result = credentials.call(&entry.operation, request).await;
        result.inspect_err(|error| {
            // Errors from the server are for the model alone; that it could not be reached is also
            // logged for its owner.
            if error.kind == ErrorKind::Unavailable {
                let logs = &self.shared.core.logs;
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
