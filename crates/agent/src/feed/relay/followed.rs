//! The chats whose live view comes from another server.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use tenon_domain::ChatId;

use super::RelayedUpdate;

/// Updates buffered while the snapshot is on its way; on overflow it is requested again.
const MAX_BUFFERED: usize = 256;

#[derive(Debug, Default)]
pub(super) struct FollowedChats(HashMap<ChatId, FollowedChat>);

#[derive(Debug, Default)]
struct FollowedChat {
    /// The server that answers in it, where it is followed.
    owner: Option<Arc<str>>,
    /// Something was missed: the draft is to be asked for again.
    is_behind: bool,
    check: CheckState,
    /// The store or the owner did not answer.
    has_failed: bool,
    /// Updates received before the snapshot. None once the snapshot is there.
    buffer: Option<Vec<RelayedUpdate>>,
}

/// Another server answers in a chat, or the same one is followed anew.
#[derive(Debug)]
pub(super) struct OwnerChange {
    pub(super) former: Option<Arc<str>>,
}

#[derive(Debug, Default, PartialEq)]
enum CheckState {
    #[default]
    Idle,
    Running,
    /// Something changed meanwhile: once more.
    Again,
}

impl FollowedChats {
    /// A page watches it. Whether it is new.
    pub(super) fn insert(&mut self, chat: &ChatId) -> bool {
        let entry = self.0.entry(chat.clone());
        let is_new = matches!(entry, Entry::Vacant(_));
        entry.or_default();
        is_new
    }

    /// Starts a check of a watched chat, unless one is running; a running check then repeats.
    pub(super) fn begin_check(&mut self, chat: &ChatId) -> bool {
        let Some(followed) = self.0.get_mut(chat) else {
            return false;
        };
        let is_idle = followed.check == CheckState::Idle;
        followed.check = if is_idle {
            CheckState::Running
        } else {
            CheckState::Again
        };
        is_idle
    }

    /// Whether it has to be looked once more.
    pub(super) fn ends_check(&mut self, chat: &ChatId) -> bool {
        let Some(followed) = self.0.get_mut(chat) else {
            return false;
        };
        let again = followed.check == CheckState::Again;
        followed.check = if again {
            CheckState::Running
        } else {
            CheckState::Idle
        };
        again
    }

    pub(super) fn abandon_check(&mut self, chat: &ChatId) {
        if let Some(followed) = self.0.get_mut(chat) {
            followed.check = CheckState::Idle;
        }
    }

    /// Whether another server answers in it, as far as is known.
    pub(super) fn has_owner(&self, chat: &ChatId) -> bool {
        let followed = self.0.get(chat);
        followed.is_some_and(|followed| followed.owner.is_some())
    }

    /// Sets the owner of a chat's turn. Returns the former one if the owner changed or a new
    /// snapshot is needed; updates are buffered until it arrives.
    pub(super) fn set_owner(
        &mut self,
        chat: &ChatId,
        owner: Option<Arc<str>>,
    ) -> Option<OwnerChange> {
        let followed = self.0.get_mut(chat)?;
        followed.has_failed = false;
        if followed.owner == owner && !followed.is_behind {
            return None;
        }
        followed.is_behind = false;
        followed.buffer = owner.is_some().then(Vec::new);
        let former = std::mem::replace(&mut followed.owner, owner);
        Some(OwnerChange { former })
    }

    /// Marks the chat as behind, so that the next check requests a snapshot again.
    pub(super) fn set_behind(&mut self, chat: &ChatId) {
        if let Some(followed) = self.0.get_mut(chat) {
            followed.is_behind = true;
            followed.buffer = None;
        }
    }

    /// The same for all of them.
    pub(super) fn set_all_behind(&mut self) -> Vec<ChatId> {
        let chats: Vec<ChatId> = self.0.keys().cloned().collect();
        chats.iter().for_each(|chat| self.set_behind(chat));
        chats
    }

    /// Marks a failed check, which is retried soon.
    pub(super) fn set_failed(&mut self, chat: &ChatId) {
        if let Some(followed) = self.0.get_mut(chat) {
            followed.has_failed = true;
        }
    }

    pub(super) fn failed(&self) -> Vec<ChatId> {
        let failed = self.0.iter().filter(|(_, followed)| followed.has_failed);
        failed.map(|(chat, _)| chat.clone()).collect()
    }

    /// The snapshot has arrived. Returns the updates buffered meanwhile, or None if nobody watches
    /// any more.
    pub(super) fn begin_live(&mut self, chat: &ChatId) -> Option<Vec<RelayedUpdate>> {
        let followed = self.0.get_mut(chat)?;
        Some(followed.buffer.take().unwrap_or_default())
    }

    /// Gives an update back that can be applied now.
    pub(super) fn take(
        &mut self,
        chat: &ChatId,
        from: &Arc<str>,
        update: RelayedUpdate,
    ) -> Option<RelayedUpdate> {
        let followed = self.0.get_mut(chat)?;
        if followed.is_behind || followed.owner.as_ref() != Some(from) {
            return None;
        }
        match &mut followed.buffer {
            None => Some(update),
            Some(buffer) => {
                // A dropped update is noticed later by the gap in the offsets.
                if buffer.len() < MAX_BUFFERED {
                    buffer.push(update);
                }
                None
            }
        }
    }

    /// Says who had it.
    pub(super) fn remove(&mut self, chat: &ChatId) -> Option<Arc<str>> {
        self.0.remove(chat)?.owner
    }

    pub(super) fn by_owner(&self) -> HashMap<Arc<str>, Vec<ChatId>> {
        let mut owners: HashMap<Arc<str>, Vec<ChatId>> = HashMap::new();
        for (chat, followed) in &self.0 {
            if let Some(owner) = &followed.owner {
                owners.entry(owner.clone()).or_default().push(chat.clone());
            }
        }
        owners
    }
}
