//! What is set for a chat, as a file has it: experts and folders by their names, since their ids are
//! those of one Tenon.

use serde::{Deserialize, Serialize};
use tenon_domain::{ChatSettings, ModelParameters, UserId};
use tenon_store::{Chat, Error, NewChatState, Store};
use ts_rs::TS;

use crate::experts::{Experts, check_parameters};
use crate::folders::checked_name;
use crate::instructions::{InstructionsError, checked};

use super::import_error::ImportError;

/// What is set for an exported chat. What is left out is as in a new one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", default)]
pub struct ExportedSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<ModelParameters>,
    /// The name that programs use for who answers in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert: Option<String>,
    /// The name of the folder that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

impl ExportedSettings {
    /// Of a chat of this user. None: all is as in a new one.
    pub async fn of_chat(
        store: &Store,
        experts: &Experts,
        user: &UserId,
        chat: &Chat,
    ) -> tenon_store::Result<Option<Self>> {
        let ChatSettings {
            instructions,
            parameters,
        } = store.chat_settings(user, &chat.id).await?;
        let expert = match &chat.expert {
            Some(id) => found(experts.find(user, id).await)?,
            None => None,
        };
        let folder = match &chat.folder {
            Some(id) => found(store.folder(user, id).await)?,
            None => None,
        };
        let settings = Self {
            instructions: Some(instructions).filter(|text| !text.is_empty()),
            parameters: Some(parameters).filter(|set| *set != ModelParameters::default()),
            expert: expert.map(|expert| expert.definition.name),
            folder: folder.map(|folder| folder.name),
            pinned: chat.pinned.then_some(true),
            archived: chat.archived.then_some(true),
        };
        Ok(Some(settings).filter(|settings| *settings != Self::default()))
    }

    /// Refuses what could not be set here.
    pub(super) fn check(&self) -> Result<(), ImportError> {
        let refused = |why: InstructionsError| ImportError::Settings { why: why.into() };
        checked(self.instructions.as_deref().unwrap_or_default()).map_err(refused)?;
        check_parameters(&self.parameters.unwrap_or_default())
            .map_err(|why| ImportError::Settings { why: why.into() })?;
        if let Some(name) = &self.folder {
            checked_name(name).map_err(|why| ImportError::Settings { why: why.into() })?;
        }
        Ok(())
    }

    /// For a chat of this user. An expert that they do not have is left out.
    pub async fn resolve(
        self,
        experts: &Experts,
        user: &UserId,
    ) -> tenon_store::Result<NewChatState> {
        let expert = match &self.expert {
            Some(name) => found(experts.named(user, name).await)?.map(|expert| expert.id),
            None => None,
        };
        Ok(NewChatState {
            settings: ChatSettings {
                instructions: self.instructions.unwrap_or_default().trim().to_owned(),
                parameters: self.parameters.unwrap_or_default(),
            },
            expert,
            folder: self.folder.map(|name| name.trim().to_owned()),
            pinned: self.pinned.unwrap_or_default(),
            archived: self.archived.unwrap_or_default(),
        })
    }
}

/// It may be gone, or somebody else's.
fn found<T>(result: tenon_store::Result<T>) -> tenon_store::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
