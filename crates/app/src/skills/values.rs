//! Variables, secrets and settings of skills, sealed at rest.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

use tenon_domain::{Account, SourceId, UserId};
use tenon_sources::skill::package::SkillPackage;
use tenon_sources::skill::{SkillUsers, SkillValues};
use tenon_store::{Store, StoredSkill, Vault};

use super::view::{SkillChange, SkillValueView};
use super::{SkillFault, Skills};
use crate::auth::CurrentUser;

/// Holds a certificate; what is larger belongs into a file.
const MAX_VALUE_BYTES: usize = 32 * 1024;

const MAX_SETTINGS_BYTES: usize = 64 * 1024;

/// What was set for everybody.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StoredValues {
    variables: BTreeMap<String, String>,
    pub(super) settings: Map<String, Value>,
}

pub(super) fn open(vault: &Vault, row: &StoredSkill) -> Result<StoredValues, SkillFault> {
    let Some(sealed) = &row.sealed_values else {
        return Ok(StoredValues::default());
    };
    let text = vault.open_sealed(&about(&row.id), sealed)?;
    Ok(serde_json::from_str(&text).map_err(tenon_store::Error::from)?)
}

pub(super) fn change(
    vault: &Vault,
    row: &mut StoredSkill,
    package: &SkillPackage,
    change: &mut SkillChange,
) -> Result<(), SkillFault> {
    let mut values = open(vault, row)?;
    for (name, value) in change.variables.take().into_iter().flatten() {
        let mut declared = package.permissions.variables.iter();
        if !declared.any(|variable| variable.name == name) {
            let name = name.into();
            return Err(SkillFault::NoSuchVariable { name });
        }
        match value {
            Some(value) if value.len() > MAX_VALUE_BYTES || value.contains('\0') => {
                let (name, max) = (name.into(), MAX_VALUE_BYTES);
                return Err(SkillFault::ValueTooLong { name, max });
            }
            Some(value) => values.variables.insert(name, value),
            None => values.variables.remove(&name),
        };
    }
    if let Some(settings) = change.settings.take() {
        check_settings(&settings)?;
        values.settings = settings;
    }
    let text = serde_json::to_string(&values).map_err(tenon_store::Error::from)?;
    row.sealed_values = Some(vault.seal(&about(&row.id), &text));
    Ok(())
}

fn check_settings(settings: &Map<String, Value>) -> Result<(), SkillFault> {
    let length = Value::from(settings.clone()).to_string().len();
    if length > MAX_SETTINGS_BYTES {
        let why = format!("they are longer than {MAX_SETTINGS_BYTES} bytes.").into();
        return Err(SkillFault::Settings { why });
    }
    Ok(())
}

fn about(id: &SourceId) -> String {
    format!("skill:{id}")
}

impl StoredValues {
    /// With defaults, as programs get them.
    pub(super) fn complete(self, package: &SkillPackage) -> SkillValues {
        let declared = package.permissions.variables.iter();
        let mut variables: BTreeMap<String, String> = declared
            .filter_map(|variable| Some((variable.name.clone(), variable.default.clone()?)))
            .collect();
        variables.extend(self.variables);
        SkillValues {
            variables,
            settings: self.settings,
        }
    }

    pub(super) fn views(&self, package: &SkillPackage) -> Vec<SkillValueView> {
        let declared = package.permissions.variables.iter();
        let views = declared.map(|variable| {
            let value = self.variables.get(&variable.name);
            SkillValueView {
                name: variable.name.clone(),
                is_set: value.is_some(),
                value: value.filter(|_| !variable.is_secret).cloned(),
            }
        });
        views.collect()
    }
}

impl Skills {
    pub(super) async fn user_settings(
        &self,
        skill: &SourceId,
        user: &UserId,
    ) -> Result<Map<String, Value>, SkillFault> {
        Ok(read_user_settings(&self.0.store, &self.0.vault, skill, user).await?)
    }

    pub(super) async fn set_user_settings(
        &self,
        user: &CurrentUser,
        row: &StoredSkill,
        settings: Map<String, Value>,
    ) -> Result<(), SkillFault> {
        check_settings(&settings)?;
        let text = Value::from(settings).to_string();
        let seal = |id: &str| self.0.vault.seal(&about_user(id), &text);
        let stored = self
            .0
            .store
            .put_skill_user_settings(&row.id, &user.id, seal);
        Ok(stored.await?)
    }
}

/// Users and their settings, for calls.
pub(super) struct StoredSkillUsers {
    pub(super) store: Store,
    pub(super) vault: Arc<Vault>,
}

#[async_trait]
impl SkillUsers for StoredSkillUsers {
    async fn settings(&self, skill: &SourceId, user: &UserId) -> Map<String, Value> {
        let read = read_user_settings(&self.store, &self.vault, skill, user).await;
        read.unwrap_or_else(|error| {
            tracing::warn!(%skill, %error, "what a user set for a skill cannot be read");
            Map::new()
        })
    }

    async fn account(&self, user: &UserId) -> Option<Account> {
        self.store.user(user).await.ok()
    }
}

async fn read_user_settings(
    store: &Store,
    vault: &Vault,
    skill: &SourceId,
    user: &UserId,
) -> tenon_store::Result<Map<String, Value>> {
    let Some((id, sealed)) = store.skill_user_settings(skill, user).await? else {
        return Ok(Map::new());
    };
    let text = vault.open_sealed(&about_user(&id), &sealed)?;
    Ok(serde_json::from_str(&text)?)
}

fn about_user(id: &str) -> String {
    format!("skill-user:{id}")
}
