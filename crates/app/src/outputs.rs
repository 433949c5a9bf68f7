//! The hub's tool ids and tool outputs in the store, and how much of it is whose.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tenon_domain::{BlobId, ChatId, SourceInfo, ToolId, UserId};
use tenon_store::{Blob, Store};
use tenon_tools::{CallContext, Error, OutputStore, Quota, StorageInventory, ToolIdStore};

#[derive(Debug)]
pub(crate) struct StoredToolIds(pub(crate) Store);

/// Keeps outputs as far as their owner's quota allows.
#[derive(Debug)]
pub(crate) struct StoredOutputs {
    pub(crate) store: Store,
    pub(crate) quota: Arc<Quota>,
}

/// What users have in the store and in the folders of their chats.
#[derive(Debug)]
pub(crate) struct UserStorage {
    pub(crate) store: Store,
    /// Where the folders are.
    pub(crate) workspaces: PathBuf,
}

/// The name of the folder for calls that a person makes themself, outside any chat.
pub(crate) fn manual_workspace(user: &UserId) -> ChatId {
    ChatId(format!("by-hand-{user}"))
}

#[async_trait]
impl StorageInventory for UserStorage {
    async fn of(&self, user: &UserId) -> Result<(Vec<PathBuf>, u64), Error> {
        let mut chats = self.store.chat_ids(user).await.map_err(hub_error)?;
        chats.push(manual_workspace(user));
        let folders = chats.iter().map(|chat| self.workspaces.join(chat.as_str()));
        let outputs = self.store.blob_bytes(user).await.map_err(hub_error)?;
        let files = self.store.file_bytes(user).await.map_err(hub_error)?;
        Ok((folders.collect(), outputs + files))
    }
}

#[async_trait]
impl ToolIdStore for StoredToolIds {
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error> {
        self.0.tool_ids(source, names).await.map_err(hub_error)
    }
}

#[async_trait]
impl OutputStore for StoredOutputs {
    async fn put(
        &self,
        call: &CallContext,
        media_type: &str,
        bytes: Vec<u8>,
    ) -> Result<BlobId, Error> {
        let reserving = self.quota.reserve_output(&call.user, bytes.len() as u64);
        let _reservation = reserving.await.map_err(|over| Error(Box::new(over)))?;
        let blob = Blob {
            media_type: media_type.into(),
            data: bytes,
        };
        self.store
            .put_blob(&call.user, &call.call_id, blob)
            .await
            .map_err(hub_error)
    }

    async fn get(&self, owner: &UserId, blob: &BlobId) -> Result<Option<Vec<u8>>, Error> {
        match self.store.blob(owner, blob).await {
            Ok(blob) => Ok(Some(blob.data)),
            Err(tenon_store::Error::NotFound(_)) => Ok(None),
            Err(error) => Err(hub_error(error)),
        }
    }
}

fn hub_error(error: tenon_store::Error) -> Error {
    Error(Box::new(error))
}
