//! The numbered events of chats: persist first, then publish. [`Feed::emit`] is the only door.
//!
//! One task writes. It takes what has queued up and writes it in one
//! transaction, so a busy server pays for few commits, and what is published
//! is in the order of what is stored. What another process writes wakes who
//! watches that chat. A chat nobody watches and nothing is said in costs no
//! memory here.

mod message_draft;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenon_domain::{
    CallId, CallProgress, ChatId, Delta, DeltaKind, Event, EventBody, MessageId, ModelWait,
    PromptProgress,
};
use tenon_store::{Error, Result, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, oneshot};

use message_draft::MessageDraft;

/// How far a watcher may fall behind before it has to catch up from the store.
const WATCHER_QUEUE: usize = 256;

/// How many emits wait for the writer before emitters wait, and how many it takes at once.
const WRITER_QUEUE: usize = 512;

#[derive(Debug, Clone)]
pub struct Feed {
    writer: mpsc::Sender<Emit>,
    channels: Channels,
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

type Channels = Arc<Mutex<HashMap<ChatId, Channel>>>;

/// A chat with a subscriber or a turn in progress.
#[derive(Debug)]
struct Channel {
    live: broadcast::Sender<WatchEvent>,
    draft: Option<MessageDraft>,
    /// The announced delay of a model request, and when it ends.
    waiting: Option<(ModelWait, Instant)>,
    /// The last progress that each running call reported.
    progress: HashMap<CallId, Arc<CallProgress>>,
}

#[derive(Debug)]
struct Emit {
    chat: ChatId,
    bodies: Vec<EventBody>,
    done: oneshot::Sender<Result<()>>,
}

impl Feed {
    pub fn new(store: Store) -> Self {
        let (writer, queue) = mpsc::channel(WRITER_QUEUE);
        let channels = Channels::default();
        tokio::spawn(follow_other_processes(
            store.foreign_chats(),
            channels.clone(),
        ));
        tokio::spawn(write(store, queue, channels.clone()));
        Self { writer, channels }
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
        channel.waiting = None;
        let offset = channel.draft_of(message).grow(part, &kind, &text);
        if channel.live.receiver_count() > 0 {
            let delta = Delta {
                chat_id: chat.clone(),
                message_id: message.clone(),
                part,
                kind,
                offset,
                text,
            };
            channel.send(LiveUpdate::Delta(Arc::new(delta)));
        }
    }

    /// Tells those who watch that a model keeps everybody waiting. Live only.
    pub fn waiting(&self, waiting: ModelWait) {
        let mut channels = lock(&self.channels);
        let channel = channels
            .entry(waiting.chat_id.clone())
            .or_insert_with(Channel::new);
        let until = Instant::now() + Duration::from_millis(waiting.wait_ms);
        channel.waiting = Some((waiting.clone(), until));
        channel.send(LiveUpdate::Waiting(Arc::new(waiting)));
    }

    /// Tells those who watch how far a model has read its prompt. Live only, and soon told again.
    pub fn prompt_progress(&self, progress: PromptProgress) {
        let channels = lock(&self.channels);
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
            forget_if_idle(&mut channels, chat);
        }
    }

    /// Watches a chat from now on. Whoever wants the past reads the store
    /// *after* this, and skips what then comes twice.
    pub fn watch(&self, chat: &ChatId) -> ChatWatch {
        let mut channels = lock(&self.channels);
        let channel = channels.entry(chat.clone()).or_insert_with(Channel::new);
        ChatWatch {
            chat: chat.clone(),
            channels: self.channels.clone(),
            draft: channel
                .draft
                .as_ref()
                .map(|draft| draft.deltas(chat))
                .unwrap_or_default(),
            waiting: channel.waiting.as_ref().map(|(waiting, until)| ModelWait {
                wait_ms: until.saturating_duration_since(Instant::now()).as_millis() as u64,
                ..waiting.clone()
            }),
            progress: channel
                .progress
                .values()
                .map(|progress| CallProgress::clone(progress))
                .collect(),
            live: Some(channel.live.subscribe()),
        }
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
        forget_if_idle(&mut lock(&self.channels), &self.chat);
    }
}

/// Has those who watch a chat read what another process wrote, until the store is closed.
async fn follow_other_processes(
    mut chats: broadcast::Receiver<Option<ChatId>>,
    channels: Channels,
) {
    loop {
        let written = match chats.recv().await {
            Ok(written) => written,
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => return,
        };
        let channels = lock(&channels);
        match written {
            Some(chat) => channels
                .get(&chat)
                .into_iter()
                .for_each(Channel::send_behind),
            None => channels.values().for_each(Channel::send_behind),
        }
    }
}

/// The writer: one batch after the other, until the last handle is gone.
async fn write(store: Store, mut queue: mpsc::Receiver<Emit>, channels: Channels) {
    let mut emits = Vec::with_capacity(WRITER_QUEUE);
    while queue.recv_many(&mut emits, WRITER_QUEUE).await > 0 {
        let (waiting, batch): (Vec<_>, Vec<_>) = emits
            .drain(..)
            .map(|emit| (emit.done, (emit.chat, emit.bodies)))
            .unzip();
        for (done, written) in waiting.into_iter().zip(append(&store, batch).await) {
            let published = written.map(|events| publish(&channels, events));
            let _ = done.send(published);
        }
    }
}

async fn append(store: &Store, batch: Vec<(ChatId, Vec<EventBody>)>) -> Vec<Result<Vec<Event>>> {
    match store.append_all(batch.clone()).await {
        Ok(written) => written,
        Err(error) if batch.len() == 1 => vec![Err(error)],
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

fn publish(channels: &Channels, events: Vec<Event>) {
    let mut channels = lock(channels);
    for event in events {
        let Some(channel) = channels.get_mut(&event.chat_id) else {
            continue;
        };
        if let EventBody::MessageFinished { message_id, .. } = &event.body
            && channel
                .draft
                .as_ref()
                .is_some_and(|draft| draft.message == *message_id)
        {
            channel.draft = None;
        }
        if matches!(event.body, EventBody::MessageFinished { .. }) {
            channel.waiting = None;
        }
        let chat = event.chat_id.clone();
        channel.send(LiveUpdate::Event(Arc::new(event)));
        forget_if_idle(&mut channels, &chat);
    }
}

fn forget_if_idle(channels: &mut HashMap<ChatId, Channel>, chat: &ChatId) {
    if channels.get(chat).is_some_and(Channel::is_idle) {
        channels.remove(chat);
    }
}

fn lock(channels: &Channels) -> MutexGuard<'_, HashMap<ChatId, Channel>> {
    channels.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Channel {
    fn new() -> Self {
        Self {
            live: broadcast::Sender::new(WATCHER_QUEUE),
            draft: None,
            waiting: None,
            progress: HashMap::new(),
        }
    }

    /// Nobody may be watching, here and below.
    fn send(&self, update: LiveUpdate) {
        let _ = self.live.send(WatchEvent::Live(update));
    }

    fn send_behind(&self) {
        let _ = self.live.send(WatchEvent::Behind);
    }

    fn is_idle(&self) -> bool {
        self.draft.is_none()
            && self.waiting.is_none()
            && self.progress.is_empty()
            && self.live.receiver_count() == 0
    }

    /// The draft of this message; another message's is over.
    fn draft_of(&mut self, message: &MessageId) -> &mut MessageDraft {
        self.draft.take_if(|draft| draft.message != *message);
        self.draft
            .get_or_insert_with(|| MessageDraft::new(message.clone()))
    }
}
