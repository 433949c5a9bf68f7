//! What is known about a server at this moment. Its keeper writes it, everybody
//! reads it from memory.

use std::sync::Arc;
use std::time::SystemTime;

use tenon_domain::SourceState;

use super::line::Line;
use super::offer::{About, Change, Offer};
use crate::shown::{Inner, Shown};

/// How a server is, for those who show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub state: SourceState,
    pub tools: usize,
    /// Counts up whenever the tools have changed: who keeps a copy asks again then.
    pub revision: u64,
    /// What is listed is what it offered when it was last read.
    pub stale: bool,
    /// Sentences.
    pub problems: Vec<String>,
    pub about: Option<Arc<About>>,
    /// When its document was last read, whether it was the same or not.
    pub read_at: Option<SystemTime>,
    /// What the last reading that changed anything has changed. Nothing, as long as
    /// there was nothing before it.
    pub change: Option<Arc<Change>>,
}

/// What a call finds when it wants to go through.
#[derive(Clone)]
pub(super) enum Door {
    Open(Arc<Line>),
    /// It is on its way up.
    Soon,
    Failed(String),
    /// It has been stopped for good.
    Off,
}

pub(super) type State = Shown<Status, Offer, Door>;

/// What was read, as far as it is shown.
pub(super) struct Findings {
    pub(super) offer: Offer,
    pub(super) about: About,
    pub(super) problems: Vec<String>,
    pub(super) change: Option<Change>,
    /// When, if that was before now.
    pub(super) read_at: Option<SystemTime>,
}

impl State {
    pub(super) fn new() -> Self {
        let status = Status {
            state: SourceState::Starting,
            tools: 0,
            revision: 0,
            stale: true,
            problems: Vec::new(),
            about: None,
            read_at: None,
            change: None,
        };
        Self::of(status, Offer::default(), Door::Soon)
    }

    pub(super) fn now(&self) -> SourceState {
        self.look(|status| status.state.clone())
    }

    /// It is on its way up.
    pub(super) fn starting(&self) {
        self.turn(Door::Soon, |status| status.state = SourceState::Starting);
    }

    /// What the one before it offered is listed as its own.
    pub(super) fn inherit(&self, status: Status, offer: Arc<Offer>) {
        self.change_all(|inner| {
            inner.status = Status {
                state: SourceState::Starting,
                stale: true,
                ..status
            };
            inner.offer = offer;
        });
    }

    /// What it offered last is listed until it says otherwise.
    pub(super) fn known(&self, findings: Findings) {
        self.change_all(|inner| inner.take(findings));
    }

    /// What it offered last can be called; whether it is still there shows then.
    pub(super) fn opened(&self, line: Arc<Line>) {
        self.swing(Door::Open(line));
    }

    /// It was read. None: it is what it was.
    pub(super) fn read(&self, line: Arc<Line>, findings: Option<Findings>, problems: Vec<String>) {
        self.change_all(|inner| {
            if let Some(findings) = findings {
                inner.take(findings);
            }
            let status = &mut inner.status;
            status.state = SourceState::Ready;
            status.stale = false;
            status.problems = problems;
            status.read_at = Some(SystemTime::now());
        });
        self.opened(line);
    }

    /// It was not read, but what it offered last may work.
    pub(super) fn degraded(&self, line: Arc<Line>, why: String) {
        self.turn(Door::Open(line), |status| {
            status.state = SourceState::Degraded { why };
            status.stale = true;
        });
    }

    pub(super) fn failed(&self, why: String) {
        self.turn(Door::Failed(why.clone()), |status| {
            status.state = SourceState::Failed { why };
            status.stale = true;
        });
    }

    pub(super) fn off(&self) {
        self.turn(Door::Off, |status| status.state = SourceState::Off);
    }
}

impl Inner<Status, Offer> {
    fn take(&mut self, findings: Findings) {
        let status = &mut self.status;
        status.tools = findings.offer.len();
        status.revision += 1;
        status.problems = findings.problems;
        status.about = Some(Arc::new(findings.about));
        status.read_at = findings.read_at.or(status.read_at);
        status.change = findings.change.map(Arc::new).or(status.change.take());
        self.offer = Arc::new(findings.offer);
    }
}
