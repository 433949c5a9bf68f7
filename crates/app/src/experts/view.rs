//! Experts as clients see and change them.

use serde::{Deserialize, Serialize};
use tenon_domain::pattern::Pattern;
use tenon_domain::{ExpertDefinition, ExpertId, ModelId, ModelParameters, SourceId, Visibility};
use ts_rs::TS;

use super::{Expert, ExpertOrigin};
use crate::auth::CurrentUser;
use crate::json::double_option;

/// An expert that can be chosen.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExpertView {
    pub id: ExpertId,
    /// It comes with Tenon; the page has its title and starters in its own language.
    pub builtin: bool,
    pub visibility: Visibility,
    /// Whether whoever asks made it.
    pub mine: bool,
    /// Whether they may change and delete it.
    pub can_change: bool,
    /// They do not want to see it in their lists.
    pub hidden: bool,
    #[serde(flatten)]
    pub definition: ExpertDefinition,
}

/// An expert as a file, for another Tenon.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExpertFile {
    /// YAML; JSON can be read, too. Skills are named in it.
    pub text: String,
}

/// A new expert, or a change of one: what is left out stays as it is. `hidden` is of whoever asks,
/// and can be said of every expert.
#[derive(Debug, Default, PartialEq, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExpertChange {
    /// Left out for a new one, it is made from the title.
    pub name: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub icon: Option<String>,
    /// Null: the default one.
    #[ts(optional, type = "ModelId | null")]
    #[serde(deserialize_with = "double_option")]
    pub model: Option<Option<ModelId>>,
    pub parameters: Option<ModelParameters>,
    pub system_prompt: Option<String>,
    /// Ids of tools, or patterns of them; null: all that are switched on.
    #[ts(optional, type = "Array<string> | null")]
    #[serde(deserialize_with = "double_option")]
    pub tools: Option<Option<Vec<Pattern>>>,
    pub skills: Option<Vec<SourceId>>,
    pub starters: Option<Vec<String>>,
    pub visibility: Option<Visibility>,
    pub hidden: Option<bool>,
}

impl ExpertChange {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// All but who sees it.
    pub(super) fn apply(&mut self, definition: &mut ExpertDefinition) {
        let texts = [
            (&mut definition.name, self.name.take()),
            (&mut definition.title, self.title.take()),
            (&mut definition.description, self.description.take()),
            (&mut definition.icon, self.icon.take()),
            (&mut definition.system_prompt, self.system_prompt.take()),
        ];
        for (text, changed) in texts {
            if let Some(changed) = changed {
                *text = changed.trim().to_owned();
            }
        }
        if let Some(model) = self.model.take() {
            definition.model = model;
        }
        if let Some(parameters) = self.parameters.take() {
            definition.parameters = parameters;
        }
        if let Some(tools) = self.tools.take() {
            definition.tools = tools;
        }
        if let Some(skills) = self.skills.take() {
            definition.skills = skills;
        }
        if let Some(starters) = self.starters.take() {
            definition.starters = starters;
        }
    }
}

impl Expert {
    pub(super) fn view(&self, user: &CurrentUser, hidden: bool) -> ExpertView {
        ExpertView {
            id: self.id.clone(),
            builtin: self.is_builtin(),
            visibility: match &self.origin {
                ExpertOrigin::Builtin => Visibility::Team,
                ExpertOrigin::Made { visibility, .. } => *visibility,
            },
            mine: self.is_of(&user.id),
            can_change: self.require_rights(user).is_ok(),
            hidden,
            definition: self.definition.clone(),
        }
    }
}
