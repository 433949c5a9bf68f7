//! Attachments that people attach to their messages.
//!
//! A file is kept from when it is sent; a message that is sent with it takes it into its chat, and
//! a copy into the chat's folder, where tools find it. What no message took is forgotten after a
//! day.

mod content;
mod document_reader;
mod error;
mod workspace_copy;

pub(crate) use content::checked;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tenon_agent::Agent;
use tenon_domain::{AttachedFile, ChatId, FileId, UserId};
use tenon_sandbox::Sandbox;
use tenon_store::{FileContent, Store};
use tenon_tools::Quota;
use ts_rs::TS;

use document_reader::DocumentReader;
pub use error::AttachmentError;
use workspace_copy::copy_into;

pub const MAX_FILE_BYTES: usize = 20 * 1024 * 1024;

/// Of one message.
pub const MAX_FILES: usize = 10;

/// How long a file is kept that no message has.
const UNSENT_MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Attachments {
    store: Store,
    agent: Agent,
    quota: Arc<Quota>,
    documents: Arc<DocumentReader>,
}

/// How much can be attached.
#[derive(Debug, Clone, Copy, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileLimits {
    #[ts(type = "number")]
    pub max_bytes: usize,
    /// In one message.
    #[ts(type = "number")]
    pub max_count: usize,
}

impl FileLimits {
    pub const CURRENT: Self = Self {
        max_bytes: MAX_FILE_BYTES,
        max_count: MAX_FILES,
    };
}

impl Attachments {
    pub(crate) fn new(
        store: Store,
        agent: Agent,
        quota: Arc<Quota>,
        (sandbox, program): (Sandbox, PathBuf),
    ) -> Self {
        Self {
            store,
            agent,
            quota,
            documents: Arc::new(DocumentReader::new(sandbox, program)),
        }
    }

    /// Keeps a file, with the text that a model can be told of it.
    pub async fn add(
        &self,
        user: &UserId,
        name: &str,
        data: Vec<u8>,
    ) -> Result<AttachedFile, AttachmentError> {
        let content = content::read(&self.documents, name, data).await?;
        let bytes = content.data.len() + content.text.as_ref().map_or(0, String::len);
        let reserving = self.quota.reserve_output(user, bytes as u64);
        let _reservation = reserving.await.map_err(AttachmentError::Quota)?;
        Ok(self.store.put_file(user, content).await?)
    }

    pub async fn show(&self, user: &UserId, id: &FileId) -> Result<FileContent, AttachmentError> {
        Ok(self.store.file(user, id).await?)
    }

    /// Forgets one that was not sent.
    pub async fn delete(&self, user: &UserId, id: &FileId) -> Result<(), AttachmentError> {
        Ok(self.store.delete_file(user, id).await?)
    }

    /// Takes files into a chat, before the message that brings them. Done twice it is done once.
    pub async fn attach(
        &self,
        user: &UserId,
        chat: &ChatId,
        ids: &[FileId],
    ) -> Result<Vec<AttachedFile>, AttachmentError> {
        if ids.len() > MAX_FILES {
            return Err(AttachmentError::TooMany { max: MAX_FILES });
        }
        let mut attached = Vec::with_capacity(ids.len());
        for id in ids {
            attached.push(self.attach_one(user, chat, id).await?);
        }
        Ok(attached)
    }

    async fn attach_one(
        &self,
        user: &UserId,
        chat: &ChatId,
        id: &FileId,
    ) -> Result<AttachedFile, AttachmentError> {
        let mut content = self.store.file(user, id).await?;
        match self.store.chat_of_file(user, id).await? {
            Some(owner) if owner == *chat => return Ok(content.file),
            // Another chat has it already, and keeps it.
            Some(_) => content.file = self.store.put_file(user, content.clone()).await?,
            None => {}
        }
        let folder = self.agent.workspace(chat);
        let reserving = self.quota.reserve_file(user, &folder, content.file.size);
        let _reservation = reserving.await.map_err(AttachmentError::Quota)?;
        let FileContent { mut file, data, .. } = content;
        file.name = copy_into(folder, file.name, data).await?;
        let attaching = self.store.attach_file(user, &file.id, chat, &file.name);
        if attaching.await? || self.store.chat_of_file(user, &file.id).await?.as_ref() == Some(chat)
        {
            return Ok(file);
        }
        // Another chat has taken it meanwhile, as when two models are compared.
        let taken = self.store.file(user, &file.id).await?;
        let name = file.name;
        let file = AttachedFile { name, ..taken.file };
        let copying = self.store.put_file(user, FileContent { file, ..taken });
        let copy = copying.await?;
        let attaching = self.store.attach_file(user, &copy.id, chat, &copy.name);
        attaching.await?;
        Ok(copy)
    }

    pub async fn sweep(&self) -> tenon_store::Result<u64> {
        self.store.sweep_files(UNSENT_MAX_AGE).await
    }
}
