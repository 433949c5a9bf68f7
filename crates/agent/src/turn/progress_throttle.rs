//! Throttles the progress of a call: at most ten updates a second, and always the last one.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tenon_domain::text::shorten;
use tenon_domain::{CallId, CallProgress, ChatId};
use tenon_tools::ProgressUpdate;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::Feed;
use crate::lock::lock;

const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// It is shown on one line.
const MAX_MESSAGE_CHARS: usize = 300;

pub(super) struct ProgressThrottle {
    feed: Feed,
    chat: ChatId,
    call: CallId,
    /// Tools may report from threads without a runtime.
    runtime: Handle,
    state: Mutex<ThrottleState>,
}

#[derive(Default)]
struct ThrottleState {
    sent_at: Option<Instant>,
    /// An update that came too soon; a task will send it.
    pending: Option<CallProgress>,
    finished: bool,
}

impl ProgressThrottle {
    pub(super) fn new(feed: Feed, chat: &ChatId, call: &CallId) -> Arc<Self> {
        Arc::new(Self {
            feed,
            chat: chat.clone(),
            call: call.clone(),
            runtime: Handle::current(),
            state: Mutex::default(),
        })
    }

    pub(super) fn report(self: &Arc<Self>, progress: ProgressUpdate) {
        let Some(progress) = self.sanitise(progress) else {
            return;
        };
        let mut state = self.state();
        if state.finished {
            return;
        }
        let now = Instant::now();
        let wait = match state.sent_at {
            Some(sent_at) => (sent_at + MIN_INTERVAL).saturating_duration_since(now),
            None => Duration::ZERO,
        };
        if wait.is_zero() && state.pending.is_none() {
            state.sent_at = Some(now);
            self.feed.progress(progress);
            return;
        }
        if state.pending.replace(progress).is_none() {
            let throttle = self.clone();
            self.runtime.spawn(async move {
                tokio::time::sleep(wait).await;
                throttle.state().send_pending(&throttle.feed);
            });
        }
    }

    /// The call has ended.
    pub(super) fn finish(&self) {
        let mut state = self.state();
        state.send_pending(&self.feed);
        state.finished = true;
        if state.sent_at.is_some() {
            self.feed.progress_over(&self.chat, &self.call);
        }
    }

    /// Untrusted input: what is not a finite number is dropped.
    fn sanitise(&self, progress: ProgressUpdate) -> Option<CallProgress> {
        let is_number = |number: &f64| number.is_finite();
        Some(CallProgress {
            chat_id: self.chat.clone(),
            call_id: self.call.clone(),
            progress: Some(progress.progress).filter(is_number)?,
            total: progress.total.filter(is_number),
            message: progress
                .message
                .map(|message| shorten(&message, MAX_MESSAGE_CHARS).into_owned()),
        })
    }

    fn state(&self) -> MutexGuard<'_, ThrottleState> {
        lock(&self.state)
    }
}

impl ThrottleState {
    fn send_pending(&mut self, feed: &Feed) {
        if let Some(progress) = self.pending.take() {
            self.sent_at = Some(Instant::now());
            feed.progress(progress);
        }
    }
}
