//! Folders of chats.

use serde::{Deserialize, Serialize};
use tenon_domain::{ExpertId, FolderId, UserId, coded_errors};
use tenon_store::{Folder, FolderEdit, Store};
use ts_rs::TS;

use crate::experts::Experts;
use crate::instructions::{InstructionsError, checked};
use crate::json::double_option;

const MAX_NAME_CHARS: usize = 100;

coded_errors! {
    /// Why a folder cannot be made or changed.
    #[derive(Debug)]
    pub enum FolderError {
        Name { max: usize } = "folder_name" in "name" => "The name of a folder has 1 to {max} characters, on one line.",
    }
    wraps {
        Instructions(InstructionsError),
        Store(tenon_store::Error),
    }
}

impl From<tenon_store::Error> for FolderError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Folders {
    pub(crate) store: Store,
    pub(crate) experts: Experts,
}

/// A folder of one's chats.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FolderView {
    pub id: FolderId,
    pub name: String,
    /// For the chats in it.
    pub instructions: String,
    /// Who answers in its new chats.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_id: Option<ExpertId>,
}

/// A new folder, or a change of one: what is left out stays as it is.
#[derive(Debug, Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChatFolderChange {
    /// A new one must have it.
    pub name: Option<String>,
    pub instructions: Option<String>,
    /// Null: the general one.
    #[ts(optional, type = "ExpertId | null")]
    #[serde(deserialize_with = "double_option")]
    pub expert_id: Option<Option<ExpertId>>,
}

impl Folders {
    pub async fn list(&self, user: &UserId) -> Result<Vec<FolderView>, FolderError> {
        let folders = self.store.folders(user).await?.into_iter();
        Ok(folders.map(FolderView::from).collect())
    }

    pub async fn create(
        &self,
        user: &UserId,
        mut new: ChatFolderChange,
    ) -> Result<FolderView, FolderError> {
        new.name.get_or_insert_default();
        let edit = self.edit(user, new).await?;
        Ok(self.store.add_folder(user, edit).await?.into())
    }

    pub async fn change(
        &self,
        user: &UserId,
        id: &FolderId,
        change: ChatFolderChange,
    ) -> Result<FolderView, FolderError> {
        let edit = self.edit(user, change).await?;
        Ok(self.store.change_folder(user, id, edit).await?.into())
    }

    /// Its chats stay.
    pub async fn delete(&self, user: &UserId, id: &FolderId) -> Result<(), FolderError> {
        Ok(self.store.delete_folder(user, id).await?)
    }

    async fn edit(
        &self,
        user: &UserId,
        change: ChatFolderChange,
    ) -> Result<FolderEdit, FolderError> {
        let instructions = change.instructions.as_deref().map(checked);
        if let Some(Some(expert)) = &change.expert_id {
            self.experts.find(user, expert).await?;
        }
        Ok(FolderEdit {
            name: change.name.as_deref().map(checked_name).transpose()?,
            instructions: instructions
                .transpose()
                .map_err(FolderError::Instructions)?,
            expert: change.expert_id,
        })
    }
}

pub(crate) fn checked_name(name: &str) -> Result<String, FolderError> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > MAX_NAME_CHARS || name.contains(char::is_control) {
        let max = MAX_NAME_CHARS;
        return Err(FolderError::Name { max });
    }
    Ok(name.to_owned())
}

impl From<Folder> for FolderView {
    fn from(folder: Folder) -> Self {
        Self {
            id: folder.id,
            name: folder.name,
            instructions: folder.instructions,
            expert_id: folder.expert,
        }
    }
}
