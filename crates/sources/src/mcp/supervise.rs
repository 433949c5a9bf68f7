//! The task that keeps one server up: starting → ready → fallen → starting …
//!
//! It owns the link. Whatever it is doing, it can be told to restart or to stop,
//! and then leaves what it was doing at once: each step leaves nothing behind
//! but `self.open`, which is closed.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tenon_domain::{McpTransport, SourceState};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::task::TaskTracker;

use super::backoff::{Backoff, MINUTE, Retry};
use super::link::{Era, Listed, NoLink};
use super::lister::Lister;
use super::offer::Offer;
use super::server::Shared;
use super::settings::Start;
use super::state::Open;

mod open;

use open::NoStart;

/// While a call waits for it, one that fell is tried this often at least.
const WANTED: Duration = Duration::from_secs(1);

/// How long after an address could not be reached a call may have it tried again.
const ADDRESS_RETRY: Duration = Duration::from_millis(500);

/// After so many lists in a row that came to nothing it is connected to anew.
const MAX_FAILED_LISTS: u32 = 3;

struct Supervisor {
    shared: Arc<Shared>,
    open: Option<Open>,
    /// How many links there were.
    links: u64,
    era: Era,
    backoff: Backoff,
    turn: Turn,
    /// Processes of starts that were given up.
    endings: TaskTracker,
}

/// Whether the next start stands in line with those of others.
#[derive(Default)]
enum Turn {
    #[default]
    Awaited,
    /// It was up a moment ago, and calls wait for it.
    Skipped,
}

/// What is to be done next.
enum Next {
    Start,
    Watch(Open),
    /// Wait, then start again. A call that wants it has it started sooner.
    Wait(Retry),
    /// The same where no call can help.
    LookAgain(Duration),
    Sleep,
    /// Do nothing until it is restarted: nothing else would help.
    Stay,
    /// End it first, and forget how it went.
    Restart,
}

/// Runs until the server is stopped or dropped.
pub(super) async fn supervise(shared: Arc<Shared>) {
    let _stopped = shared.stopped.clone().drop_guard();
    let mut next = match shared.settings.start {
        Start::Now => Next::Start,
        Start::OnCall => Next::Sleep,
    };
    let mut supervisor = Supervisor {
        shared: shared.clone(),
        open: None,
        links: 0,
        era: Era::default(),
        backoff: if shared.is_program() {
            Backoff::of_program(shared.patience.steady)
        } else {
            Backoff::of_address(shared.patience.steady)
        },
        turn: Turn::default(),
        endings: TaskTracker::new(),
    };
    loop {
        // A fault in here must not leave a server that is neither up nor tried again.
        let step = AssertUnwindSafe(Box::pin(supervisor.step(next))).catch_unwind();
        next = tokio::select! {
            biased;
            () = shared.stopping.cancelled() => break,
            () = shared.restart.notified() => Next::Restart,
            next = step => match next {
                Ok(next) => next,
                Err(_panic) => supervisor.crashed().await,
            },
        };
    }
    shared.state.off();
    supervisor.hang_up().await;
    shared.logs.note("Stopped.");
}

impl Supervisor {
    async fn step(&mut self, next: Next) -> Next {
        match next {
            Next::Start => self.start().await,
            Next::Watch(open) => self.watch(open).await,
            Next::Wait(retry) => self.wait(retry).await,
            Next::LookAgain(wait) => {
                sleep(wait).await;
                self.shared.state.count_restart();
                Next::Start
            }
            Next::Sleep => self.sleep().await,
            Next::Stay => std::future::pending().await,
            Next::Restart => {
                self.shared.state.starting();
                self.shared.logs.note("Restarted on request.");
                self.hang_up().await;
                self.backoff.reset();
                self.era = Era::default();
                self.shared.state.count_restart();
                Next::Start
            }
        }
    }

    async fn start(&mut self) -> Next {
        let shared = self.shared.clone();
        // One that has failed stays so until it has done better: nobody should wait for it.
        if !matches!(shared.state.now(), SourceState::Failed { .. }) {
            shared.state.starting();
        }
        match self.open_link().await {
            Ok(link) => {
                self.links += 1;
                self.era = link.era();
                shared.logs.note(match link.pid() {
                    Some(pid) => format!("Started, process {pid}."),
                    None => "Connected.".into(),
                });
                let open = Open {
                    number: self.links,
                    link,
                };
                self.open = Some(open.clone());
                shared.state.opened(open.clone());
                Next::Watch(open)
            }
            Err(NoStart::Unset(why)) => {
                shared
                    .logs
                    .note(format!("It is started when it has what it lacks. {why}"));
                shared.state.failed(why, None, None);
                Next::Stay
            }
            Err(NoStart::NoLink(NoLink::LogIn { challenge })) => self.log_in(challenge).await,
            Err(NoStart::NoLink(NoLink::Gone(why) | NoLink::Failed(why))) => {
                // It may speak otherwise than it did.
                self.era = Era::default();
                let retry = self.backoff.failed(&why);
                self.fell(why, retry).await
            }
        }
    }

    /// Keeps an eye on a server that is up, until it is no more.
    async fn watch(&mut self, open: Open) -> Next {
        let shared = self.shared.clone();
        let opened = Instant::now();
        shared.usage.touch();
        let viewers = shared.settings.viewers.clone();
        let mut lister = Lister::new(open.link.clone(), viewers, shared.patience);
        let (mut is_up, mut failed_lists) = (false, 0);
        let why = loop {
            tokio::select! {
                biased;
                why = open.link.ended() => break why,
                challenge = shared.refused(open.number) => return self.log_in(challenge).await,
                listed = lister.next(&shared.doubt) => match listed {
                    Ok(listed) => {
                        self.backoff.up();
                        (is_up, failed_lists) = (true, 0);
                        self.take(listed);
                    }
                    Err(NoLink::LogIn { challenge }) => return self.log_in(challenge).await,
                    Err(NoLink::Gone(why)) => break why,
                    Err(NoLink::Failed(why)) => {
                        failed_lists += 1;
                        // A server at an address may have been replaced by one that speaks otherwise.
                        let is_address = !shared.is_program();
                        if is_address && failed_lists >= MAX_FAILED_LISTS && !shared.usage.is_needed() {
                            self.era = Era::default();
                            break why;
                        }
                        let why = format!("Its tools could not be listed: {why}");
                        shared.logs.note(&why);
                        shared.state.degraded(why);
                    }
                },
                () = shared.idle() => {
                    let state = shared.state.now();
                    shared.state.asleep();
                    if shared.usage.is_needed() {
                        // A call came at this very moment, and may be over the link already.
                        shared.state.awake(open.clone(), state);
                        continue;
                    }
                    shared.logs.note("Put to sleep: nobody needed it.");
                    self.hang_up().await;
                    return Next::Sleep;
                }
            }
        };
        let retry = if is_up {
            self.backoff.fell_after(opened.elapsed(), &why)
        } else {
            self.backoff.failed(&why)
        };
        if is_up && retry == Retry::Again(Duration::ZERO) {
            self.turn = Turn::Skipped;
        }
        self.fell(why, retry).await
    }

    fn take(&self, listed: Listed) {
        let state = &self.shared.state;
        let count = listed.tools.len();
        let before = state.status();
        if before.stale || before.tools != count {
            self.shared.logs.note(format!("It offers {count} tools."));
        }
        state.listed(Offer::new(listed.tools), listed.problems);
    }

    async fn sleep(&mut self) -> Next {
        let shared = self.shared.clone();
        shared.state.asleep();
        shared.usage.needed().await;
        shared.logs.note("Woken by a call.");
        Next::Start
    }

    /// It ended, or did not even begin.
    async fn fell(&mut self, why: String, retry: Retry) -> Next {
        let shared = self.shared.clone();
        shared.logs.note(match retry {
            Retry::Again(wait) if wait.is_zero() => format!("It is started again at once. {why}"),
            Retry::Again(wait) | Retry::GiveUp(wait) => {
                format!("It is started again in {:.1} s. {why}", wait.as_secs_f32())
            }
        });
        let cause = shared.logs.cause();
        let cause = Some(cause).filter(|cause| shared.is_program() && !cause.lines.is_empty());
        match retry {
            Retry::Again(_) => shared.state.fallen(why, cause),
            Retry::GiveUp(_) => {
                let again = Instant::now() + shared.retry_after();
                shared.state.failed(why, cause, Some(again));
            }
        }
        self.hang_up().await;
        Next::Wait(retry)
    }

    async fn log_in(&mut self, challenge: Option<String>) -> Next {
        self.shared.logs.note("It asks for a log-in.");
        self.shared.state.asks_login(challenge);
        self.hang_up().await;
        Next::LookAgain(MINUTE)
    }

    async fn wait(&mut self, retry: Retry) -> Next {
        let shared = self.shared.clone();
        let now = Instant::now();
        let (wait, soonest) = match retry {
            Retry::Again(wait) => (wait, WANTED),
            Retry::GiveUp(wait) => (wait, shared.retry_after()),
        };
        sleep(wait.min(soonest)).await;
        tokio::select! {
            () = sleep_until(now + wait) => {}
            () = shared.usage.needed() => if let Retry::GiveUp(_) = retry {
                shared.logs.note("A call wants it: it is tried again.");
                shared.state.starting();
                self.turn = Turn::Skipped;
            }
        }
        shared.state.count_restart();
        Next::Start
    }

    /// This is a fault of ours: nothing a server does may lead here.
    async fn crashed(&mut self) -> Next {
        let source = &self.shared.settings.info.id;
        tracing::error!(%source, "the supervisor of an MCP server panicked");
        let why = "Tenon met a fault of its own while it talked to this server; its log says more";
        self.shared.state.failed(why.into(), None, None);
        self.hang_up().await;
        Next::LookAgain(MINUTE)
    }

    /// Ends the link, if there is one, and the process behind it; and what is left of a start
    /// that was given up.
    async fn hang_up(&mut self) {
        self.endings.close();
        if timeout(self.shared.patience.end, self.endings.wait())
            .await
            .is_err()
        {
            self.shared
                .logs
                .note("Its installation did not end in time.");
        }
        self.endings.reopen();
        // It stays ours until it is closed: who leaves this step halfway closes it in the next.
        let Some(open) = self.open.clone() else {
            return;
        };
        let closed = timeout(self.shared.patience.end, open.link.close()).await;
        if closed.is_err() {
            self.shared.logs.note("It did not end in time.");
        }
        self.open = None;
    }
}

impl Shared {
    fn is_program(&self) -> bool {
        matches!(self.settings.config.transport, McpTransport::Stdio { .. })
    }

    fn retry_after(&self) -> Duration {
        if self.is_program() {
            self.patience.retry
        } else {
            ADDRESS_RETRY
        }
    }

    /// Comes back when a log-in was asked for over this link, or a newer one, with what was said about it.
    async fn refused(&self, number: u64) -> Option<String> {
        let mut refused = self.refused.subscribe();
        let newest = refused.wait_for(|newest| newest.number >= number).await;
        // The sender is ours: waiting cannot fail.
        newest.ok()?.challenge.clone()
    }

    /// Comes back when it was not used for so long that it is to sleep.
    async fn idle(&self) {
        match self.settings.config.sleep_after_ms {
            Some(long) => self.usage.idle(Duration::from_millis(long)).await,
            None => std::future::pending().await,
        }
    }
}
