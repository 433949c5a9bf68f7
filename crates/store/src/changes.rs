//! What writes change, for caches of this process and for pages that follow it.
//!
//! A version of each topic is in memory. Whoever caches rows notes the version before reading
//! them, and reads again once it is another one; so a change counts from the moment the write
//! is acknowledged. While changes of other processes do not arrive there is no version, and
//! nothing is cached. Subscribers are told as well, and a slow one that missed some is told that.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::Deserialize;
use tenon_domain::{ChatId, UserId};
use tokio::sync::{broadcast, watch};

use crate::{LOCAL, Store};

/// How many changes a subscriber may be behind before it has to read everything again.
const MAX_UNREAD_CHANGES: usize = 1024;

/// A group of tables that caches depend on. Triggers log changes under these names
/// (`m0009_change_log`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeTopic {
    /// Accounts, log-ins, keys: who may do what.
    Accounts,
    /// Which tools are on, and which are asked about.
    ToolSettings,
    /// Configured sources, their secrets and log-ins there.
    Sources,
    Models,
    Preferences,
    Chats,
    /// Experts, and the prompts that people saved.
    Experts,
    /// Installed skills, and what people set for them.
    Skills,
}

const TOPICS: usize = 8;

/// What one write changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChange {
    /// Keys and log-ins of one user; None: of anybody, or accounts themselves.
    Accounts(Option<UserId>),
    /// Of one user, or of one of their chats; None: of everybody.
    ToolSettings(Option<UserId>),
    Sources,
    Models,
    /// Of one user; None: of everybody.
    Preferences(Option<UserId>),
    /// Experts and saved prompts of one user; None: of the team.
    Experts(Option<UserId>),
    Skills,
    /// A chat came, went, or something happened in it.
    Chat {
        user: UserId,
        chat: ChatId,
    },
    /// Changes of any chats: another process's changes during a gap are unknown.
    Chats,
}

impl StoreChange {
    pub fn topic(&self) -> ChangeTopic {
        match self {
            Self::Accounts(_) => ChangeTopic::Accounts,
            Self::ToolSettings(_) => ChangeTopic::ToolSettings,
            Self::Sources => ChangeTopic::Sources,
            Self::Models => ChangeTopic::Models,
            Self::Preferences(_) => ChangeTopic::Preferences,
            Self::Experts(_) => ChangeTopic::Experts,
            Self::Skills => ChangeTopic::Skills,
            Self::Chat { .. } | Self::Chats => ChangeTopic::Chats,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Changes {
    versions: [AtomicU64; TOPICS],
    /// Changes of other processes do not arrive.
    is_disconnected: AtomicBool,
    subscribers: broadcast::Sender<StoreChange>,
    /// A second channel for account changes, so that their waiters are not woken by every message.
    accounts: watch::Sender<()>,
    foreign_chats: broadcast::Sender<Option<ChatId>>,
}

impl Changes {
    /// None: it is not known whether another process has changed something.
    pub(crate) fn version(&self, topic: ChangeTopic) -> Option<u64> {
        if self.is_disconnected.load(Ordering::SeqCst) {
            return None;
        }
        Some(self.versions[topic as usize].load(Ordering::SeqCst))
    }

    pub(crate) fn publish(&self, change: StoreChange) {
        self.versions[change.topic() as usize].fetch_add(1, Ordering::SeqCst);
        if let StoreChange::Accounts(_) = &change {
            self.accounts.send_replace(());
        }
        // An error only means that there are no subscribers.
        let _ = self.subscribers.send(change);
    }

    /// Publishes what another process has done.
    pub(crate) fn publish_foreign(&self, change: StoreChange) {
        match &change {
            StoreChange::Chat { chat, .. } => drop(self.foreign_chats.send(Some(chat.clone()))),
            StoreChange::Chats => drop(self.foreign_chats.send(None)),
            StoreChange::Accounts(_)
            | StoreChange::ToolSettings(_)
            | StoreChange::Sources
            | StoreChange::Models
            | StoreChange::Preferences(_)
            | StoreChange::Experts(_)
            | StoreChange::Skills => {}
        }
        self.publish(change);
    }

    /// Whether changes of other processes arrive from now on. Those missed before it are
    /// published first.
    pub(crate) fn set_connected(&self, is_connected: bool) {
        self.is_disconnected.store(!is_connected, Ordering::SeqCst);
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            versions: Default::default(),
            is_disconnected: AtomicBool::new(false),
            subscribers: broadcast::Sender::new(MAX_UNREAD_CHANGES),
            accounts: watch::Sender::new(()),
            foreign_chats: broadcast::Sender::new(MAX_UNREAD_CHANGES),
        }
    }
}

/// Publishes a change when dropped, even if the write failed or was cancelled, because the database
/// may have completed it.
#[must_use]
pub(crate) struct PendingChange<'a> {
    changes: &'a Changes,
    change: Option<StoreChange>,
}

impl Drop for PendingChange<'_> {
    fn drop(&mut self) {
        if let Some(change) = self.change.take() {
            self.changes.publish(change);
        }
    }
}

impl Store {
    /// How often something of a topic has changed; None: what other processes change is not known
    /// for now.
    pub fn version(&self, topic: ChangeTopic) -> Option<u64> {
        self.changes.version(topic)
    }

    /// All changes from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<StoreChange> {
        self.changes.subscribers.subscribe()
    }

    /// Changes of accounts, log-ins and keys from now on.
    pub fn watch_accounts(&self) -> watch::Receiver<()> {
        self.changes.accounts.subscribe()
    }

    /// The chats that other processes write to from now on; None: it may be any.
    pub fn foreign_chats(&self) -> broadcast::Receiver<Option<ChatId>> {
        self.changes.foreign_chats.subscribe()
    }

    /// Holds what a write is going to change, for as long as it is written.
    pub(crate) fn changing(&self, change: StoreChange) -> PendingChange<'_> {
        PendingChange {
            changes: &self.changes,
            change: Some(change),
        }
    }

    /// An account that comes or goes with all that belongs to it.
    pub(crate) fn changing_all_of_a_user(&self) -> [PendingChange<'_>; 6] {
        [
            StoreChange::Accounts(None),
            StoreChange::ToolSettings(None),
            StoreChange::Sources,
            StoreChange::Preferences(None),
            StoreChange::Experts(None),
            StoreChange::Skills,
        ]
        .map(|change| self.changing(change))
    }

    /// Keys or log-ins of a user. Those of single-user mode are shown to whomever the server acts
    /// as.
    pub(crate) fn changing_credentials(&self, user: &UserId) -> PendingChange<'_> {
        let of = (user.as_str() != LOCAL).then(|| user.clone());
        self.changing(StoreChange::Accounts(of))
    }

    pub(crate) fn changing_chat(&self, user: &UserId, chat: &ChatId) -> PendingChange<'_> {
        self.changing(StoreChange::Chat {
            user: user.clone(),
            chat: chat.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use tenon_domain::{EventBody, KeyScope, TitledBy};

    use super::*;

    #[tokio::test]
    async fn a_write_is_known_once_it_is_acknowledged() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let (ada, mut changes) = (UserId::new("ada"), store.subscribe());
        let chat = store.create_chat(&ada, "Tides").await.unwrap().id;
        let titled = EventBody::ChatTitled {
            title: "Tides of today".into(),
            by: TitledBy::Person,
        };
        store.append(&chat, vec![titled]).await.unwrap();
        let expected = StoreChange::Chat { user: ada, chat };
        assert_eq!(changes.try_recv().unwrap(), expected);
        assert_eq!(changes.try_recv().unwrap(), expected);
        assert_eq!(store.version(ChangeTopic::Chats), Some(2));
        assert_eq!(store.version(ChangeTopic::Accounts), Some(0));
    }

    #[tokio::test]
    async fn a_write_that_nobody_waits_for_counts_as_a_change() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let ada = UserId::new("ada");
        let scope = KeyScope::default();
        let mut write = Box::pin(store.create_key(&ada, "script", &scope));
        // Polled once, so that it has begun.
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(write.as_mut().poll(&mut context).is_pending());
        drop(write);
        assert_eq!(store.version(ChangeTopic::Accounts), Some(1));
    }
}
