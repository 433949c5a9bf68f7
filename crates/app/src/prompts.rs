//! Prompts that people save, and put into messages by their commands.

use serde::{Deserialize, Serialize};
use tenon_domain::{PromptId, UserId, Visibility, coded_errors};
use tenon_store::{NewPromptRow, Store, StoredPrompt};
use ts_rs::TS;

use crate::auth::CurrentUser;

const MAX_COMMAND_CHARS: usize = 40;
const MAX_TITLE_CHARS: usize = 120;
const MAX_TEXT_CHARS: usize = 32_000;

coded_errors! {
    /// Why a prompt cannot be saved or changed.
    #[derive(Debug)]
    pub enum PromptError {
        Command { max: usize } = "prompt_command" in "command" => "A command has 1 to {max} letters, digits, hyphens and underscores, such as `summary`.",
        Title { max: usize } = "prompt_title" in "title" => "A title has at most {max} characters.",
        Text { max: usize } = "prompt_text" in "text" => "The text of a prompt has 1 to {max} characters.",
        NotYours = "prompt_not_yours" => "Only whoever saved this prompt, or an admin, can change it. Save one of your own instead.",
    }
    wraps {
        Store(tenon_store::Error),
    }
}

impl From<tenon_store::Error> for PromptError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct SavedPrompts {
    pub(crate) store: Store,
}

/// A prompt that somebody saved.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PromptView {
    pub id: PromptId,
    /// What it is found by, after a slash.
    pub command: String,
    pub title: String,
    pub text: String,
    pub visibility: Visibility,
    pub mine: bool,
    /// Whether whoever asks may change and delete it.
    pub can_change: bool,
}

/// A prompt to save.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPrompt {
    pub command: String,
    #[serde(default)]
    #[ts(optional, as = "Option<String>")]
    pub title: String,
    pub text: String,
    #[serde(default)]
    #[ts(optional, as = "Option<Visibility>")]
    pub visibility: Visibility,
}

/// A change of a prompt: what is left out stays as it is.
#[derive(Debug, Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PromptChange {
    pub command: Option<String>,
    pub title: Option<String>,
    pub text: Option<String>,
    pub visibility: Option<Visibility>,
}

impl SavedPrompts {
    /// Somebody's own and the team's.
    pub async fn list(&self, user: &CurrentUser) -> Result<Vec<PromptView>, PromptError> {
        let prompts = self.store.prompts(&user.id).await?.into_iter();
        Ok(prompts.map(|prompt| view(user, prompt)).collect())
    }

    pub async fn create(
        &self,
        user: &CurrentUser,
        new: NewPrompt,
    ) -> Result<PromptView, PromptError> {
        let (command, title) = (new.command.trim(), new.title.trim());
        check(command, title, &new.text)?;
        let row = NewPromptRow {
            visibility: new.visibility,
            command,
            title,
            text: &new.text,
        };
        Ok(view(user, self.store.add_prompt(&user.id, row).await?))
    }

    pub async fn change(
        &self,
        user: &CurrentUser,
        id: &PromptId,
        change: PromptChange,
    ) -> Result<PromptView, PromptError> {
        let changed = |old: StoredPrompt| {
            require_rights(user, old.owner.as_ref())?;
            let text = |new: Option<String>, old: String| new.map_or(old, |new| new.trim().into());
            let prompt = StoredPrompt {
                visibility: change.visibility.unwrap_or(old.visibility),
                command: text(change.command, old.command),
                title: text(change.title, old.title),
                text: change.text.unwrap_or(old.text),
                ..old
            };
            check(&prompt.command, &prompt.title, &prompt.text)?;
            Ok::<_, PromptError>(prompt)
        };
        let changed = self.store.change_prompt(&user.id, id, changed).await?;
        Ok(view(user, changed))
    }

    pub async fn delete(&self, user: &CurrentUser, id: &PromptId) -> Result<(), PromptError> {
        let prompt = self.store.prompt(&user.id, id).await?;
        require_rights(user, prompt.owner.as_ref())?;
        Ok(self.store.delete_prompt(id).await?)
    }
}

fn view(user: &CurrentUser, prompt: StoredPrompt) -> PromptView {
    PromptView {
        mine: prompt.owner.as_ref() == Some(&user.id),
        can_change: require_rights(user, prompt.owner.as_ref()).is_ok(),
        id: prompt.id,
        command: prompt.command,
        title: prompt.title,
        text: prompt.text,
        visibility: prompt.visibility,
    }
}

fn require_rights(user: &CurrentUser, owner: Option<&UserId>) -> Result<(), PromptError> {
    let is_own = owner == Some(&user.id) && user.has_full_access();
    if is_own || user.administers() {
        Ok(())
    } else {
        Err(PromptError::NotYours)
    }
}

fn check(command: &str, title: &str, text: &str) -> Result<(), PromptError> {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let is_command = (1..=MAX_COMMAND_CHARS).contains(&command.chars().count());
    if !is_command || !command.chars().all(is_allowed) {
        let max = MAX_COMMAND_CHARS;
        return Err(PromptError::Command { max });
    }
    if title.chars().count() > MAX_TITLE_CHARS {
        let max = MAX_TITLE_CHARS;
        return Err(PromptError::Title { max });
    }
    let length = text.chars().count();
    if text.trim().is_empty() || length > MAX_TEXT_CHARS {
        let max = MAX_TEXT_CHARS;
        return Err(PromptError::Text { max });
    }
    Ok(())
}
