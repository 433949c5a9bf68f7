//! The task that keeps one server up: starting → ready → failed → starting …
//!
//! It owns the connection. Whatever it is doing, it can be told to restart or to stop, and
//! then leaves what it was doing at once: each step is cancel safe and leaves nothing behind
//! but `self.active`, which is closed.

use std::sync::Arc;
use std::time::Duration;

use tenon_domain::{ErrorDetail, McpTransport, SourceState};
use tenon_mcp::{Error, ProtocolEra};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::task::TaskTracker;

use super::explain::{explain, explain_connection};
use super::lister::Lister;
use super::offered_tools::OfferedTools;
use super::settings::StartMode;
use super::shared::McpShared;
use super::status::ActiveConnection;
use super::tool_list::ListedTools;
use crate::fault::ServerFault;
use crate::supervisor::{Backoff, MINUTE, RetryDecision, SupervisedTask, run};

mod start;

use start::StartFailure;

/// While a call waits for it, one that failed is tried this often at least.
const WANTED_RETRY: Duration = Duration::from_secs(1);

/// How long after an address could not be reached a call may have it tried again.
const ADDRESS_RETRY: Duration = Duration::from_millis(500);

/// After this many consecutive failed lists, the connection is replaced.
const MAX_FAILED_LISTS: u32 = 3;

struct McpSupervisor {
    shared: Arc<McpShared>,
    active: Option<ActiveConnection>,
    /// How many connections there were.
    connections: u64,
    era: ProtocolEra,
    backoff: Backoff,
    start_slot: StartSlot,
    /// Processes of starts that were given up.
    cleanup: TaskTracker,
}

/// Whether the next start waits for a start slot.
#[derive(Default)]
enum StartSlot {
    #[default]
    Wait,
    /// Restarts at once, without a start slot: the server was up a moment ago, and calls wait for
    /// it.
    Skip,
}

/// What is to be done next.
enum McpStep {
    Start,
    Watch(ActiveConnection),
    /// Wait, then start again. A call that wants it has it started sooner.
    Wait(RetryDecision),
    /// Wait the whole time: a call that arrives does not cut it short.
    WaitWithoutWake(Duration),
    Sleep,
    /// Do nothing until it is restarted: nothing else would help.
    Stay,
    /// End it first, and forget how it went.
    Restart,
}

/// Runs until the server is stopped or dropped.
pub(super) async fn supervise(shared: Arc<McpShared>) {
    let first = match shared.settings.start {
        StartMode::Now => McpStep::Start,
        StartMode::OnCall => McpStep::Sleep,
    };
    let supervisor = McpSupervisor {
        shared: shared.clone(),
        active: None,
        connections: 0,
        era: ProtocolEra::default(),
        backoff: if shared.is_program() {
            Backoff::of_program(shared.timeouts.steady)
        } else {
            Backoff::of_address(shared.timeouts.steady)
        },
        start_slot: StartSlot::default(),
        cleanup: TaskTracker::new(),
    };
    run(shared.core.clone(), supervisor, first).await;
}

impl SupervisedTask for McpSupervisor {
    type Step = McpStep;

    const RESTART: McpStep = McpStep::Restart;

    async fn step(&mut self, step: McpStep) -> McpStep {
        match step {
            McpStep::Start => self.start().await,
            McpStep::Watch(active) => self.watch(active).await,
            McpStep::Wait(retry) => self.wait(retry).await,
            McpStep::WaitWithoutWake(wait) => {
                sleep(wait).await;
                self.shared.core.status.count_restart();
                McpStep::Start
            }
            McpStep::Sleep => self.sleep().await,
            McpStep::Stay => std::future::pending().await,
            McpStep::Restart => {
                self.shared.core.status.starting();
                self.shared.core.logs.note("Restarted on request.");
                self.disconnect().await;
                self.backoff.reset();
                self.era = ProtocolEra::default();
                self.shared.core.status.count_restart();
                McpStep::Start
            }
        }
    }

    async fn crashed(&mut self) -> McpStep {
        let source = &self.shared.settings.info.id;
        tracing::error!(%source, "the supervisor of an MCP server panicked");
        let why = ServerFault::Internal.into();
        self.shared.core.status.failed(why, None, None);
        self.disconnect().await;
        McpStep::WaitWithoutWake(MINUTE)
    }

    async fn end(&mut self) {
        self.disconnect().await;
    }
}

impl McpSupervisor {
    async fn start(&mut self) -> McpStep {
        let shared = self.shared.clone();
        // A failed server keeps the state `Failed` while it is retried, so that calls do not wait
        // for it.
        if !matches!(shared.core.status.state(), SourceState::Failed { .. }) {
            shared.core.status.starting();
        }
        match self.connect().await {
            Ok(connection) => {
                self.connections += 1;
                self.era = connection.era();
                shared.core.logs.note(match connection.pid() {
                    Some(pid) => format!("Started, process {pid}."),
                    None => "Connected.".into(),
                });
                let active = ActiveConnection {
                    number: self.connections,
                    connection,
                };
                self.active = Some(active.clone());
                shared.core.status.connected(active.clone());
                McpStep::Watch(active)
            }
            Err(StartFailure::Unset(why)) => {
                shared
                    .core
                    .logs
                    .note(format!("It is started when it has what it lacks. {why}"));
                shared.core.status.failed(why, None, None);
                McpStep::Stay
            }
            Err(StartFailure::LoginRequired { challenge }) => self.login_required(challenge).await,
            Err(StartFailure::Failed(why)) => {
                // The server may have been replaced by another version, so the protocol is
                // negotiated anew.
                self.era = ProtocolEra::default();
                let retry = self.backoff.failed(&why);
                self.failed(why, retry).await
            }
        }
    }

    /// Watches a running server until it ends.
    async fn watch(&mut self, active: ActiveConnection) -> McpStep {
        let shared = self.shared.clone();
        let opened = Instant::now();
        shared.activity.touch();
        let viewers = shared.settings.viewers.clone();
        let mut lister = Lister::new(active.connection.clone(), viewers, shared.timeouts);
        let (mut is_up, mut failed_lists) = (false, 0);
        let forwarding = shared
            .context
            .forward(&active.connection, shared.timeouts.list);
        let mut forwarding = std::pin::pin!(forwarding);
        let why = loop {
            tokio::select! {
                biased;
                why = active.connection.closed() => break explain_connection(&why),
                challenge = shared.login_demanded(active.number) => return self.login_required(challenge).await,
                listed = lister.next(&shared.doubt) => match listed {
                    Ok(listed) => {
                        self.backoff.record_success();
                        (is_up, failed_lists) = (true, 0);
                        self.take_list(listed);
                    }
                    Err(Error::LoginRequired { challenge }) => return self.login_required(challenge).await,
                    Err(Error::NotSent(why) | Error::ConnectionLost(why)) => break explain_connection(&why),
                    Err(error) => {
                        let why = explain(&error);
                        failed_lists += 1;
                        // A server at an address may have been replaced by one that speaks otherwise.
                        let is_address = !shared.is_program();
                        if is_address && failed_lists >= MAX_FAILED_LISTS && !shared.activity.is_needed() {
                            self.era = ProtocolEra::default();
                            break why;
                        }
                        let why = ErrorDetail::from(ServerFault::NotListed { why: why.into() });
                        shared.core.logs.note(&why.message);
                        shared.core.status.degraded(why);
                    }
                },
                never = &mut forwarding => match never {},
                () = shared.idle() => {
                    let state = shared.core.status.state();
                    shared.core.status.asleep();
                    if shared.activity.is_needed() {
                        // A call came at this very moment, and may use the connection already.
                        shared.core.status.awake(active.clone(), state);
                        continue;
                    }
                    shared.core.logs.note("Put to sleep: nobody needed it.");
                    self.disconnect().await;
                    return McpStep::Sleep;
                }
            }
        };
        let retry = if is_up {
            self.backoff.ended_after(opened.elapsed(), &why)
        } else {
            self.backoff.failed(&why)
        };
        if is_up && retry == RetryDecision::Again(Duration::ZERO) {
            self.start_slot = StartSlot::Skip;
        }
        self.failed(why, retry).await
    }

    fn take_list(&self, listed: ListedTools) {
        let status = &self.shared.core.status;
        let count = listed.tools.len();
        let before = status.status();
        if before.stale || before.tools != count {
            self.shared
                .core
                .logs
                .note(format!("It offers {count} tools."));
        }
        let offer = OfferedTools::new(listed.tools).with_output_schemas(listed.output_schemas);
        status.listed(offer, listed.problems);
    }

    async fn sleep(&mut self) -> McpStep {
        let shared = self.shared.clone();
        shared.core.status.asleep();
        shared.activity.wait_for_call().await;
        shared.core.logs.note("Woken by a call.");
        McpStep::Start
    }

    /// Handles a server that ended or failed to start.
    async fn failed(&mut self, why: ErrorDetail, retry: RetryDecision) -> McpStep {
        let shared = self.shared.clone();
        shared.core.logs.note(match retry {
            RetryDecision::Again(wait) if wait.is_zero() => {
                format!("It is started again at once. {why}")
            }
            RetryDecision::Again(wait) | RetryDecision::GiveUp(wait) => {
                format!("It is started again in {:.1} s. {why}", wait.as_secs_f32())
            }
        });
        let cause = shared.core.logs.cause();
        let cause = Some(cause).filter(|cause| shared.is_program() && !cause.lines.is_empty());
        match retry {
            RetryDecision::Again(_) => shared.core.status.restarting(why, cause),
            RetryDecision::GiveUp(_) => {
                let again = Instant::now() + shared.retry_after();
                shared.core.status.failed(why, cause, Some(again));
            }
        }
        self.disconnect().await;
        McpStep::Wait(retry)
    }

    async fn login_required(&mut self, challenge: Option<String>) -> McpStep {
        self.shared.core.logs.note("It requires a log-in.");
        self.shared.core.status.login_required(challenge);
        self.disconnect().await;
        McpStep::WaitWithoutWake(MINUTE)
    }

    async fn wait(&mut self, retry: RetryDecision) -> McpStep {
        let shared = self.shared.clone();
        let now = Instant::now();
        let (wait, soonest) = match retry {
            RetryDecision::Again(wait) => (wait, WANTED_RETRY),
            RetryDecision::GiveUp(wait) => (wait, shared.retry_after()),
        };
        sleep(wait.min(soonest)).await;
        tokio::select! {
            () = sleep_until(now + wait) => {}
            () = shared.activity.wait_for_call() => if let RetryDecision::GiveUp(_) = retry {
                shared.core.logs.note("A call wants it: it is tried again.");
                shared.core.status.starting();
                self.start_slot = StartSlot::Skip;
            }
        }
        shared.core.status.count_restart();
        McpStep::Start
    }

    /// Ends the connection, if there is one, and its process; and what is left of a start that
    /// was given up.
    async fn disconnect(&mut self) {
        self.cleanup.close();
        if timeout(self.shared.timeouts.end, self.cleanup.wait())
            .await
            .is_err()
        {
            self.shared
                .core
                .logs
                .note("Its installation did not end in time.");
        }
        self.cleanup.reopen();
        // The connection stays in `self` until it is closed: if this step is cancelled, the next
        // one closes it.
        let Some(active) = self.active.clone() else {
            return;
        };
        let closed = timeout(self.shared.timeouts.end, active.connection.close()).await;
        if closed.is_err() {
            self.shared.core.logs.note("It did not end in time.");
        }
        self.active = None;
    }
}

impl McpShared {
    fn is_program(&self) -> bool {
        matches!(self.settings.config.transport, McpTransport::Stdio { .. })
    }

    fn retry_after(&self) -> Duration {
        if self.is_program() {
            self.timeouts.retry
        } else {
            ADDRESS_RETRY
        }
    }

    /// Comes back when a log-in was asked for over this connection, or a newer one, with what was said about it.
    async fn login_demanded(&self, number: u64) -> Option<String> {
        let mut demand = self.login_demand.subscribe();
        let newest = demand.wait_for(|newest| newest.number >= number).await;
        // The sender is ours: waiting cannot fail.
        newest.ok()?.challenge.clone()
    }

    /// Returns when the server has been idle long enough to sleep.
    async fn idle(&self) {
        match self.settings.config.sleep_after_ms {
            Some(long) => self.activity.idle(Duration::from_millis(long)).await,
            None => std::future::pending().await,
        }
    }
}
