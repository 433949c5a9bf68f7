//! The task that keeps one server up: starting → ready → fallen → starting …
//!
//! It owns the link. Whatever it is doing, it can be told to restart or to stop,
//! and then leaves what it was doing at once: each step leaves nothing behind
//! but `self.line`, which is closed.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tenon_domain::SourceState;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::backoff::{Advice, Backoff, LONGEST};
use super::link::{Era, Link, Listed, NoLink, Opening};
use super::lister::Lister;
use super::offer::Offer;
use super::server::Shared;
use super::settings::Start;
use super::state::Line;

/// While a call waits for it, one that fell is tried this often at least.
const WANTED: Duration = Duration::from_secs(1);

struct Supervisor {
    shared: Arc<Shared>,
    line: Option<Line>,
    /// How many links there were.
    links: u64,
    era: Era,
    backoff: Backoff,
    turn: Turn,
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
    Watch(Line),
    /// Wait, then start again.
    Wait(Advice),
    Sleep,
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
        line: None,
        links: 0,
        era: Era::default(),
        backoff: Backoff::default(),
        turn: Turn::default(),
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
    shared.board.off();
    supervisor.hang_up().await;
    shared.logs.note("Stopped.");
}

impl Supervisor {
    async fn step(&mut self, next: Next) -> Next {
        match next {
            Next::Start => self.start().await,
            Next::Watch(line) => self.watch(line).await,
            Next::Wait(advice) => self.wait(advice).await,
            Next::Sleep => self.sleep().await,
            Next::Restart => {
                self.shared.board.starting();
                self.shared.logs.note("Restarted on request.");
                self.hang_up().await;
                self.backoff = Backoff::default();
                self.shared.board.count_restart();
                Next::Start
            }
        }
    }

    async fn start(&mut self) -> Next {
        let shared = self.shared.clone();
        // One that has failed stays so until it has done better: nobody should wait for it.
        if !matches!(shared.board.state(), SourceState::Failed { .. }) {
            shared.board.starting();
        }
        match self.open().await {
            Ok(link) => {
                self.links += 1;
                self.era = link.era();
                shared.logs.note(match link.pid() {
                    Some(pid) => format!("Started, process {pid}."),
                    None => "Connected.".into(),
                });
                let line = Line {
                    number: self.links,
                    link,
                };
                self.line = Some(line.clone());
                shared.board.opened(line.clone());
                Next::Watch(line)
            }
            Err(NoLink::LogIn { challenge }) => self.log_in(challenge).await,
            Err(NoLink::Failed(why)) => {
                // It may speak otherwise than it did.
                self.era = Era::default();
                let advice = self.backoff.failed();
                self.fell(why, advice).await
            }
        }
    }

    /// A link, once it is this server's turn. The turn is over when there is one,
    /// or when it takes so long that others should have theirs.
    async fn open(&mut self) -> Result<Arc<Link>, NoLink> {
        let (settings, patience) = (&self.shared.settings, self.shared.patience);
        let starts = settings.starts.clone();
        let turn = match std::mem::take(&mut self.turn) {
            Turn::Skipped => starts.try_acquire_owned().ok(),
            Turn::Awaited => {
                let turn = timeout(patience.start, starts.acquire_owned()).await;
                turn.ok().and_then(Result::ok)
            }
        };
        // Time is the backoff's measure of a start that hangs: standing in line is no part of it.
        self.backoff.begin();
        let opening = async {
            let filled = timeout(patience.start, settings.fill.fill(&settings.config)).await;
            let config = filled
                .unwrap_or_else(|_| Err("its variables could not be read in time".into()))
                .map_err(NoLink::Failed)?;
            Link::open(Opening {
                config,
                era: self.era,
                logs: self.shared.logs.clone(),
                patience: patience.start,
                tokens: settings.tokens.clone(),
                network: settings.network,
            })
            .await
        };
        let mut opening = std::pin::pin!(opening);
        tokio::select! {
            opened = &mut opening => return opened,
            () = sleep(patience.turn) => drop(turn),
        }
        // The link keeps to its patience; this is for the day it does not.
        let most = patience.start * 2;
        timeout(most, opening).await.unwrap_or_else(|_| {
            let why = format!("it did not answer within {} s", most.as_secs_f32());
            Err(NoLink::Failed(why))
        })
    }

    /// Keeps an eye on a server that is up, until it is no more.
    async fn watch(&mut self, line: Line) -> Next {
        let shared = self.shared.clone();
        let opened = Instant::now();
        shared.usage.touch();
        let mut lister = Lister::new(line.link.clone(), shared.patience.list);
        let mut is_up = false;
        loop {
            tokio::select! {
                biased;
                why = line.link.ended() => {
                    if is_up && opened.elapsed() >= shared.patience.steady {
                        self.backoff = Backoff::default();
                    }
                    let advice = match is_up {
                        true => self.backoff.fell(),
                        false => self.backoff.failed(),
                    };
                    if is_up && advice == Advice::Again(Duration::ZERO) {
                        self.turn = Turn::Skipped;
                    }
                    return self.fell(why, advice).await;
                }
                challenge = shared.refused(line.number) => return self.log_in(challenge).await,
                listed = lister.next(&shared.doubt) => match listed {
                    Ok(listed) => {
                        self.backoff.up();
                        is_up = true;
                        self.take(listed);
                    }
                    Err(NoLink::LogIn { challenge }) => return self.log_in(challenge).await,
                    Err(NoLink::Failed(why)) => {
                        let why = format!("Its tools could not be listed: {why}");
                        shared.logs.note(&why);
                        shared.board.degraded(why);
                    }
                },
                () = shared.idle() => {
                    let state = shared.board.state();
                    shared.board.asleep();
                    if shared.usage.is_needed() {
                        // A call came at this very moment, and may be over the link already.
                        shared.board.awake(line.clone(), state);
                        continue;
                    }
                    shared.logs.note("Put to sleep: nobody needed it.");
                    self.hang_up().await;
                    return Next::Sleep;
                }
            }
        }
    }

    fn take(&self, listed: Listed) {
        let board = &self.shared.board;
        let count = listed.tools.len();
        let before = board.status();
        if before.stale || before.tools != count {
            self.shared.logs.note(format!("It offers {count} tools."));
        }
        board.listed(Offer::new(listed.tools), listed.problems);
    }

    async fn sleep(&mut self) -> Next {
        let shared = self.shared.clone();
        shared.board.asleep();
        shared.usage.needed().await;
        shared.logs.note("Woken by a call.");
        Next::Start
    }

    /// It ended, or did not even begin.
    async fn fell(&mut self, why: String, advice: Advice) -> Next {
        let shared = self.shared.clone();
        shared.logs.note(match advice {
            Advice::Again(wait) if wait.is_zero() => format!("It is started again at once. {why}"),
            Advice::Again(wait) | Advice::GiveUp(wait) => {
                format!("It is started again in {:.1} s. {why}", wait.as_secs_f32())
            }
        });
        match advice {
            Advice::Again(_) => shared.board.fallen(why),
            Advice::GiveUp(_) => shared.board.failed(why),
        }
        self.hang_up().await;
        Next::Wait(advice)
    }

    async fn log_in(&mut self, challenge: Option<String>) -> Next {
        self.shared.logs.note("It asks for a log-in.");
        self.shared.board.asks_login(challenge);
        self.hang_up().await;
        Next::Wait(Advice::GiveUp(LONGEST))
    }

    async fn wait(&mut self, advice: Advice) -> Next {
        let now = Instant::now();
        match advice {
            Advice::GiveUp(wait) => sleep(wait).await,
            Advice::Again(wait) => {
                sleep(wait.min(WANTED)).await;
                tokio::select! {
                    () = sleep_until(now + wait) => {}
                    () = self.shared.usage.needed() => {}
                }
            }
        }
        self.shared.board.count_restart();
        Next::Start
    }

    /// This is a fault of ours: nothing a server does may lead here.
    async fn crashed(&mut self) -> Next {
        let source = &self.shared.settings.info.id;
        tracing::error!(%source, "the supervisor of an MCP server panicked");
        let why = "Tenon met a fault of its own while it talked to this server; its log says more";
        self.shared.board.failed(why.into());
        self.hang_up().await;
        Next::Wait(Advice::GiveUp(LONGEST))
    }

    /// Ends the link, if there is one, and the process behind it.
    async fn hang_up(&mut self) {
        // It stays ours until it is closed: who leaves this step halfway closes it in the next.
        let Some(line) = self.line.clone() else {
            return;
        };
        let closed = timeout(self.shared.patience.end, line.link.close()).await;
        if closed.is_err() {
            self.shared.logs.note("It did not end in time.");
        }
        self.line = None;
    }
}

impl Shared {
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
