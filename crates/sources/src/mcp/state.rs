//! What is known about a server at this moment. Its supervisor writes it,
//! everybody reads it from memory.

use std::sync::Arc;

use super::link::{About, Link};
use super::offer::Offer;
use super::startup::Startup;
use crate::cause::Cause;
use crate::shown::Shown;
use tenon_domain::{SourceState, ToolDefinition};
use tokio::time::Instant;

/// How a server is, for those who show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub state: SourceState,
    pub tools: usize,
    /// Counts up whenever the tools have changed: who keeps a copy asks again then.
    pub revision: u64,
    /// What is listed is what it offered when it last worked.
    pub stale: bool,
    /// Sentences.
    pub problems: Vec<String>,
    pub about: Option<About>,
    pub restarts: u64,
    pub pid: Option<u32>,
    /// How far a start is that is under way.
    pub startup: Option<Startup>,
    /// Why its program ended, where it has and is not up again.
    pub cause: Option<Cause>,
    /// It asks who comes; what its answer said about where to log in.
    pub asks_login: Option<Option<String>>,
}

/// What a call finds when it wants to go through.
#[derive(Clone)]
pub(super) enum Door {
    Open(Open),
    /// It is on its way up.
    Soon,
    Asleep,
    Closed(Closed),
}

/// A link, and the how manieth it is.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) number: u64,
    pub(super) link: Arc<Link>,
}

/// Why nobody should wait.
#[derive(Clone)]
pub(super) enum Closed {
    Failed {
        why: String,
        /// From then on a call has it tried again. None: that would not help.
        again: Option<Instant>,
    },
    LogIn,
    /// It has been stopped for good.
    Off,
}

impl Closed {
    /// Whether a call has it tried again at once.
    pub(super) fn may_try_again(&self) -> bool {
        match self {
            Self::Failed { again, .. } => again.is_some_and(|again| again <= Instant::now()),
            Self::LogIn | Self::Off => false,
        }
    }
}

pub(super) type State = Shown<Status, Offer, Door>;

impl State {
    pub(super) fn new(known: Vec<ToolDefinition>) -> Self {
        let status = Status {
            state: SourceState::Starting,
            tools: known.len(),
            revision: 0,
            stale: true,
            problems: Vec::new(),
            about: None,
            restarts: 0,
            pid: None,
            startup: None,
            cause: None,
            asks_login: None,
        };
        Self::of(status, Offer::new(known), Door::Soon)
    }

    pub(super) fn now(&self) -> SourceState {
        self.look(|status| status.state.clone())
    }

    /// It is on its way up, after it fell or not.
    pub(super) fn starting(&self) {
        self.turn(Door::Soon, |status| {
            status.state = SourceState::Starting;
            status.cause = None;
            // What it asked for before is not what it will ask for.
            status.asks_login = None;
        });
    }

    /// It can be called; what it offers is asked next.
    pub(super) fn opened(&self, open: Open) {
        let (about, pid) = (open.link.about().clone(), open.link.pid());
        self.turn(Door::Open(open), |status| {
            status.about = Some(about);
            status.pid = pid;
            status.startup = None;
            status.cause = None;
            status.asks_login = None;
            // One that had failed and may be called again is on its way up.
            status.state = SourceState::Starting;
        });
    }

    pub(super) fn listed(&self, offer: Offer, problems: Vec<String>) {
        self.change_all(|inner| {
            let status = &mut inner.status;
            status.state = SourceState::Ready;
            status.stale = false;
            status.problems = problems;
            if offer.tools != inner.offer.tools {
                status.tools = offer.tools.len();
                status.revision += 1;
                inner.offer = Arc::new(offer);
            }
        });
    }

    /// It can be called, but not all is well.
    pub(super) fn degraded(&self, why: String) {
        self.change(|status| status.state = SourceState::Degraded { why });
    }

    /// It ended, and calls may wait until it is back.
    pub(super) fn fallen(&self, why: String, cause: Option<Cause>) {
        self.turn(Door::Soon, |status| {
            status.state = SourceState::Degraded { why };
            gone(status);
            status.cause = cause;
        });
    }

    pub(super) fn failed(&self, why: String, cause: Option<Cause>, again: Option<Instant>) {
        let closed = Closed::Failed {
            why: why.clone(),
            again,
        };
        self.turn(Door::Closed(closed), |status| {
            status.state = SourceState::Failed { why };
            gone(status);
            status.cause = cause;
        });
    }

    /// How far its start is.
    pub(super) fn startup(&self, startup: Startup) {
        self.change(|status| status.startup = Some(startup));
    }

    pub(super) fn asks_login(&self, challenge: Option<String>) {
        self.turn(Door::Closed(Closed::LogIn), |status| {
            let why = "It asks for a log-in.".into();
            status.state = SourceState::Failed { why };
            gone(status);
            status.asks_login = Some(challenge);
        });
    }

    /// It was to sleep, but there came a call.
    pub(super) fn awake(&self, open: Open, state: SourceState) {
        let pid = open.link.pid();
        self.turn(Door::Open(open), |status| {
            status.state = state;
            status.pid = pid;
        });
    }

    pub(super) fn asleep(&self) {
        self.turn(Door::Asleep, |status| {
            status.state = SourceState::Sleeping;
            status.pid = None;
            status.startup = None;
        });
    }

    pub(super) fn off(&self) {
        self.turn(Door::Closed(Closed::Off), |status| {
            status.state = SourceState::Off;
            gone(status);
        });
    }

    /// It is being started once more.
    pub(super) fn count_restart(&self) {
        self.change(|status| status.restarts += 1);
    }
}

/// The process is no more; what it offered stays, marked.
fn gone(status: &mut Status) {
    status.pid = None;
    status.startup = None;
    status.cause = None;
    status.stale = true;
    status.asks_login = None;
}
