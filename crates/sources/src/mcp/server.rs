//! A server as the registry holds it: it outlives every connection, and every
//! call finds its way to the one there is.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult};
use tenon_tools::{CallContext, Progress, ToolSource};
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::link::CallFault;
use super::logs::Logs;
use super::patience::Patience;
use super::settings::{Settings, Start};
use super::state::{Closed, Door, Open, State, Status};
use super::supervise::supervise;
use super::usage::Usage;
use super::words::Words;

/// A connection that broke says so itself within this. If not, only one call has
/// met with an accident, and the connection still stands.
const NOTICED: Duration = Duration::from_secs(1);

/// How often a call that waits says what for.
const WAITING_INTERVAL: Duration = Duration::from_secs(2);

/// A server that is gone is found to be within this, once there is doubt.
const FOUND_OUT: Duration = Duration::from_secs(3);

/// One MCP server, started, watched and started again by a task of its own.
/// The task and the process end when this is dropped or stopped.
pub struct McpServer {
    shared: Arc<Shared>,
    _stops: DropGuard,
}

/// What a server and its supervisor have in common.
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) patience: Patience,
    pub(super) logs: Logs,
    pub(super) state: State,
    pub(super) usage: Usage,
    /// Somebody wants it ended and started anew.
    pub(super) restart: Notify,
    /// A call went wrong, and nobody knows whether the server is all right.
    pub(super) doubt: Notify,
    /// The newest link over which a log-in was asked for.
    pub(super) refused: watch::Sender<Refused>,
    /// It is to end for good.
    pub(super) stopping: CancellationToken,
    /// It has.
    pub(super) stopped: CancellationToken,
}

/// A log-in that was asked for in the middle.
#[derive(Debug, Clone, Default)]
pub(super) struct Refused {
    /// The number of the link. There is no link 0.
    pub(super) number: u64,
    pub(super) challenge: Option<String>,
}

impl Shared {
    /// Over this link a log-in was asked for.
    fn refuse(&self, number: u64, challenge: Option<String>) {
        self.refused.send_if_modified(|refused| {
            let is_newer = refused.number < number;
            if is_newer {
                *refused = Refused { number, challenge };
            }
            is_newer
        });
    }
}

impl McpServer {
    /// Starts its task, and the server when that is wanted.
    pub fn new(settings: Settings) -> Arc<Self> {
        Self::with_patience(settings, Patience::default())
    }

    pub fn with_patience(mut settings: Settings, patience: Patience) -> Arc<Self> {
        let state = State::new(std::mem::take(&mut settings.known));
        // Nobody is to read that it is on its way before its task has run.
        if settings.start == Start::OnCall {
            state.asleep();
        }
        let shared = Arc::new(Shared {
            settings,
            patience,
            logs: Logs::default(),
            state,
            usage: Usage::default(),
            restart: Notify::new(),
            doubt: Notify::new(),
            refused: watch::Sender::new(Refused::default()),
            stopping: CancellationToken::new(),
            stopped: CancellationToken::new(),
        });
        tokio::spawn(supervise(shared.clone()));
        Arc::new(Self {
            _stops: shared.stopping.clone().drop_guard(),
            shared,
        })
    }

    pub fn status(&self) -> Status {
        self.shared.state.status()
    }

    /// Counts up whenever the status or the tools have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.state.changes()
    }

    pub fn logs(&self) -> &Logs {
        &self.shared.logs
    }

    /// Ends it and starts it anew, without waiting for either. Calls that come
    /// meanwhile wait for the new one.
    pub fn restart(&self) {
        self.shared.restart.notify_one();
    }

    /// Ends it for good: the process and all its children are gone when this comes back.
    pub async fn stop(&self) {
        self.shared.stopping.cancel();
        let stopped = self.shared.stopped.cancelled();
        // The supervisor keeps to a deadline of its own; this one is for the day it does not.
        let most = self.shared.patience.end * 2;
        if tokio::time::timeout(most, stopped).await.is_err() {
            let source = &self.shared.settings.info.id;
            tracing::warn!(%source, "an MCP server did not end in time");
        }
    }

    /// The link a call can go over, as soon as there is one. After `lost`, a newer one.
    async fn open_link(
        &self,
        tool: &str,
        lost: Option<u64>,
        context: &CallContext,
    ) -> Result<Open, ToolError> {
        let shared = &self.shared;
        // Nearly always.
        if let Door::Open(open) = shared.state.door()
            && Some(open.number) != lost
        {
            return Ok(open);
        }
        let mut door = shared.state.watch_door();
        let mut has_waited = false;
        let opened = async {
            loop {
                let now = door.borrow_and_update().clone();
                match now {
                    Door::Open(open) if Some(open.number) != lost => return Ok(open),
                    // Its supervisor is about to find out.
                    Door::Open(_) => {}
                    Door::Soon | Door::Asleep => shared.usage.want(),
                    // One attempt for each call: what it waited for came to nothing.
                    Door::Closed(closed) if !has_waited && closed.may_try_again() => {
                        shared.usage.want();
                    }
                    Door::Closed(closed) => return Err(self.words().closed(&closed)),
                }
                has_waited = true;
                let changed = tokio::select! {
                    changed = door.changed() => changed,
                    never = self.tell_waiting(context) => match never {},
                };
                if changed.is_err() {
                    return Err(self.words().closed(&Closed::Off));
                }
            }
        };
        // A little less than the call has, so that it can still say why.
        let most = self.deadline(tool).unwrap_or(shared.patience.start * 3 / 2);
        tokio::time::timeout(most * 9 / 10, opened)
            .await
            .unwrap_or_else(|_| {
                let startup = shared.state.look(|status| status.startup.clone());
                Err(self.words().still_starting(startup.as_ref()))
            })
    }

    /// Tells whoever made a call what it waits for. That is no sign of life of the call.
    async fn tell_waiting(&self, context: &CallContext) -> Infallible {
        loop {
            tokio::time::sleep(WAITING_INTERVAL).await;
            let startup = self.shared.state.look(|status| status.startup.clone());
            context.attendant.progress(Progress {
                progress: 0.0,
                total: None,
                message: Some(self.words().waiting(startup.as_ref())),
            });
        }
    }

    async fn over(&self, open: &Open, tool: &str, input: Value, context: &CallContext) -> Outcome {
        let shared = &self.shared;
        let why = match open.link.call(tool, input, context).await {
            Ok(output) => return Outcome::Done(Ok(output)),
            Err(CallFault::Told(error)) => return Outcome::Done(Err(error)),
            Err(CallFault::LogIn { challenge }) => {
                shared.refuse(open.number, challenge);
                return Outcome::Done(Err(self.words().closed(&Closed::LogIn)));
            }
            Err(CallFault::Unreached(why)) => {
                // Whether nobody is there at all, or only this call had no luck, shows when it
                // is asked something else.
                shared.doubt.notify_one();
                let mut door = shared.state.watch_door();
                let is_over =
                    |door: &Door| !matches!(door, Door::Open(now) if now.number == open.number);
                let _ = tokio::time::timeout(FOUND_OUT, door.wait_for(is_over)).await;
                return Outcome::Unreached(why);
            }
            Err(CallFault::Broken(why)) => why,
        };
        let ended = tokio::time::timeout(NOTICED, open.link.ended()).await;
        match ended {
            Ok(ended) => Outcome::Lost(Some(open.number), ended),
            Err(_) => {
                // Whether it was more than an accident shows when it is asked something else.
                shared.doubt.notify_one();
                Outcome::Lost(None, why)
            }
        }
    }

    fn words(&self) -> Words<'_> {
        Words {
            title: &self.shared.settings.info.title,
        }
    }
}

#[async_trait]
impl ToolSource for McpServer {
    fn info(&self) -> &SourceInfo {
        &self.shared.settings.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.shared.state.offer().tools.clone()
    }

    fn state(&self) -> SourceState {
        self.shared.state.now()
    }

    fn can_be_called(&self) -> bool {
        match self.shared.state.door() {
            Door::Open(_) | Door::Soon | Door::Asleep => true,
            Door::Closed(closed) => closed.may_try_again(),
        }
    }

    fn unavailable(&self) -> Option<String> {
        match self.shared.state.door() {
            Door::Closed(closed) => Some(self.words().closed(&closed).message),
            Door::Open(_) | Door::Soon | Door::Asleep => None,
        }
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        let config = &self.shared.settings.config;
        let own = config.tool_timeouts_ms.get(tool).copied();
        own.or(config.timeout_ms).map(Duration::from_millis)
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let _busy = self.shared.usage.begin();
        let is_repeatable = self.shared.state.offer().is_repeatable(tool);
        let open = self.open_link(tool, None, context).await?;
        let (lost, why) = match self.over(&open, tool, input.clone(), context).await {
            Outcome::Done(result) => return result,
            Outcome::Unreached(why) => (None, why),
            // A second try is only for what does no harm when it is done twice.
            Outcome::Lost(_, why) if !is_repeatable => return Err(self.words().broken(tool, &why)),
            Outcome::Lost(lost, why) => (lost, why),
        };
        let logs = &self.shared.logs;
        logs.note(format!(
            "A call did not get through and is made once more. {why}"
        ));
        let open = self.open_link(tool, lost, context).await?;
        match self.over(&open, tool, input, context).await {
            Outcome::Done(result) => result,
            Outcome::Unreached(why) => Err(self.words().unreached(tool, &why)),
            Outcome::Lost(_, why) => Err(self.words().broken(tool, &why)),
        }
    }
}

/// What came of a call over one link.
enum Outcome {
    Done(ToolResult),
    /// Nothing was sent, and why.
    Unreached(String),
    /// The answer did not come, and why. The number of the link, if that is no more.
    Lost(Option<u64>, String),
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("McpServer")
            .field(&self.shared.settings.info.id)
            .finish()
    }
}
