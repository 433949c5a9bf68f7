//! Everything that tells of changes, as one stream.

use tenon_domain::{ChatId, UserId};
use tenon_sources::browser::ToolsChanged;
use tenon_store::StoreChange;
use tenon_tools::CatalogChange;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::{FeedSources, UserTopic};
use crate::sources::{AddressedUpdate, UpdateSubscription};

pub(super) struct FeedInputs {
    store: broadcast::Receiver<StoreChange>,
    activity: broadcast::Receiver<ChatId>,
    catalog: broadcast::Receiver<CatalogChange>,
    devices: broadcast::Receiver<ToolsChanged>,
    sources: UpdateSubscription,
    models: watch::Receiver<()>,
}

#[derive(Debug)]
pub(super) enum FeedChange {
    /// With its user, where that is known.
    Chat(ChatId, Option<UserId>),
    Source(AddressedUpdate),
    /// For this user; None: for everybody.
    Topic(Option<UserId>, UserTopic),
    /// Some were missed.
    Missed,
}

impl FeedInputs {
    pub(super) fn subscribe(from: &FeedSources) -> Self {
        Self {
            store: from.store.subscribe(),
            activity: from.agent.activity(),
            catalog: from.registry.subscribe(),
            devices: from.devices.subscribe(),
            sources: from.sources.updates(),
            models: from.models.endpoints().watch(),
        }
    }

    /// Cancellation-safe. The caller holds the senders, so no channel closes.
    pub(super) async fn next(&mut self) -> FeedChange {
        let received = tokio::select! {
            received = self.store.recv() => received.map(FeedChange::from),
            received = self.activity.recv() => received.map(|chat| FeedChange::Chat(chat, None)),
            received = self.catalog.recv() => received.map(|change| tools(change.owner)),
            received = self.devices.recv() => received.map(|ToolsChanged(user)| tools(Some(user))),
            received = self.sources.recv() => received.map(FeedChange::Source),
            Ok(()) = self.models.changed() => Ok(FeedChange::Topic(None, UserTopic::Models)),
        };
        match received {
            Ok(change) => change,
            Err(RecvError::Lagged(_)) => FeedChange::Missed,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn tools(user: Option<UserId>) -> FeedChange {
    FeedChange::Topic(user, UserTopic::Tools)
}

impl From<StoreChange> for FeedChange {
    fn from(change: StoreChange) -> Self {
        match change {
            StoreChange::Accounts(user) => Self::Topic(user, UserTopic::Accounts),
            StoreChange::ToolSettings(user) => tools(user),
            StoreChange::Sources => Self::Topic(None, UserTopic::Sources),
            StoreChange::Models => Self::Topic(None, UserTopic::Models),
            StoreChange::Preferences(user) => Self::Topic(user, UserTopic::Settings),
            StoreChange::Experts(user) => Self::Topic(user, UserTopic::Experts),
            StoreChange::Skills => Self::Topic(None, UserTopic::Skills),
            StoreChange::Chat { user, chat } => Self::Chat(chat, Some(user)),
            StoreChange::Chats => Self::Missed,
        }
    }
}
