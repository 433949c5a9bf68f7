//! Live updates of chats between servers, over the bus.
//!
//! A server whose pages watch a chat in which another server answers *follows* it there: it asks
//! that server for the draft, and from then on gets what is live as notes, together for all chats
//! every 40 ms. Of stored events they only say which draft is over, and whoever watches reads them in the
//! database, which says itself that there are new ones. What is missed shows by its offset, and is
//! asked for again. Without a bus, or while it is away, pages see what is stored.

mod followed;
mod followers;

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenon_bus::{Bus, BusState, IncomingRequest, MAX_NOTE_BYTES, Note, json_batches};
use tenon_domain::{
    CallId, CallProgress, ChatId, Delta, Event, EventBody, MessageId, ModelWait, PromptProgress,
};
use tenon_store::Store;
use tokio::sync::{mpsc, watch};
use tokio::time::interval;

use super::LiveUpdate;
use super::channel::{Channel, Channels};
use crate::lock::lock;
use followed::{FollowedChats, OwnerChange};
use followers::Followers;

/// Topics on the bus.
const FOLLOW: &str = "feed.follow";
const UNFOLLOW: &str = "feed.unfollow";
const RENEW: &str = "feed.renew";
const LIVE: &str = "feed.live";

/// How many batches of other servers may wait here.
const NOTE_QUEUE: usize = 1024;

/// How often a server says that it still follows.
const RENEW_INTERVAL: Duration = Duration::from_secs(10);

/// The draft of a chat is there at once, or its server has other troubles.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(6);

#[derive(Debug)]
pub(super) struct Relay {
    bus: Bus,
    store: Store,
    channels: Channels,
    /// The servers that follow chats here.
    followers: Followers,
    /// The chats that this one follows elsewhere.
    followed: Mutex<FollowedChats>,
}

/// Bus messages about the live state of a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum RelayedUpdate {
    Delta(Delta),
    Waiting(ModelWait),
    PromptProgress(PromptProgress),
    Progress(CallProgress),
    ProgressOver {
        chat_id: ChatId,
        call_id: CallId,
    },
    /// The store has more, among it the end of a message or of the turn.
    Stored {
        chat_id: ChatId,
        #[serde(default)]
        message: Option<MessageId>,
        #[serde(default)]
        is_end: bool,
    },
}

/// A snapshot of the live state, for a server that starts to follow the chat.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LiveState {
    draft: Vec<Delta>,
    waiting: Option<ModelWait>,
    progress: Vec<CallProgress>,
}

impl RelayedUpdate {
    fn chat(&self) -> &ChatId {
        match self {
            Self::Delta(delta) => &delta.chat_id,
            Self::Waiting(waiting) => &waiting.chat_id,
            Self::PromptProgress(progress) => &progress.chat_id,
            Self::Progress(progress) => &progress.chat_id,
            Self::ProgressOver { chat_id, .. } | Self::Stored { chat_id, .. } => chat_id,
        }
    }
}

impl Relay {
    pub(super) fn start(store: Store, bus: Bus, channels: Channels) -> Arc<Self> {
        let relay = Arc::new(Self {
            followers: Followers::new(bus.clone()),
            bus,
            store,
            channels,
            followed: Mutex::default(),
        });
        if relay.bus.is_alone() {
            return relay;
        }
        // The bus must not own what owns it.
        let serving = Arc::downgrade(&relay);
        relay.bus.serve(FOLLOW, move |request| {
            let relay = serving.upgrade();
            let answer = relay.map(|relay| relay.begin_following(&request));
            async move { answer.unwrap_or_default() }
        });
        let weak = || Arc::downgrade(&relay);
        let live = relay.bus.notes(LIVE, NOTE_QUEUE);
        tokio::spawn(Self::receive(weak(), live));
        let control = [UNFOLLOW, RENEW].map(|topic| relay.bus.notes(topic, NOTE_QUEUE));
        tokio::spawn(Self::control(weak(), control));
        tokio::spawn(Self::renew(weak()));
        tokio::spawn(Self::follow_again(weak(), relay.bus.state()));
        relay.followers.start();
        relay
    }

    // The server that answers.

    pub(super) fn is_followed(&self, chat: &ChatId) -> bool {
        self.followers.has(chat)
    }

    /// Passes an update on to the servers that follow its chat.
    pub(super) fn pass(&self, update: RelayedUpdate) {
        self.followers.pass(update);
    }

    pub(super) fn pass_event(self: &Arc<Self>, event: &Event) {
        if self.followed().has_owner(&event.chat_id) {
            // This server may have taken its turn over.
            self.check(&event.chat_id);
        }
        if !self.is_followed(&event.chat_id) {
            return;
        }
        let (message, is_end) = match &event.body {
            EventBody::MessageFinished { message_id, .. } => (Some(message_id.clone()), false),
            EventBody::TurnFinished { .. } => (None, true),
            _ => return,
        };
        self.pass(RelayedUpdate::Stored {
            chat_id: event.chat_id.clone(),
            message,
            is_end,
        });
    }

    /// Starts to relay a chat and returns a snapshot; updates relayed later continue from it.
    fn begin_following(&self, request: &IncomingRequest) -> Vec<u8> {
        let Ok(chat) = serde_json::from_slice::<ChatId>(&request.body) else {
            return Vec::new();
        };
        let state = {
            let channels = lock(&self.channels);
            self.followers.add(&chat, &request.from);
            channels.get(&chat).map(|channel| LiveState {
                draft: channel.draft_deltas(&chat),
                waiting: channel.waiting(),
                progress: channel.call_progress(),
            })
        };
        serde_json::to_vec(&state.unwrap_or_default()).unwrap_or_default()
    }

    async fn control(relay: Weak<Self>, notes: [mpsc::Receiver<Note>; 2]) {
        let [mut unfollow, mut renew] = notes;
        loop {
            let (note, is_renewed) = tokio::select! {
                Some(note) = unfollow.recv() => (note, false),
                Some(note) = renew.recv() => (note, true),
                else => return,
            };
            let Some(relay) = relay.upgrade() else { return };
            let chats: Vec<ChatId> = serde_json::from_slice(&note.body).unwrap_or_default();
            for chat in chats {
                if is_renewed {
                    relay.followers.add(&chat, &note.from);
                } else {
                    relay.followers.remove(&chat, &note.from);
                }
            }
        }
    }

    // The server that follows.

    /// A page watches this chat here.
    pub(super) fn watched(self: &Arc<Self>, chat: &ChatId) {
        if !self.bus.is_alone() && self.followed().insert(chat) {
            self.check(chat);
        }
    }

    /// No page watches it any more. Whether it was followed elsewhere.
    pub(super) fn unwatched(&self, chat: &ChatId) -> bool {
        let owner = self.followed().remove(chat);
        if let Some(owner) = &owner {
            self.unfollow(owner, chat);
        }
        owner.is_some()
    }

    /// Looks who answers in a chat, and follows it there.
    pub(super) fn check(self: &Arc<Self>, chat: &ChatId) {
        if !self.bus.is_alone() && self.followed().begin_check(chat) {
            let (relay, chat) = (self.clone(), chat.clone());
            tokio::spawn(async move { relay.run_check(&chat).await });
        }
    }

    async fn run_check(self: Arc<Self>, chat: &ChatId) {
        loop {
            let owner = match self.store.owner_in(chat).await {
                Ok(owner) => owner.map(|owner| Arc::from(owner.runner)),
                Err(_) => {
                    self.followed().set_failed(chat);
                    break;
                }
            };
            let is_own = |owner: &Arc<str>| **owner == *self.store.runner_name();
            let is_here = owner.as_ref().is_some_and(is_own);
            let owner = owner.filter(|_| !is_here);
            let changed = self.followed().set_owner(chat, owner.clone());
            if let Some(OwnerChange { former }) = changed {
                let former = former.filter(|former| Some(former) != owner.as_ref());
                if let Some(former) = &former {
                    self.unfollow(former, chat);
                }
                match &owner {
                    Some(owner) => self.follow(chat, owner).await,
                    // No other server runs a turn in this chat any more, so the mirrored live state
                    // is cleared.
                    None if former.is_some() && !is_here => {
                        self.with_channel(chat, Channel::clear);
                    }
                    None => {}
                }
            }
            if !self.followed().ends_check(chat) {
                return;
            }
        }
        self.followed().abandon_check(chat);
    }

    async fn follow(&self, chat: &ChatId, owner: &Arc<str>) {
        let ask = serde_json::to_vec(chat).unwrap_or_default();
        let state = self.bus.request(owner, FOLLOW, ask, FOLLOW_TIMEOUT).await;
        let state = state.map(|state| serde_json::from_slice::<LiveState>(&state));
        let Ok(Ok(state)) = state else {
            let mut followed = self.followed();
            followed.set_behind(chat);
            return followed.set_failed(chat);
        };
        // Under one lock, so that live updates are applied after the buffered ones.
        let mut channels = lock(&self.channels);
        let Some(buffered) = self.followed().begin_live(chat) else {
            drop(channels);
            // There are no watchers any more.
            return self.unfollow(owner, chat);
        };
        let Some(channel) = channels.get_mut(chat) else {
            return;
        };
        channel.clear();
        for delta in state.draft {
            let draft = channel.draft_of(&delta.message_id);
            draft.grow(delta.part, &delta.kind, &delta.text);
            channel.send(LiveUpdate::Delta(Arc::new(delta)));
        }
        let waiting = state.waiting.map(RelayedUpdate::Waiting);
        let progress = state.progress.into_iter().map(RelayedUpdate::Progress);
        for update in waiting.into_iter().chain(progress).chain(buffered) {
            // A gap is detected by the offset of the next update.
            apply(channel, update);
        }
    }

    async fn receive(relay: Weak<Self>, mut notes: mpsc::Receiver<Note>) {
        while let Some(note) = notes.recv().await {
            let Some(relay) = relay.upgrade() else { return };
            let updates: Vec<RelayedUpdate> = match serde_json::from_slice(&note.body) {
                Ok(updates) => updates,
                Err(error) => {
                    tracing::debug!(%error, "a live update of another server cannot be read");
                    continue;
                }
            };
            for update in updates {
                let chat = update.chat().clone();
                let Some(update) = relay.followed().take(&chat, &note.from, update) else {
                    continue;
                };
                let mut has_gap = false;
                relay.with_channel(&chat, |channel| has_gap = !apply(channel, update));
                if has_gap {
                    relay.followed().set_behind(&chat);
                    relay.check(&chat);
                }
            }
        }
    }

    /// Requests new snapshots after the bus was down.
    async fn follow_again(relay: Weak<Self>, mut state: watch::Receiver<BusState>) {
        while state.changed().await.is_ok() {
            if *state.borrow_and_update() != BusState::Connected {
                continue;
            }
            let Some(relay) = relay.upgrade() else { return };
            let chats = relay.followed().set_all_behind();
            for chat in chats {
                relay.check(&chat);
            }
        }
    }

    async fn renew(relay: Weak<Self>) {
        let mut ticks = interval(RENEW_INTERVAL);
        loop {
            ticks.tick().await;
            let Some(relay) = relay.upgrade() else { return };
            let owners = relay.followed().by_owner();
            for (owner, chats) in owners {
                for note in json_batches(chats, MAX_NOTE_BYTES) {
                    relay.bus.notify(&owner, RENEW, note);
                }
            }
            let failed = relay.followed().failed();
            failed.iter().for_each(|chat| relay.check(chat));
        }
    }

    fn unfollow(&self, owner: &str, chat: &ChatId) {
        let chats = serde_json::to_vec(&[chat]).unwrap_or_default();
        self.bus.notify(owner, UNFOLLOW, chats);
    }

    fn with_channel(&self, chat: &ChatId, change: impl FnOnce(&mut Channel)) {
        if let Some(channel) = lock(&self.channels).get_mut(chat) {
            change(channel);
        }
    }

    fn followed(&self) -> MutexGuard<'_, FollowedChats> {
        lock(&self.followed)
    }
}

/// Takes in what another server says of a chat. False: something before it was missed.
fn apply(channel: &mut Channel, update: RelayedUpdate) -> bool {
    match update {
        RelayedUpdate::Delta(delta) => {
            channel.set_waiting(None);
            let draft = channel.draft_of(&delta.message_id);
            let known = draft.length(delta.part);
            if delta.offset != known {
                // The delta is already part of the snapshot.
                return delta.offset < known;
            }
            draft.grow(delta.part, &delta.kind, &delta.text);
            channel.send(LiveUpdate::Delta(Arc::new(delta)));
        }
        RelayedUpdate::Waiting(waiting) => {
            channel.set_waiting(Some(waiting.clone()));
            channel.send(LiveUpdate::Waiting(Arc::new(waiting)));
        }
        RelayedUpdate::PromptProgress(progress) => {
            channel.send(LiveUpdate::PromptProgress(Arc::new(progress)));
        }
        RelayedUpdate::Progress(progress) => {
            let progress = Arc::new(progress);
            let calls = &mut channel.progress;
            calls.insert(progress.call_id.clone(), progress.clone());
            channel.send(LiveUpdate::Progress(progress));
        }
        RelayedUpdate::ProgressOver { call_id, .. } => drop(channel.progress.remove(&call_id)),
        RelayedUpdate::Stored {
            message, is_end, ..
        } => {
            if is_end {
                channel.clear();
            } else if let Some(message) = message {
                channel.finish_message(&message);
            }
            // The database says so as well, unless it cannot be heard for now.
            channel.send_behind();
        }
    }
    true
}
