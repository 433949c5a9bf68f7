//! What is known about a server at this moment. Its keeper writes it, everybody
//! reads it from memory.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tenon_domain::SourceState;
use tokio::sync::watch;

use super::line::Line;
use super::offer::{About, Change, Offer};

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

/// The state, the tools and the door.
pub(super) struct Board {
    inner: Mutex<Inner>,
    door: watch::Sender<Door>,
    changes: watch::Sender<u64>,
}

struct Inner {
    status: Status,
    offer: Arc<Offer>,
}

/// What was read, as far as the board shows it.
pub(super) struct News {
    pub(super) offer: Offer,
    pub(super) about: About,
    pub(super) problems: Vec<String>,
    pub(super) change: Option<Change>,
}

impl Board {
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
        Self {
            inner: Mutex::new(Inner {
                status,
                offer: Arc::default(),
            }),
            door: watch::Sender::new(Door::Soon),
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn status(&self) -> Status {
        self.with(|inner| inner.status.clone())
    }

    pub(super) fn state(&self) -> SourceState {
        self.with(|inner| inner.status.state.clone())
    }

    pub(super) fn offer(&self) -> Arc<Offer> {
        self.with(|inner| inner.offer.clone())
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn door(&self) -> Door {
        self.door.borrow().clone()
    }

    pub(super) fn watch_door(&self) -> watch::Receiver<Door> {
        self.door.subscribe()
    }

    /// It is on its way up.
    pub(super) fn starting(&self) {
        self.change_all(|inner| inner.status.state = SourceState::Starting);
        self.door.send_replace(Door::Soon);
    }

    /// What it offered last is listed until it says otherwise.
    pub(super) fn known(&self, news: News) {
        self.change_all(|inner| inner.take(news));
    }

    /// What it offered last can be called; whether it is still there shows then.
    pub(super) fn opened(&self, line: Arc<Line>) {
        self.door.send_replace(Door::Open(line));
    }

    /// It was read. None: it is what it was.
    pub(super) fn read(&self, line: Arc<Line>, news: Option<News>, problems: Vec<String>) {
        self.change_all(|inner| {
            if let Some(news) = news {
                inner.take(news);
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
        self.change_all(|inner| {
            inner.status.state = SourceState::Degraded { why };
            inner.status.stale = true;
        });
        self.opened(line);
    }

    pub(super) fn failed(&self, why: String) {
        self.change_all(|inner| {
            inner.status.state = SourceState::Failed { why: why.clone() };
            inner.status.stale = true;
        });
        self.door.send_replace(Door::Failed(why));
    }

    pub(super) fn off(&self) {
        self.change_all(|inner| inner.status.state = SourceState::Off);
        self.door.send_replace(Door::Off);
    }

    /// What stays as it was is told to nobody.
    fn change_all(&self, change: impl FnOnce(&mut Inner)) {
        let is_new = self.with(|inner| {
            let before = inner.status.clone();
            change(inner);
            inner.status != before
        });
        if is_new {
            self.changes.send_modify(|times| *times += 1);
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    fn take(&mut self, news: News) {
        let status = &mut self.status;
        status.tools = news.offer.len();
        status.revision += 1;
        status.problems = news.problems;
        status.about = Some(Arc::new(news.about));
        status.change = news.change.map(Arc::new).or(status.change.take());
        self.offer = Arc::new(news.offer);
    }
}
