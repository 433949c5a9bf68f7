//! Live state of a chat: its watchers, and the drafts that later watchers get first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tenon_domain::{CallId, CallProgress, ChatId, Delta, MessageId, ModelWait};
use tokio::sync::broadcast;

use super::message_draft::MessageDraft;
use super::{LiveUpdate, WatchEvent};

/// How far a watcher may fall behind before it has to catch up from the store.
const WATCHER_QUEUE: usize = 256;

pub(super) type Channels = Arc<Mutex<HashMap<ChatId, Channel>>>;

/// A chat with a subscriber or a turn in progress.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) live: broadcast::Sender<WatchEvent>,
    pub(super) draft: Option<MessageDraft>,
    /// The announced delay of a model request, and when it ends.
    waiting: Option<(ModelWait, Instant)>,
    /// The last progress that each running call reported.
    pub(super) progress: HashMap<CallId, Arc<CallProgress>>,
}

impl Channel {
    pub(super) fn new() -> Self {
        Self {
            live: broadcast::Sender::new(WATCHER_QUEUE),
            draft: None,
            waiting: None,
            progress: HashMap::new(),
        }
    }

    /// Nobody may be watching, here and below.
    pub(super) fn send(&self, update: LiveUpdate) {
        let _ = self.live.send(WatchEvent::Live(update));
    }

    pub(super) fn send_behind(&self) {
        let _ = self.live.send(WatchEvent::Behind);
    }

    pub(super) fn is_watched(&self) -> bool {
        self.live.receiver_count() > 0
    }

    fn is_idle(&self) -> bool {
        self.draft.is_none()
            && self.waiting.is_none()
            && self.progress.is_empty()
            && !self.is_watched()
    }

    /// The draft of this message; another message's is over.
    pub(super) fn draft_of(&mut self, message: &MessageId) -> &mut MessageDraft {
        self.draft.take_if(|draft| draft.message != *message);
        self.draft
            .get_or_insert_with(|| MessageDraft::new(message.clone()))
    }

    pub(super) fn set_waiting(&mut self, waiting: Option<ModelWait>) {
        self.waiting = waiting.map(|waiting| {
            let until = Instant::now() + Duration::from_millis(waiting.wait_ms);
            (waiting, until)
        });
    }

    /// The message in progress as deltas at offset 0.
    pub(super) fn draft_deltas(&self, chat: &ChatId) -> Vec<Delta> {
        let draft = self.draft.as_ref().map(|draft| draft.deltas(chat));
        draft.unwrap_or_default()
    }

    /// How long the provider will still delay the turn.
    pub(super) fn waiting(&self) -> Option<ModelWait> {
        self.waiting.as_ref().map(|(waiting, until)| ModelWait {
            wait_ms: until.saturating_duration_since(Instant::now()).as_millis() as u64,
            ..waiting.clone()
        })
    }

    pub(super) fn call_progress(&self) -> Vec<CallProgress> {
        let progress = self.progress.values();
        progress
            .map(|progress| CallProgress::clone(progress))
            .collect()
    }

    /// The message is whole: it is in the store.
    pub(super) fn finish_message(&mut self, message: &MessageId) {
        self.draft.take_if(|draft| draft.message == *message);
        self.waiting = None;
    }

    /// Forgets what was live.
    pub(super) fn clear(&mut self) {
        self.draft = None;
        self.waiting = None;
        self.progress.clear();
    }
}

pub(super) fn forget_if_idle(channels: &mut HashMap<ChatId, Channel>, chat: &ChatId) {
    if channels.get(chat).is_some_and(Channel::is_idle) {
        channels.remove(chat);
    }
}
