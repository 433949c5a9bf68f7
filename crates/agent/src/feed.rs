//! The numbered events of chats: persist first, then publish. [`Feed::emit`] is the only way to add one.
//!
//! One task writes. It takes what has queued up and writes it in one
//! transaction, so a busy server pays for few commits, and what is published
//! is in the order of what is stored. What another process writes wakes who
//! watches that chat. A chat nobody watches and nothing is said in costs no
//! memory here.

mod channel;
mod message_draft;
mod relay;

use std::sync::{Arc, Weak};

use tenon_bus::Bus;
use tenon_domain::{
    CallId, CallProgress, ChatId, Delta, DeltaKind, Event, EventBody, MessageId, ModelWait,
    PromptProgress,
};
use tenon_store::{Error, Result, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::lock::lock;
use channel::{Channel, Channels, forget_if_idle};
use relay::{Relay, RelayedUpdate};

/// How many emits wait for the writer before emitters wait, and how many it takes at once.
const WRITER_QUEUE: usize = 512;

#[derive(Debug, Clone)]
pub struct Feed {
    writer: mpsc::Sender<Emit>,
    channels: Channels,
    relay: Arc<Relay>,
}

/// A live update of a chat.
#[derive(Debug, Clone)]
pub enum LiveUpdate {
    Event(Arc<Event>),
    Delta(Arc<Delta>),
    Waiting(Arc<ModelWait>),
    PromptProgress(Arc<PromptProgress>),
    Progress(Arc<CallProgress>),
}

/// A subscription to one chat. Begins with the draft of a message in progress.
#[derive(Debug)]
pub struct ChatWatch {
    chat: ChatId,
    channels: Channels,
    relay: Arc<Relay>,
    /// The message in progress as deltas at offset 0. What `next` gives follows on it.
    pub draft: Vec<Delta>,
    /// How long the provider will still delay the turn: a rate limit, or a retry.
    pub waiting: Option<ModelWait>,
    /// The progress of running calls that report any.
    pub progress: Vec<CallProgress>,
    live: Option<broadcast::Receiver<WatchEvent>>,
}

#[derive(Debug, Clone)]
pub enum WatchEvent {
    Live(LiveUpdate),
    /// Too far behind, or another process wrote to the chat: watch again from the last number
    /// seen.
    Behind,
    /// The chat is gone.
    Closed,
}

#[derive(Debug)]
struct Emit {
    chat: ChatId,
    bodies: Vec<EventBody>,
    done: oneshot::Sender<Result<()>>,
}

impl Feed {
    pub fn new(store: Store, bus: Bus) -> Self {
        let (writer, queue) = mpsc::channel(WRITER_QUEUE);
        let channels = Channels::default();
        let relay = Relay::start(store.clone(), bus, channels.clone());
        tokio::spawn(follow_other_processes(
            store.foreign_chats(),
            channels.clone(),
            // The store that this waits for must not be kept open by it.
            Arc::downgrade(&relay),
        ));
        tokio::spawn(write(store, queue, channels.clone(), relay.clone()));
        Self {
            writer,
            channels,
            relay,
        }
    }

    /// Writes down what happened in a chat, then tells those who watch it.
    pub async fn emit(&self, chat: &ChatId, bodies: Vec<EventBody>) -> Result<()> {
        let (done, written) = oneshot::channel();
        let emit = Emit {
            chat: chat.clone(),
            bodies,
            done,
        };
        // The writer outlives every handle; it is gone only with the runtime.
        let gone = || Error::NotFound("feed");
        self.writer.send(emit).await.map_err(|_| gone())?;
        written.await.map_err(|_| gone())?
    }

    /// Passes on a piece of a message in progress. Live only.
    pub fn delta(
        &self,
        chat: &ChatId,
        message: &MessageId,
        part: usize,
        kind: DeltaKind,
        text: String,
    ) {
        let mut channels = lock(&self.channels);
        let channel = channels.entry(chat.clone()).or_insert_with(Channel::new);
        channel.set_waiting(None);
        let offset = channel.draft_of(message).grow(part, &kind, &text);
        let is_followed = self.relay.is_followed(chat);
        if !channel.is_watched() && !is_followed {
            return;
        }
        let delta = Delta {
            chat_id: chat.clone(),
            message_id: message.clone(),
            part,
            kind,
            offset,
            text,
        };
        if is_followed {
            self.relay.pass(RelayedUpdate::Delta(delta.clone()));
        }
        channel.send(LiveUpdate::Delta(Arc::new(delta)));
    }

    /// Tells those who watch that a model keeps everybody waiting. Live only.
    pub fn waiting(&self, waiting: ModelWait) {
        let mut channels = lock(&self.channels);
        let channel = channels
            .entry(waiting.chat_id.clone())
            .or_insert_with(Channel::new);
        channel.set_waiting(Some(waiting.clone()));
        self.relay.pass(RelayedUpdate::Waiting(waiting.clone()));
        channel.send(LiveUpdate::Waiting(Arc::new(waiting)));
    }

    /// Tells those who watch how far a model has read its prompt. Live only, and soon told again.
    pub fn prompt_progress(&self, progress: PromptProgress) {
        let channels = lock(&self.channels);
        self.relay
            .pass(RelayedUpdate::PromptProgress(progress.clone()));
        if let Some(channel) = channels.get(&progress.chat_id) {
            channel.send(LiveUpdate::PromptProgress(Arc::new(progress)));
        }
    }

    /// Tells those who watch how far a call is. Live only. Whoever tells it
    /// owes the call [`Feed::progress_over`].
    pub fn progress(&self, progress: CallProgress) {
        let mut channels = lock(&self.channels);
        let channel = channels
            .entry(progress.chat_id.clone())
            .or_insert_with(Channel::new);
        self.relay.pass(RelayedUpdate::Progress(progress.clone()));
        let progress = Arc::new(progress);
        channel
            .progress
            .insert(progress.call_id.clone(), progress.clone());
        channel.send(LiveUpdate::Progress(progress));
    }

    /// Drops the progress of a call that has ended.
    pub fn progress_over(&self, chat: &ChatId, call: &CallId) {
        let mut channels = lock(&self.channels);
        if let Some(channel) = channels.get_mut(chat) {
            channel.progress.remove(call);
            self.relay.pass(RelayedUpdate::ProgressOver {
                chat_id: chat.clone(),
                call_id: call.clone(),
            });
            forget_if_idle(&mut channels, chat);
        }
    }

    /// Watches a chat from now on. Whoever wants the past reads the store
    /// *after* this, and skips what then comes twice.
    pub fn watch(&self, chat: &ChatId) -> ChatWatch {
        let mut channels = lock(&self.channels);
        let channel = channels.entry(chat.clone()).or_insert_with(Channel::new);
        let watch = ChatWatch {
            chat: chat.clone(),
            channels: self.channels.clone(),
            relay: self.relay.clone(),
            draft: channel.draft_deltas(chat),
            waiting: channel.waiting(),
            progress: channel.call_progress(),
            live: Some(channel.live.subscribe()),
        };
        drop(channels);
        self.relay.watched(chat);
        watch
    }

    /// Forgets a chat that is gone; who watches it sees the end.
    pub fn forget(&self, chat: &ChatId) {
        lock(&self.channels).remove(chat);
    }

    /// How many chats take up memory here.
    pub fn open_channels(&self) -> usize {
        lock(&self.channels).len()
    }
}

impl ChatWatch {
    pub async fn next(&mut self) -> WatchEvent {
        let Some(live) = &mut self.live else {
            return WatchEvent::Closed;
        };
        match live.recv().await {
            Ok(event) => event,
            Err(RecvError::Lagged(_)) => WatchEvent::Behind,
            Err(RecvError::Closed) => WatchEvent::Closed,
        }
    }
}

impl Drop for ChatWatch {
    fn drop(&mut self) {
        // The receiver first: the channel is only idle once it no longer counts.
        self.live = None;
        let mut channels = lock(&self.channels);
        if channels
            .get(&self.chat)
            .is_none_or(|channel| !channel.is_watched())
            && self.relay.unwatched(&self.chat)
            && let Some(channel) = channels.get_mut(&self.chat)
        {
            // The channel mirrored another server's live state, which is no longer updated.
            channel.clear();
        }
        forget_if_idle(&mut channels, &self.chat);
    }
}

/// Has those who watch a chat read what another process wrote, until the store is closed.
async fn follow_other_processes(
    mut chats: broadcast::Receiver<Option<ChatId>>,
    channels: Channels,
    relay: Weak<Relay>,
) {
    loop {
        let written = match chats.recv().await {
            Ok(written) => written,
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => return,
        };
        let watched: Vec<ChatId> = {
            let channels = lock(&channels);
            let written = channels.iter().filter(|(chat, channel)| {
                channel.is_watched() && written.as_ref().is_none_or(|written| written == *chat)
            });
            written
                .map(|(chat, channel)| {
                    channel.send_behind();
                    chat.clone()
                })
                .collect()
        };
        if let Some(relay) = relay.upgrade() {
            watched.iter().for_each(|chat| relay.check(chat));
        }
    }
}

/// The writer: one batch after the other, until the last handle is gone.
async fn write(
    store: Store,
    mut queue: mpsc::Receiver<Emit>,
    channels: Channels,
    relay: Arc<Relay>,
) {
    let mut emits = Vec::with_capacity(WRITER_QUEUE);
    while queue.recv_many(&mut emits, WRITER_QUEUE).await > 0 {
        let (waiting, batch): (Vec<_>, Vec<_>) = emits
            .drain(..)
            .map(|emit| ((emit.chat.clone(), emit.done), (emit.chat, emit.bodies)))
            .unzip();
        for ((chat, done), written) in waiting.into_iter().zip(append(&store, batch).await) {
            let published = match written {
                Ok(events) => {
                    publish(&channels, &relay, events);
                    Ok(())
                }
                Err(error) => {
                    // A connection that was lost at the commit says nothing about whether it is stored.
                    if let Some(channel) = lock(&channels).get(&chat) {
                        channel.send_behind();
                    }
                    Err(error)
                }
            };
            let _ = done.send(published);
        }
    }
}

async fn append(store: &Store, batch: Vec<(ChatId, Vec<EventBody>)>) -> Vec<Result<Vec<Event>>> {
    match store.append_all(batch.clone()).await {
        Ok(written) => written,
        Err(error) if batch.len() == 1 => vec![Err(error)],
        // The batch may have been stored, so it must not be retried.
        Err(Error::NoAnswer(why)) => {
            let unknown = batch.iter().map(|_| Err(Error::NoAnswer(why.clone())));
            unknown.collect()
        }
        // Without the lease this process may store nothing.
        Err(Error::LeaseLost) => batch.iter().map(|_| Err(Error::LeaseLost)).collect(),
        Err(_) => {
            // One chat's trouble must not become everybody's.
            let mut written = Vec::with_capacity(batch.len());
            for (chat, bodies) in batch {
                written.push(store.append(&chat, bodies).await);
            }
            written
        }
    }
}

fn publish(channels: &Channels, relay: &Arc<Relay>, events: Vec<Event>) {
    let mut channels = lock(channels);
    for event in events {
        relay.pass_event(&event);
        let Some(channel) = channels.get_mut(&event.chat_id) else {
            continue;
        };
        match &event.body {
            EventBody::MessageFinished { message_id, .. } => channel.finish_message(message_id),
            // Also clears live updates of a server whose turn was taken over by this one.
            EventBody::TurnFinished { .. } => channel.clear(),
            _ => {}
        }
        let chat = event.chat_id.clone();
        channel.send(LiveUpdate::Event(Arc::new(event)));
        forget_if_idle(&mut channels, &chat);
    }
}
