//! The chats whose live view comes from another server.

use std::collections::HashMap;
use std::sync::Arc;

use tenon_domain::ChatId;

use super::RelayedUpdate;

/// What may come while the draft is on its way; where there is more, it is asked for again.
const MAX_BUFFERED: usize = 256;

#[derive(Debug, Default)]
pub(super) struct FollowedChats(HashMap<ChatId, FollowedChat>);

#[derive(Debug, Default)]
struct FollowedChat {
    /// The server that answers in it, where it is followed.
    owner: Option<Arc<str>>,
    check: CheckState,
    /// Its server did not answer.
    has_failed: bool,
    /// What came before the draft did; None: it is there.
    buffer: Option<Vec<RelayedUpdate>>,
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
    pub(super) fn knows(&self, chat: &ChatId) -> bool {
        self.0.contains_key(chat)
    }

    /// Whether nobody looks already; who does looks again.
    pub(super) fn begin_check(&mut self, chat: &ChatId) -> bool {
        let followed = self.0.entry(chat.clone()).or_default();
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

    /// Whether it is another server than before. What it says is kept until its draft is there.
    pub(super) fn change_owner(&mut self, chat: &ChatId, owner: Option<Arc<str>>) -> bool {
        let Some(followed) = self.0.get_mut(chat) else {
            return false;
        };
        if followed.owner == owner {
            return false;
        }
        followed.buffer = owner.is_some().then(Vec::new);
        followed.owner = owner;
        followed.has_failed = false;
        true
    }

    /// Whoever looks next follows it again.
    pub(super) fn forget_owner(&mut self, chat: &ChatId) {
        if let Some(followed) = self.0.get_mut(chat) {
            followed.owner = None;
            followed.buffer = None;
        }
    }

    pub(super) fn fail(&mut self, chat: &ChatId) {
        self.forget_owner(chat);
        if let Some(followed) = self.0.get_mut(chat) {
            followed.has_failed = true;
        }
    }

    pub(super) fn failed(&self) -> Vec<ChatId> {
        let failed = self.0.iter().filter(|(_, followed)| followed.has_failed);
        failed.map(|(chat, _)| chat.clone()).collect()
    }

    /// The draft is there. What came meanwhile; None: nobody wants it any more.
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
        if followed.owner.as_ref() != Some(from) {
            return None;
        }
        match &mut followed.buffer {
            None => Some(update),
            Some(buffer) => {
                // One that is missing shows by the offsets of the others.
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
