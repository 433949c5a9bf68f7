//! The state that a server shares with its supervisor, and the requests its owner can send to the
//! supervisor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tenon_domain::{ErrorDetail, ToolError};
use tenon_tools::ToolSource;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::messages::CallErrors;
use super::status::{Availability, ServerStatus, StatusCell, UnavailableReason};
use crate::call_timeouts::{CallTimeouts, CurrentTimeouts};
use crate::logs::{Logs, ServerLogLine};

/// A source of tools that a supervisor keeps up.
#[async_trait]
pub trait SupervisedServer: ToolSource {
    fn status(&self) -> ServerStatus;

    /// Counts up whenever the status or the tools have changed.
    fn changes(&self) -> watch::Receiver<u64>;

    /// As far as this process knows them.
    fn logs(&self) -> &Logs;

    /// Its log, wherever it runs.
    async fn log_lines(&self) -> Vec<ServerLogLine> {
        self.logs().lines()
    }

    /// Requests a restart without waiting for it. Calls that arrive meanwhile wait for the server.
    fn restart(&self);

    /// Other timeouts for calls. Calls that wait for the server heed them at once.
    fn set_timeouts(&self, timeouts: CallTimeouts);

    /// Whether an admin trusts the hints about its tools. Initially false.
    fn set_trusted_hints(&self, are_trusted: bool);

    /// Ends it for good: a process and all its children are gone when this returns.
    async fn stop(&self);
}

/// The part of a server that does not depend on its kind. `O` is what it offers, `C` what calls
/// are made over.
pub(crate) struct ServerCore<O, C> {
    pub(crate) status: StatusCell<O, C>,
    pub(crate) logs: Logs,
    pub(crate) errors: CallErrors,
    pub(crate) call_timeouts: CurrentTimeouts,
    has_trusted_hints: AtomicBool,
    timeouts: SupervisorTimeouts,
    /// A restart was requested.
    pub(crate) restart: Notify,
    /// Cancelled to stop the server for good.
    pub(crate) stopping: CancellationToken,
    /// Cancelled by the supervisor once the server has stopped.
    pub(crate) stopped: CancellationToken,
}

pub(crate) struct SupervisorTimeouts {
    /// How long a call without a timeout waits for a server that is on its way up.
    pub(crate) start: Duration,
    /// For the supervisor to end, though it has deadlines of its own.
    pub(crate) stop: Duration,
}

/// A server that has a [`ServerCore`].
pub(crate) trait HasCore {
    type Offer: Send + Sync;
    type Connection: Clone + Send + Sync;

    fn core(&self) -> &ServerCore<Self::Offer, Self::Connection>;
}

impl<O, C: Clone> ServerCore<O, C> {
    pub(crate) fn new(
        status: StatusCell<O, C>,
        errors: CallErrors,
        call_timeouts: CallTimeouts,
        timeouts: SupervisorTimeouts,
    ) -> Self {
        Self {
            status,
            logs: Logs::default(),
            errors,
            call_timeouts: CurrentTimeouts::new(call_timeouts),
            has_trusted_hints: AtomicBool::new(false),
            timeouts,
            restart: Notify::new(),
            stopping: CancellationToken::new(),
            stopped: CancellationToken::new(),
        }
    }

    pub(crate) fn has_trusted_hints(&self) -> bool {
        self.has_trusted_hints.load(Ordering::Relaxed)
    }

    /// What a call of this tool can go over, as soon as there is one that `is_usable`. `wake` has
    /// the supervisor start a server that sleeps or has failed.
    pub(crate) async fn connection(
        &self,
        tool: &str,
        is_usable: impl Fn(&C) -> bool,
        wake: impl Fn(),
    ) -> Result<C, ToolError> {
        let mut availability = self.status.watch_availability();
        let mut has_waited = false;
        let connected = async {
            loop {
                let now = availability.borrow_and_update().clone();
                match &now {
                    Availability::Open(connection) if is_usable(connection) => {
                        return Ok(connection.clone());
                    }
                    // The supervisor is about to find out.
                    Availability::Open(_) => {}
                    Availability::Starting | Availability::Sleeping => wake(),
                    // A call tries only once: it fails if the start it waited for failed.
                    Availability::Unavailable(reason) if !has_waited && reason.may_retry() => {
                        wake();
                    }
                    Availability::Unavailable(reason) => {
                        return Err(self.errors.unavailable(reason));
                    }
                }
                has_waited = true;
                if availability.changed().await.is_err() {
                    return Err(self.errors.unavailable(&UnavailableReason::Off));
                }
            }
        };
        let default = self.timeouts.start;
        let connected = self.call_timeouts.wait(tool, default, connected).await;
        connected.unwrap_or_else(|| {
            let startup = self.status.read(|status| status.startup.clone());
            Err(self.errors.still_starting(startup.as_ref()))
        })
    }

    /// Why calls would fail now.
    pub(crate) fn unavailable(&self) -> Option<ErrorDetail> {
        match self.status.availability() {
            Availability::Unavailable(reason) => Some(self.errors.unavailability(&reason).into()),
            Availability::Open(_) | Availability::Starting | Availability::Sleeping => None,
        }
    }
}

#[async_trait]
impl<S: HasCore + ToolSource> SupervisedServer for S {
    fn status(&self) -> ServerStatus {
        self.core().status.status()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.core().status.changes()
    }

    fn logs(&self) -> &Logs {
        &self.core().logs
    }

    fn restart(&self) {
        self.core().restart.notify_one();
    }

    fn set_timeouts(&self, timeouts: CallTimeouts) {
        self.core().call_timeouts.set(timeouts);
    }

    fn set_trusted_hints(&self, are_trusted: bool) {
        let trusted = &self.core().has_trusted_hints;
        trusted.store(are_trusted, Ordering::Relaxed);
    }

    async fn stop(&self) {
        let core = self.core();
        core.stopping.cancel();
        let stopped = core.stopped.cancelled();
        if tokio::time::timeout(core.timeouts.stop, stopped)
            .await
            .is_err()
        {
            let source = &self.info().id;
            tracing::warn!(%source, "a server did not end in time");
        }
    }
}
