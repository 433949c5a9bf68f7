//! Deleting a chat, even one that is being answered.

use tenon_domain::{ChatId, UserId};
use tenon_store::{Error, Result};

use crate::Agent;

impl Agent {
    /// Stops the chat's turn, then deletes the chat and its work folder. Runs
    /// to its end even if the caller goes away halfway.
    pub async fn delete(&self, user: &UserId, chat: &ChatId) -> Result<()> {
        self.store.chat(user, chat).await?;
        let (agent, user, chat) = (self.clone(), user.clone(), chat.clone());
        let deleting = tokio::spawn(async move { agent.delete_all(&user, &chat).await });
        // It does not panic and is not aborted; only a runtime that ends can cut it off.
        deleting.await.unwrap_or(Err(Error::NotFound("chat")))
    }

    async fn delete_all(&self, user: &UserId, chat: &ChatId) -> Result<()> {
        self.running.stop(chat).await;
        self.store.delete_chat(user, chat).await?;
        self.feed.forget(chat);
        let folder = self.workspace(chat);
        if let Err(error) = tokio::fs::remove_dir_all(&folder).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %folder.display(), "the work folder of a deleted chat is left behind");
        }
        tracing::info!(%chat, "chat deleted");
        Ok(())
    }
}
