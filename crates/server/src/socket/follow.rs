//! One chat that a page follows: its past events, then its live ones.
//!
//! What waits for a page to take it is bounded by its bytes, of each user and of all: where
//! there is no room, what was read is dropped, and read again once there is some.

use std::convert::Infallible;

use tenon_agent::feed::{ChatWatch, LiveUpdate, WatchEvent};
use tenon_domain::{ChatId, UserId};
use tokio::sync::mpsc;

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

/// What is shorter may wait for a page without a share of the budget.
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
    /// The number of the last event that was sent.
    pub(super) last: i64,
    pub(super) replay: Replay,
    /// What was waited for, for the next frame.
    pub(super) room: Option<(usize, BudgetShare)>,
    /// The watch of the round before.
    pub(super) former: Option<ChatWatch>,
}

/// Why a round of following ended before its time.
enum FollowError {
    /// Nobody reads any more.
    Gone,
    /// So many bytes do not fit beside what waits already.
    NoRoom(usize),
    Failed(ApiError),
}

impl From<tenon_store::Error> for FollowError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Follower {
    /// Follows until the page is gone or an error has to be sent.
    pub(super) async fn follow(mut self) {
        let Err(Some(reason)) = self.stream().await else {
            return;
        };
        let frame = ServerFrame::Error {
            chat_id: Some(self.chat.clone()),
            error: reason.detail(),
        };
        let _ = self.send(&frame).await;
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
                Err(FollowError::Gone) => return Err(None),
                Err(FollowError::Failed(error)) => return Err(Some(error)),
            }
        }
    }

    /// Watches first and reads the past second, until it has to begin again.
    async fn round(&mut self) -> Result<(), FollowError> {
        let mut watch = self.app.agent.feed().watch(&self.chat);
        // Not before there is another one: nobody may follow the chat at another server in between.
        drop(self.former.take());
        let ended = self.follow_watch(&mut watch).await;
        self.former = Some(watch);
        ended
    }

    async fn follow_watch(&mut self, watch: &mut ChatWatch) -> Result<(), FollowError> {
        while self.catch_up().await? {}
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
                // Another process wrote to this chat: the store knows what is between.
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
