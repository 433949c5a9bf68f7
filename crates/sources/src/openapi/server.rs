//! A server as the registry holds it: its tools are there as soon as its last
//! document is, whether it can be reached or not.
//!
//! A [`keeper`] reads the document on a schedule and merges what has changed
//! into the [`library`]; a call looks the tool up in the [`offer`] of that
//! library, builds its request, proves who asks and reads the answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{ErrorKind, SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult};
use tenon_tools::{CallContext, ToolSource};
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::request;
use crate::logs::Logs;

mod diary;
mod handover;
mod keeper;
mod library;
mod line;
mod offer;
mod preview;
mod seen;
mod settings;
mod state;

pub use handover::Handover;
pub use offer::{About, Change};
pub use preview::{Preview, preview, preview_document};
pub use settings::{Documents, Kept, Pace, Settings};
pub use state::Status;

use handover::Holding;
use library::Library;
use line::Line;
use state::{Door, State};

/// How long a call that has no deadline of its own waits for a server that is on its way up.
const PATIENCE: Duration = Duration::from_secs(60);

/// One OpenAPI server, or an mcpo with many behind it. Its task ends when this is
/// dropped or stopped.
pub struct OpenapiServer {
    shared: Arc<Shared>,
    _stops: DropGuard,
}

/// What a server and its keeper have in common.
struct Shared {
    settings: Settings,
    pace: Pace,
    logs: Logs,
    state: State,
    holding: Mutex<Holding>,
    /// Somebody wants its document read now.
    refresh: Notify,
    /// Somebody wants it to begin anew.
    restart: Notify,
    readings: watch::Sender<Readings>,
    /// It is to end for good.
    stopping: CancellationToken,
    /// It has.
    stopped: CancellationToken,
}

/// How many readings there were, and what came of the last.
#[derive(Debug, Clone)]
struct Readings {
    begun: u64,
    ended: u64,
    outcome: Result<Arc<Change>, String>,
}

impl OpenapiServer {
    /// Starts its task, which reads what is kept and then its document.
    pub fn new(settings: Settings) -> Arc<Self> {
        Self::with_pace(settings, Pace::default())
    }

    pub fn with_pace(mut settings: Settings, pace: Pace) -> Arc<Self> {
        // Taken out: what it was is not to be held for as long as it runs.
        let known = settings.known.take();
        let known = known.filter(|known| known.origin == settings.config.origin);
        let (logs, state) = (Logs::default(), State::new());
        let holding = known.map(|known| {
            logs.note("What it offered with other settings is listed until it is read again.");
            state.inherit(known.status, known.offer);
            known.holding
        });
        let readings = Readings {
            begun: 0,
            ended: 0,
            outcome: Ok(Arc::default()),
        };
        let shared = Arc::new(Shared {
            settings,
            pace,
            logs,
            state,
            holding: Mutex::new(holding.unwrap_or_default()),
            refresh: Notify::new(),
            restart: Notify::new(),
            readings: watch::Sender::new(readings),
            stopping: CancellationToken::new(),
            stopped: CancellationToken::new(),
        });
        tokio::spawn(keeper::keep(shared.clone()));
        Arc::new(Self {
            _stops: shared.stopping.clone().drop_guard(),
            shared,
        })
    }

    pub fn status(&self) -> Status {
        self.shared.state.status()
    }

    /// How it is once it is no longer on its way up. Reading has its bounds, so this has.
    pub async fn settled(&self) -> Status {
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
    pub fn handover(&self) -> Option<Handover> {
        let holding = self.shared.holding().clone();
        holding.library.as_ref()?;
        Some(Handover {
            origin: self.shared.settings.config.origin.clone(),
            holding,
            offer: self.shared.state.offer(),
            status: self.status(),
        })
    }

    /// Reads its document now, and says what is different. Many that ask at the
    /// same time are answered by one reading. The error is a sentence.
    pub async fn refresh(&self) -> Result<Arc<Change>, String> {
        let mut readings = self.shared.readings.subscribe();
        // One that runs already may have looked before there was anything to see.
        let wanted = readings.borrow_and_update().begun + 1;
        self.shared.refresh.notify_one();
        let read = readings.wait_for(|readings| readings.ended >= wanted);
        tokio::select! {
            read = read => match read {
                Ok(readings) => readings.outcome.clone(),
                Err(_) => Err("It has been stopped.".into()),
            },
            () = self.shared.stopped.cancelled() => Err("It has been stopped.".into()),
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

    /// How a call gets through, as soon as it does.
    async fn line(&self, tool: &str) -> Result<Arc<Line>, ToolError> {
        // Nearly always.
        if let Door::Open(line) = self.shared.state.door() {
            return Ok(line);
        }
        let mut door = self.shared.state.watch_door();
        let open = async {
            loop {
                let now = door.borrow_and_update().clone();
                match now {
                    Door::Open(line) => return Ok(line),
                    Door::Soon => {}
                    Door::Failed(why) => return Err(self.failed(&why)),
                    Door::Off => return Err(self.off()),
                }
                if door.changed().await.is_err() {
                    return Err(self.off());
                }
            }
        };
        // A little less than the call has, so that it can still say why.
        let most = self.deadline(tool).unwrap_or(PATIENCE) * 9 / 10;
        tokio::time::timeout(most, open).await.unwrap_or_else(|_| {
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

impl Shared {
    fn holding(&self) -> MutexGuard<'_, Holding> {
        self.holding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be kept is not until it is: whoever is stopped in the middle of it has
    /// not done it.
    fn hold(&self, library: Library, is_kept: bool) {
        let mut holding = self.holding();
        holding.library = Some(Arc::new(library));
        holding.unkept |= !is_kept;
    }
}

#[async_trait]
impl ToolSource for OpenapiServer {
    fn info(&self) -> &SourceInfo {
        &self.shared.settings.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.shared.state.offer().tools()
    }

    fn state(&self) -> SourceState {
        self.shared.state.now()
    }

    fn unavailable(&self) -> Option<String> {
        match self.shared.state.door() {
            Door::Failed(why) => Some(self.failed(&why).message),
            Door::Off => Some(self.off().message),
            Door::Open(_) | Door::Soon => None,
        }
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        let config = &self.shared.settings.config;
        let own = config.tool_timeouts_ms.get(tool).copied();
        own.or(config.timeout_ms).map(Duration::from_millis)
    }

    async fn call(&self, tool: &str, input: Value, _context: &CallContext) -> ToolResult {
        let line = self.line(tool).await?;
        let offer = self.shared.state.offer();
        let Some(entry) = offer.get(tool) else {
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
            Some(server) => request::build_at(&entry.operation, Url::clone(server), &input)?,
            None => request::build(&entry.operation, base, &input)?,
        };
        let credentials = line.credentials(entry, base);
        let credentials = credentials.map_err(|why| self.failed(&why))?;
        // The road keeps the time: it knows what was changed since this was started.
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
