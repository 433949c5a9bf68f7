//! How far a call is, told no more often than a screen can show it. The last
//! word always arrives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_domain::{CallId, CallProgress, ChatId};
use tenon_tools::Progress;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::Feed;

/// Ten times a second looks like always.
const APART: Duration = Duration::from_millis(100);

/// It stands on one line.
const MAX_MESSAGE: usize = 300;

pub(super) struct Telling {
    feed: Feed,
    chat: ChatId,
    call: CallId,
    /// Tools tell from threads of their own too.
    runtime: Handle,
    pace: Mutex<Pace>,
}

#[derive(Default)]
struct Pace {
    told_at: Option<Instant>,
    /// What came too soon; a task is on its way to tell it.
    kept: Option<CallProgress>,
    over: bool,
}

impl Telling {
    pub(super) fn new(feed: Feed, chat: &ChatId, call: &CallId) -> Arc<Self> {
        Arc::new(Self {
            feed,
            chat: chat.clone(),
            call: call.clone(),
            runtime: Handle::current(),
            pace: Mutex::default(),
        })
    }

    pub(super) fn tell(self: &Arc<Self>, progress: Progress) {
        let Some(progress) = self.clean(progress) else {
            return;
        };
        let mut pace = self.pace();
        if pace.over {
            return;
        }
        let now = Instant::now();
        let wait = match pace.told_at {
            Some(told_at) => (told_at + APART).saturating_duration_since(now),
            None => Duration::ZERO,
        };
        if wait.is_zero() && pace.kept.is_none() {
            pace.told_at = Some(now);
            self.feed.progress(progress);
            return;
        }
        if pace.kept.replace(progress).is_none() {
            let telling = self.clone();
            self.runtime.spawn(async move {
                tokio::time::sleep(wait).await;
                telling.pace().tell_kept(&telling.feed);
            });
        }
    }

    /// The call has ended.
    pub(super) fn finish(&self) {
        let mut pace = self.pace();
        pace.tell_kept(&self.feed);
        pace.over = true;
        if pace.told_at.is_some() {
            self.feed.progress_over(&self.chat, &self.call);
        }
    }

    /// It comes from outside: what is no number is told to nobody.
    fn clean(&self, progress: Progress) -> Option<CallProgress> {
        let is_number = |number: &f64| number.is_finite();
        Some(CallProgress {
            chat_id: self.chat.clone(),
            call_id: self.call.clone(),
            progress: Some(progress.progress).filter(is_number)?,
            total: progress.total.filter(is_number),
            message: progress
                .message
                .map(|message| message.chars().take(MAX_MESSAGE).collect()),
        })
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pace {
    fn tell_kept(&mut self, feed: &Feed) {
        if let Some(progress) = self.kept.take() {
            self.told_at = Some(Instant::now());
            feed.progress(progress);
        }
    }
}
