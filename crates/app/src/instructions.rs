//! Instructions added to Tenon's own system prompt: of the expert, the user, the folder and the
//! chat.

use std::sync::Arc;

use tenon_agent::TurnProfile;
use tenon_domain::{
    ChatId, ChatSettings, ExpertId, FolderId, ModelParameters, UserId, coded_errors,
};
use tenon_llm::GenerationOptions;
use tenon_store::Store;

use crate::experts::{Expert, ExpertError, Experts, check_parameters};

pub const MAX_INSTRUCTIONS_CHARS: usize = 8_000;

/// Where a user's own are.
const PREFERENCE: &str = "instructions";

coded_errors! {
    /// Why instructions cannot be kept.
    #[derive(Debug)]
    pub enum InstructionsError {
        TooLong { max: usize } = "instructions_too_long" in "instructions" => "Instructions have {max} characters at most.",
    }
    wraps {
        Parameters(ExpertError),
        Store(tenon_store::Error),
    }
}

impl From<tenon_store::Error> for InstructionsError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Instructions {
    pub(crate) store: Store,
    pub(crate) experts: Experts,
}

impl Instructions {
    /// A user's own, for all their chats.
    pub async fn of_user(&self, user: &UserId) -> tenon_store::Result<String> {
        let stored = self.store.preference(Some(user), PREFERENCE).await?;
        Ok(stored.unwrap_or_default())
    }

    pub async fn set_for_user(&self, user: &UserId, text: &str) -> Result<(), InstructionsError> {
        let text = checked(text)?;
        let setting = self.store.set_preference(Some(user), PREFERENCE, &text);
        Ok(setting.await?)
    }

    pub async fn set_for_chat(
        &self,
        user: &UserId,
        chat: &ChatId,
        settings: ChatSettings,
    ) -> Result<ChatSettings, InstructionsError> {
        check_parameters(&settings.parameters).map_err(InstructionsError::Parameters)?;
        let settings = ChatSettings {
            instructions: checked(&settings.instructions)?,
            ..settings
        };
        let setting = self.store.set_chat_settings(user, chat, &settings);
        setting.await?;
        Ok(settings)
    }

    /// All that is added to a turn of a chat, and the expert who answers in it.
    pub async fn of_chat(
        &self,
        user: &UserId,
        chat: &ChatId,
    ) -> Result<(Option<Expert>, TurnProfile), ExpertError> {
        let stored = self.store.chat(user, chat).await?;
        let settings = self.store.chat_settings(user, chat).await?;
        let place = (stored.expert.as_ref(), stored.folder.as_ref());
        self.of_new_chat(user, place, settings).await
    }

    /// The same for a chat that is not there yet.
    pub async fn of_new_chat(
        &self,
        user: &UserId,
        (expert, folder): (Option<&ExpertId>, Option<&FolderId>),
        settings: ChatSettings,
    ) -> Result<(Option<Expert>, TurnProfile), ExpertError> {
        let expert = self.experts.of_chat(user, expert).await?;
        let folder = match folder {
            Some(folder) => Some(self.store.folder(user, folder).await?),
            None => None,
        };
        let mut profile = expert.as_ref().map(Expert::for_turn).unwrap_or_default();
        let mine = self.of_user(user).await?;
        let folder = folder.map(|folder| folder.instructions);
        for (title, text) in [
            ("Instructions of the user", mine),
            ("Instructions for this project", folder.unwrap_or_default()),
            ("Instructions for this conversation", settings.instructions),
        ] {
            add(&mut profile.system_prompt, title, &text);
        }
        profile.options = options(&settings.parameters).or(&profile.options);
        Ok((expert, profile))
    }
}

/// The expert alone, outside any chat.
impl Expert {
    pub fn for_turn(&self) -> TurnProfile {
        TurnProfile {
            expert: Some(self.id.clone()),
            system_prompt: self.definition.system_prompt.clone(),
            options: options(&self.definition.parameters),
            tools: self.definition.tool_filter().map(Arc::new),
        }
    }
}

/// Refuses instructions that are too long for every small model.
pub(crate) fn checked(text: &str) -> Result<String, InstructionsError> {
    let text = text.trim();
    if text.chars().count() > MAX_INSTRUCTIONS_CHARS {
        let max = MAX_INSTRUCTIONS_CHARS;
        return Err(InstructionsError::TooLong { max });
    }
    Ok(text.to_owned())
}

fn add(prompt: &mut String, title: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    if !prompt.is_empty() {
        prompt.push_str("\n\n");
    }
    prompt.push_str(title);
    prompt.push_str(":\n");
    prompt.push_str(text);
}

fn options(parameters: &ModelParameters) -> GenerationOptions {
    let effort = parameters.effort.map(|effort| effort.as_str());
    let effort = effort.map(|effort| ("reasoning_effort".to_owned(), effort.into()));
    GenerationOptions {
        max_tokens: parameters.max_tokens,
        temperature: parameters.temperature,
        top_p: parameters.top_p,
        sampling: effort.into_iter().collect(),
        ..GenerationOptions::default()
    }
}
