//! Which tools a user may see and call: settings, policies and the layers they come from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::caller::Caller;
use crate::expert::ToolFilter;
use crate::id::{ToolId, UserId};
use crate::source::SourceInfo;
use crate::tool::Annotations;

/// What a setting says of calls to a tool. What that means for whom is decided by `tools::Toolset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    Allow,
    Ask,
    Deny,
}

/// Where a setting comes from. A later layer is nearer to the conversation and overrides the
/// ones before it, except that [`Policy::Deny`] stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    Organisation,
    User,
    Expert,
    Chat,
}

/// The setting of one layer for one tool. None: the layer before decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSetting {
    pub enabled: Option<bool>,
    pub policy: Option<Policy>,
}

/// The settings of all layers, for one user in one chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSettings {
    tools: HashMap<ToolId, EffectiveSetting>,
}

/// The setting that applies to a tool, and the layer it comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EffectiveSetting {
    pub enabled: Option<(bool, Layer)>,
    pub policy: Option<(Policy, Layer)>,
}

/// Whose tools are called, by whom and with which settings.
#[derive(Debug, Clone)]
pub struct ToolAccess {
    pub user: UserId,
    pub caller: Caller,
    /// These tools alone. None means all.
    pub only: Option<HashSet<ToolId>>,
    /// Of those, what an expert may use. None means all.
    pub filter: Option<Arc<ToolFilter>>,
    /// The computer that is used: where it has tools, a model is not offered those of others.
    pub device: Option<String>,
    /// None: what is switched off counts too.
    pub settings: Option<Arc<ToolSettings>>,
}

impl ToolSettings {
    /// Layers may come in any order.
    pub fn new(settings: impl IntoIterator<Item = (Layer, ToolId, ToolSetting)>) -> Self {
        let mut tools: HashMap<ToolId, EffectiveSetting> = HashMap::new();
        for (layer, tool, setting) in settings {
            let last = tools.entry(tool).or_default();
            if let Some(enabled) = setting.enabled
                && last.enabled.is_none_or(|(_, by)| by <= layer)
            {
                last.enabled = Some((enabled, layer));
            }
            let Some(policy) = setting.policy else {
                continue;
            };
            // What is denied no nearer layer allows, such as an approval for a chat that was given
            // before. Of several denials that of the outermost layer counts.
            let overrules = match last.policy {
                None => true,
                Some((Policy::Deny, by)) => policy == Policy::Deny && layer <= by,
                Some((Policy::Allow | Policy::Ask, by)) => policy == Policy::Deny || by <= layer,
            };
            if overrules {
                last.policy = Some((policy, layer));
            }
        }
        Self { tools }
    }

    pub fn effective(&self, tool: &ToolId) -> EffectiveSetting {
        self.tools.get(tool).copied().unwrap_or_default()
    }
}

impl ToolAccess {
    /// Everything this user can see, without settings.
    pub fn all(user: &UserId, caller: Caller) -> Self {
        Self {
            user: user.clone(),
            caller,
            only: None,
            filter: None,
            device: None,
            settings: None,
        }
    }

    /// The same, narrowed to these tools.
    pub fn only(self, tools: impl IntoIterator<Item = ToolId>) -> Self {
        Self {
            only: Some(tools.into_iter().collect()),
            ..self
        }
    }

    /// The same, narrowed to what an expert may use.
    pub fn filtered(self, filter: Option<Arc<ToolFilter>>) -> Self {
        Self { filter, ..self }
    }

    /// The same, as seen from this computer.
    pub fn from_device(self, device: Option<String>) -> Self {
        Self { device, ..self }
    }

    pub fn with_settings(self, settings: impl Into<Arc<ToolSettings>>) -> Self {
        Self {
            settings: Some(settings.into()),
            ..self
        }
    }

    /// Whether the tool is among those of this user, switched on or not.
    pub fn includes(&self, source: &SourceInfo, tool: &ToolId) -> bool {
        source
            .owner
            .as_ref()
            .is_none_or(|owner| *owner == self.user)
            && self.only.as_ref().is_none_or(|only| only.contains(tool))
            && self.allows(source, tool)
    }

    /// Whether the expert may use it, where there is one.
    pub fn allows(&self, source: &SourceInfo, tool: &ToolId) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| filter.matches(source, tool))
    }

    /// Whether it is switched on. Without a setting it is, unless its source deprecates it.
    pub fn enabled(&self, tool: &ToolId, annotations: Annotations) -> bool {
        match self.setting(tool).enabled {
            Some((enabled, _)) => enabled,
            None => self.settings.is_none() || !annotations.deprecated,
        }
    }

    pub fn setting(&self, tool: &ToolId) -> EffectiveSetting {
        let settings = self.settings.as_deref();
        settings.map(|all| all.effective(tool)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(said: &[(Layer, Option<bool>, Option<Policy>)]) -> EffectiveSetting {
        let tool = ToolId::new("t");
        let all = said.iter().map(|(layer, enabled, policy)| {
            let (enabled, policy) = (*enabled, *policy);
            (*layer, tool.clone(), ToolSetting { enabled, policy })
        });
        let forwards = ToolSettings::new(all.clone()).effective(&tool);
        let backwards = ToolSettings::new(all.rev()).effective(&tool);
        assert_eq!(forwards, backwards, "the order they come in means nothing");
        forwards
    }

    #[test]
    fn the_nearest_layer_that_says_something_has_the_last_word() {
        use Layer::{Chat, Expert, Organisation, User};
        let check = |said: &[(Layer, Option<bool>, Option<Policy>)], enabled, policy| {
            assert_eq!(
                settle(said),
                EffectiveSetting { enabled, policy },
                "{said:?}"
            );
        };
        check(&[], None, None);
        check(&[(User, Some(false), None)], Some((false, User)), None);
        check(
            &[(Organisation, Some(false), None), (User, Some(true), None)],
            Some((true, User)),
            None,
        );
        check(
            &[
                (User, Some(true), None),
                (Expert, Some(false), None),
                (Chat, None, None),
            ],
            Some((false, Expert)),
            None,
        );
        check(
            &[
                (Organisation, None, Some(Policy::Ask)),
                (Chat, None, Some(Policy::Allow)),
            ],
            None,
            Some((Policy::Allow, Chat)),
        );
        check(
            &[
                (Organisation, None, Some(Policy::Deny)),
                (User, None, Some(Policy::Allow)),
                (Chat, None, Some(Policy::Allow)),
            ],
            None,
            Some((Policy::Deny, Organisation)),
        );
        check(
            &[
                (User, None, Some(Policy::Deny)),
                (Chat, None, Some(Policy::Allow)),
            ],
            None,
            Some((Policy::Deny, User)),
        );
        check(
            &[
                (Organisation, None, Some(Policy::Deny)),
                (User, None, Some(Policy::Deny)),
            ],
            None,
            Some((Policy::Deny, Organisation)),
        );
        check(
            &[
                (User, None, Some(Policy::Allow)),
                (Chat, None, Some(Policy::Deny)),
            ],
            None,
            Some((Policy::Deny, Chat)),
        );
    }
}
