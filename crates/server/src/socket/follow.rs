//! One chat that a page follows: its past events, then its live ones.
//!
//! What waits for a page to take it is bounded by its bytes, of each user and of all: where
//! there is no room, what was read is dropped, and read again once there is some. While the database
//! is away it is asked again and again: the page is told so once, and need not ask itself.

use std::convert::Infallible;
use std::time::Duration;

use tenon_agent::feed::{ChatWatch, LiveUpdate, WatchEvent};
use tenon_domain::{ChatId, UserId};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::error::ApiError;
use crate::wire::ServerFrame;
use tenon_app::app::App;
use tenon_app::budget::{BudgetError, BudgetShare};

/// How many events are read from the store at a time for a page that takes them one by one. Each
/// may have a megabyte.
const PAGE: usize = 16;

/// How much is read at a time for a page that takes several at once: little enough to be waited
/// for, enough that a long chat is a dozen frames.
const BATCH_BYTES: i64 = 256 * 1024;

/// How soon a store that could not be read is read again; doubled each time.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(8);

/// What is over so soon nobody need be told.
const UNTOLD_TIME: Duration = Duration::from_secs(1);

/// Shorter frames may wait for a page without a share of the budget.
const SMALL_FRAME_BYTES: usize = 4 * 1024;

/// A frame about a chat, written, and the memory that it takes until the page has it.
pub(super) struct ChatFrame {
    pub(super) text: String,
    _room: Option<BudgetShare>,
}

/// How a page takes what is past.
#[derive(Clone, Copy)]
pub(super) enum Replay {
    OneByOne,
    Batched,
}

impl Replay {
    pub(super) fn new(batched: bool) -> Self {
        if batched {
            Self::Batched
        } else {
            Self::OneByOne
        }
    }
}

pub(super) struct Follower {
    pub(super) app: App,
    pub(super) user: UserId,
    pub(super) chat: ChatId,
    pub(super) outbox: mpsc::Sender<ChatFrame>,
    /// The number of the last event that was sent; before the first look what the page says it is.
    pub(super) last: i64,
    pub(super) replay: Replay,
    /// The reservation for the next frame, once it has been granted.
    pub(super) room: Option<(usize, BudgetShare)>,
    /// The watch of the round before.
    pub(super) former: Option<ChatWatch>,
    pub(super) access: ChatAccess,
    pub(super) outage: Option<StoreOutage>,
}

/// The store cannot be read.
pub(super) struct StoreOutage {
    since: Instant,
    retry_interval: Duration,
    is_told: bool,
}

/// Whether it was looked up that a chat is its follower's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatAccess {
    Unknown,
    Allowed,
}

/// Why a round of following ended before its time.
enum FollowError {
    /// Nobody reads any more.
    Gone,
    /// So many bytes do not fit beside what waits already.
    NoRoom(usize),
    /// The database is away, as far as one can tell.
    Unread(ApiError),
    Failed(ApiError),
}

impl From<tenon_store::Error> for FollowError {
    fn from(error: tenon_store::Error) -> Self {
        match error {
            tenon_store::Error::Database(_) | tenon_store::Error::NoAnswer(_) => {
                Self::Unread(error.into())
            }
            _ => Self::Failed(error.into()),
        }
    }
}

impl StoreOutage {
    fn begin() -> Self {
        Self {
            since: Instant::now(),
            retry_interval: RETRY_INTERVAL,
            is_told: false,
        }
    }
}

impl Follower {
    /// Follows until the page is gone or an error has to be sent.
    pub(super) async fn follow(mut self) {
        let Err(Some(reason)) = self.stream().await else {
            return;
        };
        let _ = self.tell(reason).await;
    }

    async fn tell(&mut self, reason: ApiError) -> Result<(), FollowError> {
        let frame = ServerFrame::Error {
            chat_id: Some(self.chat.clone()),
            error: reason.detail(),
        };
        self.send(&frame).await
    }

    /// Sends what happened after the last one, then what happens. Ends with an error
    /// alone: none means that nobody reads any more.
    async fn stream(&mut self) -> Result<Infallible, Option<ApiError>> {
        loop {
            match self.round().await {
                Ok(()) => {}
                Err(FollowError::NoRoom(bytes)) => {
                    let room = self.app.budget.send(&self.user, bytes).await;
                    let room = room.map_err(|exceeded: BudgetError| Some(exceeded.into()))?;
                    self.room = Some((bytes, room));
                }
                Err(FollowError::Unread(error)) => {
                    let outage = self.outage.get_or_insert_with(StoreOutage::begin);
                    let wait = outage.retry_interval;
                    outage.retry_interval = (wait * 2).min(MAX_RETRY_INTERVAL);
                    if !outage.is_told && outage.since.elapsed() > UNTOLD_TIME {
                        outage.is_told = true;
                        self.tell(error).await.map_err(|_| None)?;
                    }
                    sleep(wait).await;
                }
                Err(FollowError::Gone) => return Err(None),
                Err(FollowError::Failed(error)) => return Err(Some(error)),
            }
        }
    }

    /// Watches first and reads the past second, until it has to begin again.
    async fn round(&mut self) -> Result<(), FollowError> {
        if self.access == ChatAccess::Unknown {
            let chat = self.app.store.chat(&self.user, &self.chat).await?;
            // A number from a future that was lost, as by a restored backup, must not mean silence.
            self.last = self.last.clamp(0, chat.last_seq);
            self.access = ChatAccess::Allowed;
        }
        let mut watch = self.app.agent.feed().watch(&self.chat);
        // The old watch is dropped only once the new one exists, so that relaying from another
        // server does not stop in between.
        drop(self.former.take());
        let ended = self.follow_watch(&mut watch).await;
        self.former = Some(watch);
        ended
    }

    async fn follow_watch(&mut self, watch: &mut ChatWatch) -> Result<(), FollowError> {
        while self.catch_up().await? {}
        self.outage = None;
        for delta in std::mem::take(&mut watch.draft) {
            self.send(&ServerFrame::Delta(delta)).await?;
        }
        if let Some(waiting) = watch.waiting.take() {
            self.send(&ServerFrame::Waiting(waiting)).await?;
        }
        for progress in std::mem::take(&mut watch.progress) {
            self.send(&ServerFrame::Progress(progress)).await?;
        }
        let caught_up = ServerFrame::CaughtUp {
            chat_id: self.chat.clone(),
            seq: self.last,
        };
        self.send(&caught_up).await?;
        loop {
            let frame = match watch.next().await {
                WatchEvent::Live(LiveUpdate::Event(event)) if event.seq <= self.last => continue,
                // Another process wrote to this chat, so the missing events are read from the
                // store.
                WatchEvent::Live(LiveUpdate::Event(event)) if event.seq > self.last + 1 => {
                    return Ok(());
                }
                WatchEvent::Live(LiveUpdate::Event(event)) => {
                    let seq = event.seq;
                    self.send(&ServerFrame::Event((*event).clone())).await?;
                    self.last = seq;
                    continue;
                }
                WatchEvent::Live(LiveUpdate::Delta(delta)) => ServerFrame::Delta((*delta).clone()),
                WatchEvent::Live(LiveUpdate::Waiting(waiting)) => {
                    ServerFrame::Waiting((*waiting).clone())
                }
                WatchEvent::Live(LiveUpdate::PromptProgress(progress)) => {
                    ServerFrame::PromptProgress((*progress).clone())
                }
                WatchEvent::Live(LiveUpdate::Progress(progress)) => {
                    ServerFrame::Progress((*progress).clone())
                }
                WatchEvent::Behind => return Ok(()),
                WatchEvent::Closed => {
                    let deleted = ApiError::from(tenon_store::Error::NotFound("chat"));
                    return Err(FollowError::Failed(deleted));
                }
            };
            self.send(&frame).await?;
        }
    }

    /// Sends some of the events that it has not sent. Whether there are more.
    async fn catch_up(&mut self) -> Result<bool, FollowError> {
        match self.replay {
            Replay::OneByOne => self.catch_up_one_by_one().await,
            Replay::Batched => self.catch_up_batched().await,
        }
    }

    async fn catch_up_one_by_one(&mut self) -> Result<bool, FollowError> {
        // The page is waited for before anything is read for it.
        let outbox = self.outbox.clone();
        let places = outbox
            .reserve_many(PAGE)
            .await
            .map_err(|_| FollowError::Gone)?;
        let budget = self.app.budget.clone();
        let _turn = budget.replay().await;
        let events = self.app.store.events(&self.chat, self.last, PAGE as u64);
        let events = events.await?;
        let more = events.len() == PAGE;
        for (event, place) in events.into_iter().zip(places) {
            let seq = event.seq;
            place.send(self.write(&ServerFrame::Event(event))?);
            self.last = seq;
        }
        Ok(more)
    }

    async fn catch_up_batched(&mut self) -> Result<bool, FollowError> {
        let outbox = self.outbox.clone();
        let place = outbox.reserve().await.map_err(|_| FollowError::Gone)?;
        let budget = self.app.budget.clone();
        let _turn = budget.replay().await;
        let store = &self.app.store;
        let events = store.events_within(&self.chat, self.last, BATCH_BYTES);
        let events = events.await?;
        let Some(last) = events.last().map(|event| event.seq) else {
            return Ok(false);
        };
        let chat_id = self.chat.clone();
        place.send(self.write(&ServerFrame::Events { chat_id, events })?);
        self.last = last;
        Ok(true)
    }

    async fn send(&mut self, frame: &ServerFrame) -> Result<(), FollowError> {
        let frame = self.write(frame)?;
        self.outbox.send(frame).await.map_err(|_| FollowError::Gone)
    }

    fn write(&mut self, frame: &ServerFrame) -> Result<ChatFrame, FollowError> {
        let text = serde_json::to_string(frame)
            .map_err(|error| FollowError::Failed(tenon_store::Error::from(error).into()))?;
        let length = text.len();
        if length <= SMALL_FRAME_BYTES {
            return Ok(ChatFrame { text, _room: None });
        }
        let waited_for = self.room.take().filter(|(bytes, _)| *bytes >= length);
        let room = match waited_for {
            Some((_, room)) => Some(room),
            None => self.app.budget.try_send(&self.user, length),
        };
        let _room = Some(room.ok_or(FollowError::NoRoom(length))?);
        Ok(ChatFrame { text, _room })
    }
}
