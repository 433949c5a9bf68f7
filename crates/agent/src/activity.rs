//! Chats whose state in this process changed without a write: a turn let go of its slot, a form
//! closed. What begins is written down, so the store tells of it.

use tenon_domain::ChatId;
use tokio::sync::broadcast;

/// How many changes a slow subscriber may miss before it has to read everything again.
const CHANGE_QUEUE: usize = 1024;

#[derive(Debug, Clone)]
pub(crate) struct ChatActivity(broadcast::Sender<ChatId>);

impl ChatActivity {
    pub(crate) fn publish(&self, chat: &ChatId) {
        // Nobody may be listening.
        let _ = self.0.send(chat.clone());
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<ChatId> {
        self.0.subscribe()
    }
}

impl Default for ChatActivity {
    fn default() -> Self {
        Self(broadcast::Sender::new(CHANGE_QUEUE))
    }
}
