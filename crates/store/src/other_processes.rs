//! What other processes on the same database change: another server, or commands in a shell.
//!
//! Triggers write down or announce every change (`m0009_change_log`). What is found here is
//! published like a change of our own, so caches and pages follow it. On SQLite that takes a
//! quarter of a second at most, on PostgreSQL as long as the network does. Neither asks the
//! database anything while nothing is written. While it cannot be known what others do, nothing is
//! cached.

mod postgres;
mod sqlite;

use serde::Deserialize;
use tenon_domain::{ChatId, UserId};
use tokio::task::JoinHandle;

use crate::StoreChange;
use crate::changes::{ChangeTopic, Changes};

pub(crate) use sqlite::ConnectionCount;

/// The task that watches. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ChangeWatch(JoinHandle<()>);

impl Drop for ChangeWatch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a trigger says about one change.
#[derive(Debug, Deserialize)]
struct LoggedChange {
    topic: ChangeTopic,
    #[serde(default)]
    user: String,
    #[serde(default)]
    chat: String,
}

impl From<LoggedChange> for StoreChange {
    fn from(logged: LoggedChange) -> Self {
        match logged.topic {
            ChangeTopic::Accounts => Self::Accounts(None),
            ChangeTopic::ToolSettings => Self::ToolSettings(None),
            ChangeTopic::Sources => Self::Sources,
            ChangeTopic::Models => Self::Models,
            ChangeTopic::Preferences => Self::Preferences(None),
            ChangeTopic::Experts => Self::Experts(None),
            ChangeTopic::Skills => Self::Skills,
            ChangeTopic::Chats => Self::Chat {
                user: UserId(logged.user),
                chat: ChatId(logged.chat),
            },
        }
    }
}

/// For a while it was not known what others did.
fn publish_everything(changes: &Changes) {
    for change in [
        StoreChange::Accounts(None),
        StoreChange::ToolSettings(None),
        StoreChange::Sources,
        StoreChange::Models,
        StoreChange::Preferences(None),
        StoreChange::Experts(None),
        StoreChange::Skills,
        StoreChange::Chats,
    ] {
        changes.publish_foreign(change);
    }
}
