//! A chat goes, with everything that is its own: first from sight, later for good.

use std::path::Path;
use std::time::Duration;

use tenon_domain::{ChatId, UserId};
use tenon_store::{Error, Result};

use crate::Agent;

/// How long a temporary chat is kept after it was last used.
const TEMPORARY_MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

impl Agent {
    /// Deletes the chat and stops its turn. Runs to its end even if the
    /// caller goes away halfway.
    pub async fn delete(&self, user: &UserId, chat: &ChatId) -> Result<()> {
        let (agent, user, chat) = (self.clone(), user.clone(), chat.clone());
        let deleting = tokio::spawn(async move { agent.hide(&user, &chat).await });
        // The task neither panics nor is aborted, so an error only means that the runtime shuts
        // down.
        deleting.await.unwrap_or(Err(Error::NotFound("chat")))
    }

    /// Deletes the temporary chats that nobody has used for a day.
    pub async fn delete_stale_temporary_chats(&self) -> Result<()> {
        for (user, chat) in self.store.stale_temporary_chats(TEMPORARY_MAX_AGE).await? {
            match self.delete(&user, &chat).await {
                // Another process looks after the same database.
                Ok(()) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn hide(&self, user: &UserId, chat: &ChatId) -> Result<()> {
        // First from the store: a turn that is about to begin must not slip in after the stop.
        self.store.delete_chat(user, chat).await?;
        self.running.stop(chat).await;
        self.stop_elsewhere(chat).await;
        self.feed.forget(chat);
        tracing::info!(%chat, "chat deleted");
        Ok(())
    }

    /// Erases chats deleted longer ago than this, with their work folders. The folder goes first:
    /// after a crash the chat is found again, whereas an orphaned folder would not be.
    pub async fn purge(&self, ago: Duration) -> Result<()> {
        for chat in self.store.deleted_chats(ago).await? {
            remove_folder(&self.workspace(&chat)).await;
            match self.store.purge_chat(&chat).await {
                Ok(()) => tracing::info!(%chat, "chat removed for good"),
                // Another process looks after the same database.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Removes a work folder whose owner is gone. One that cannot be removed is no
/// reason to keep the owner.
pub async fn remove_folder(folder: &Path) {
    if let Err(error) = tokio::fs::remove_dir_all(folder).await
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, folder = %folder.display(), "a work folder is left behind");
    }
}
