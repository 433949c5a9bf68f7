//! The feed of a user: what changes for them, whoever changes it and on whatever device.
//!
//! One task, which runs while anybody subscribes, joins the changes of the store, the registry,
//! sources, devices, models and the agent. It coalesces and throttles them, reads each changed
//! chat once, and publishes to all subscribers of the user it belongs to. Chats are sent as lists
//! show them; of the rest only the topic, because what is shown of it depends on the page. Whoever
//! was too slow is told to read everything again: [`UserEvent::Resync`].

mod inputs;
mod pending;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use tenon_agent::Agent;
use tenon_domain::{ChatId, UserId};
use tenon_sources::browser::DeviceHub;
use tenon_store::Store;
use tenon_tools::Registry;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};
use ts_rs::TS;

use crate::auth::CurrentUser;
use crate::chats::{ChatSummary, summaries};
use crate::lock::lock;
use crate::models::Models;
use crate::sources::{SourceUpdate, Sources};
use inputs::FeedInputs;
use pending::PendingEvents;

/// How often changes are published at most: a chat in which much happens, or a server that flaps,
/// costs a few events per second.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(250);

/// How many events a subscriber may be behind before it has to read everything again.
const MAX_UNREAD_EVENTS: usize = 256;

#[derive(Debug, Clone)]
pub enum UserEvent {
    /// A chat came or changed.
    Chat(ChatSummary),
    ChatGone(ChatId),
    /// How a source is now.
    Source(SourceUpdate),
    Changed(UserTopic),
    /// Some were missed, so anything may have changed.
    Resync,
}

/// A topic of which a page has to read its view again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum UserTopic {
    /// The tools that they see, or how these are set.
    Tools,
    /// Configured sources, secrets, log-ins at sources.
    Sources,
    /// The models on offer, and which is the default.
    Models,
    /// Accounts, log-ins, keys, invitations.
    Accounts,
    /// Preferences, their own and everybody's.
    Settings,
    /// Experts, and saved prompts.
    Experts,
    /// Installed skills, and how far they are set up.
    Skills,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct UserFeed(Arc<Inner>);

struct Inner {
    sources: FeedSources,
    state: Mutex<State>,
}

/// The sources of changes that the feed merges.
pub(crate) struct FeedSources {
    pub(crate) store: Store,
    pub(crate) agent: Agent,
    pub(crate) registry: Arc<Registry>,
    pub(crate) sources: Sources,
    pub(crate) devices: DeviceHub,
    pub(crate) models: Models,
}

#[derive(Default)]
struct State {
    channels: HashMap<UserId, broadcast::Sender<UserEvent>>,
    /// Runs while there are channels.
    task: Option<AbortHandle>,
}

/// The events of one user, from when it was made.
pub struct UserSubscription {
    feed: Arc<Inner>,
    user: CurrentUser,
    events: Option<broadcast::Receiver<UserEvent>>,
    /// Received, and not redacted yet.
    unredacted: Option<SourceUpdate>,
}

impl UserFeed {
    pub(crate) fn new(sources: FeedSources) -> Self {
        Self(Arc::new(Inner {
            sources,
            state: Mutex::default(),
        }))
    }

    /// Subscribes to changes. Read the current state only after this, so that no change is missed.
    pub fn subscribe(&self, user: &CurrentUser) -> UserSubscription {
        let mut state = lock(&self.0.state);
        let channel = state.channels.entry(user.id.clone());
        let channel = channel.or_insert_with(|| broadcast::Sender::new(MAX_UNREAD_EVENTS));
        let events = channel.subscribe();
        if state.task.is_none() {
            // From now on, and not from when the task comes to run.
            let inputs = FeedInputs::subscribe(&self.0.sources);
            let task = tokio::spawn(run(self.0.clone(), inputs));
            state.task = Some(task.abort_handle());
        }
        UserSubscription {
            feed: self.0.clone(),
            user: user.clone(),
            events: Some(events),
            unredacted: None,
        }
    }
}

impl UserSubscription {
    /// Cancellation-safe.
    pub async fn next(&mut self) -> UserEvent {
        if self.unredacted.is_none() {
            match self.receive().await {
                UserEvent::Source(update) => self.unredacted = Some(update),
                event => return event,
            }
        }
        // An admin may have been demoted since the socket was opened. The role is cached by the
        // store.
        let FeedSources { store, sources, .. } = &self.feed.sources;
        let user = self.user.with_current_role(store).await;
        match (user, self.unredacted.take()) {
            (Ok(user), Some(update)) => UserEvent::Source(sources.redacted_update(&user, update)),
            (_, None) => UserEvent::Resync,
            (Err(error), Some(_)) => {
                tracing::warn!(%error, "the role of a user cannot be read");
                UserEvent::Resync
            }
        }
    }

    async fn receive(&mut self) -> UserEvent {
        let received = match &mut self.events {
            Some(events) => events.recv().await,
            None => Err(RecvError::Closed),
        };
        match received {
            Ok(event) => event,
            Err(RecvError::Lagged(_)) => UserEvent::Resync,
            // The channel of a user stays while there are subscriptions.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for UserSubscription {
    fn drop(&mut self) {
        let mut state = lock(&self.feed.state);
        // The receiver first: the channel is only idle once it no longer counts.
        self.events = None;
        let channel = state.channels.get(&self.user.id);
        if channel.is_some_and(|channel| channel.receiver_count() == 0) {
            state.channels.remove(&self.user.id);
        }
        if state.channels.is_empty()
            && let Some(task) = state.task.take()
        {
            task.abort();
        }
    }
}

/// Publishes the first change at once, and what follows when the interval has passed.
async fn run(feed: Arc<Inner>, mut inputs: FeedInputs) {
    let mut pending = PendingEvents::default();
    let mut due = Instant::now();
    loop {
        tokio::select! {
            change = inputs.next() => pending.add(change, |user| feed.has_subscribers(user)),
            () = sleep_until(due), if !pending.is_empty() => {
                feed.publish(pending.take()).await;
                due = Instant::now() + PUBLISH_INTERVAL;
            }
        }
    }
}

impl Inner {
    fn has_subscribers(&self, user: &UserId) -> bool {
        lock(&self.state).channels.contains_key(user)
    }

    async fn publish(&self, batch: pending::EventBatch) {
        if batch.is_behind {
            return self.send(None, &UserEvent::Resync);
        }
        if let Err(error) = self.publish_chats(batch.chats).await {
            tracing::warn!(%error, "chats that changed cannot be read");
            self.send(None, &UserEvent::Resync);
        }
        for ((user, _), update) in batch.sources {
            self.send(user.as_ref(), &UserEvent::Source(update));
        }
        for (user, topic) in batch.topics {
            self.send(user.as_ref(), &UserEvent::Changed(topic));
        }
    }

    /// Sends each changed chat to its owner: to the owner in its row, or, for a deleted chat, to
    /// the user who deleted it.
    async fn publish_chats(
        &self,
        mut changed: HashMap<ChatId, Option<UserId>>,
    ) -> tenon_store::Result<()> {
        if changed.is_empty() {
            return Ok(());
        }
        let FeedSources { store, agent, .. } = &self.sources;
        let ids: Vec<ChatId> = changed.keys().cloned().collect();
        let mut chats = store.chats_with_owners(&ids).await?;
        let found: HashSet<&ChatId> = chats.iter().map(|(_, chat)| &chat.id).collect();
        changed.retain(|id, _| !found.contains(id));
        chats.retain(|(user, _)| self.has_subscribers(user));
        let (users, chats): (Vec<_>, Vec<_>) = chats.into_iter().unzip();
        for (user, summary) in users.iter().zip(summaries(store, agent, chats).await?) {
            self.send(Some(user), &UserEvent::Chat(summary));
        }
        for (id, user) in changed {
            if let Some(user) = user {
                self.send(Some(&user), &UserEvent::ChatGone(id));
            }
        }
        Ok(())
    }

    /// None: to everybody.
    fn send(&self, to: Option<&UserId>, event: &UserEvent) {
        let state = lock(&self.state);
        let is_for = |user: &UserId| to.is_none_or(|to| to == user);
        let channels = state.channels.iter().filter(|(user, _)| is_for(user));
        for (_, channel) in channels {
            // The last subscriber may just have left.
            let _ = channel.send(event.clone());
        }
    }
}

impl std::fmt::Debug for UserSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("UserSubscription")
            .field(&self.user.id)
            .finish()
    }
}

impl std::fmt::Debug for UserFeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let users = lock(&self.0.state).channels.len();
        f.debug_struct("UserFeed").field("users", &users).finish()
    }
}
