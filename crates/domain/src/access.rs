//! Which tools a user may see and call: settings, policies and the layers they come from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::caller::Caller;
use crate::expert::ToolFilter;
use crate::id::{SourceId, ToolId, UserId};
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

/// What a setting is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SettingTarget {
    Tool(ToolId),
    /// All tools of a source, also those that it will have.
    Source(SourceId),
}

/// The setting of one layer for one tool or source. None: in its layer that of the source
/// decides about a tool, then the layer before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSetting {
    pub enabled: Option<bool>,
    pub policy: Option<Policy>,
}

/// The settings of all layers, for one user in one chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSettings {
    tools: HashMap<ToolId, LayeredSetting>,
    sources: HashMap<SourceId, LayeredSetting>,
}

/// What each layer says, in the order of [`Layer::ALL`].
type LayeredSetting = [ToolSetting; Layer::ALL.len()];

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

impl Layer {
    /// The outermost first.
    pub const ALL: [Self; 4] = [Self::Organisation, Self::User, Self::Expert, Self::Chat];
}

impl ToolSettings {
    /// Layers may come in any order.
    pub fn new<T: Into<SettingTarget>>(
        settings: impl IntoIterator<Item = (Layer, T, ToolSetting)>,
    ) -> Self {
        let mut all = Self::default();
        for (layer, target, setting) in settings {
            let layered = match target.into() {
                SettingTarget::Tool(tool) => all.tools.entry(tool).or_default(),
                SettingTarget::Source(source) => all.sources.entry(source).or_default(),
            };
            let known = &mut layered[layer as usize];
            known.enabled = setting.enabled.or(known.enabled);
            known.policy = setting.policy.or(known.policy);
        }
        all
    }

    /// In each layer a tool's own setting comes before that of its source.
    pub fn effective(&self, source: Option<&SourceId>, tool: &ToolId) -> EffectiveSetting {
        let of_source = source.and_then(|source| self.sources.get(source));
        EffectiveSetting::of(self.tools.get(tool), of_source)
    }

    /// What is set for all tools of a source.
    pub fn of_source(&self, source: &SourceId) -> EffectiveSetting {
        EffectiveSetting::of(None, self.sources.get(source))
    }
}

impl EffectiveSetting {
    pub fn is_denied(&self) -> bool {
        matches!(self.policy, Some((Policy::Deny, _)))
    }

    pub fn is_off(&self) -> bool {
        matches!(self.enabled, Some((false, _)))
    }

    fn of(of_tool: Option<&LayeredSetting>, of_source: Option<&LayeredSetting>) -> Self {
        let mut last = Self::default();
        if of_tool.is_none() && of_source.is_none() {
            return last;
        }
        for layer in Layer::ALL {
            let said =
                |of: Option<&LayeredSetting>| of.map(|of| of[layer as usize]).unwrap_or_default();
            let (own, shared) = (said(of_tool), said(of_source));
            if let Some(enabled) = own.enabled.or(shared.enabled) {
                last.enabled = Some((enabled, layer));
            }
            // What is denied no nearer layer allows, such as an approval for a chat that was given
            // before. Of several denials that of the outermost layer counts.
            if let Some(policy) = own.policy.or(shared.policy)
                && !last.is_denied()
            {
                last.policy = Some((policy, layer));
            }
        }
        last
    }
}

impl From<ToolId> for SettingTarget {
    fn from(tool: ToolId) -> Self {
        Self::Tool(tool)
    }
}

impl From<SourceId> for SettingTarget {
    fn from(source: SourceId) -> Self {
        Self::Source(source)
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

    /// Whether it is a skill of the expert.
    pub fn has_of_expert(&self, source: &SourceInfo) -> bool {
        let filter = self.filter.as_ref();
        filter.is_some_and(|filter| filter.sources.contains(&source.id))
    }

    /// Whether the expert may use it, where there is one.
    pub fn allows(&self, source: &SourceInfo, tool: &ToolId) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| filter.matches(source, tool))
    }

    /// Whether it is switched on. Without a setting it is, unless its source deprecates it.
    pub fn enabled(&self, source: &SourceId, tool: &ToolId, annotations: Annotations) -> bool {
        match self.setting(source, tool).enabled {
            Some((enabled, _)) => enabled,
            None => self.settings.is_none() || !annotations.deprecated,
        }
    }

    /// What is set for the tool itself, whatever is set for its source.
    pub fn own_setting(&self, tool: &ToolId) -> EffectiveSetting {
        let settings = self.settings.as_deref();
        settings
            .map(|all| all.effective(None, tool))
            .unwrap_or_default()
    }

    pub fn setting(&self, source: &SourceId, tool: &ToolId) -> EffectiveSetting {
        let settings = self.settings.as_deref();
        settings
            .map(|all| all.effective(Some(source), tool))
            .unwrap_or_default()
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
        let forwards = ToolSettings::new(all.clone()).effective(None, &tool);
        let backwards = ToolSettings::new(all.rev()).effective(None, &tool);
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
    #[test]
    fn a_source_decides_where_its_tool_has_no_setting_of_its_own_in_that_layer() {
        use Layer::{Chat, Organisation, User};
        use Policy::{Allow, Ask, Deny};
        let (source, tool) = (SourceId::new("s"), ToolId::new("t"));
        let policy = |policy| ToolSetting {
            policy: Some(policy),
            enabled: None,
        };
        let check = |of_source: &[(Layer, Policy)], of_tool: &[(Layer, Policy)], expected| {
            let of_source = of_source
                .iter()
                .map(|(layer, said)| (*layer, SettingTarget::from(source.clone()), policy(*said)));
            let of_tool = of_tool
                .iter()
                .map(|(layer, said)| (*layer, SettingTarget::from(tool.clone()), policy(*said)));
            let settings = ToolSettings::new(of_source.chain(of_tool));
            let found = settings.effective(Some(&source), &tool).policy;
            assert_eq!(found, Some(expected));
            let (other, later) = (SourceId::new("other"), ToolId::new("comes later"));
            assert_eq!(settings.effective(Some(&other), &later).policy, None);
            // What the source has later follows it.
            let of_later = settings.effective(Some(&source), &later);
            assert_eq!(of_later, settings.of_source(&source));
        };
        check(&[(User, Allow)], &[], (Allow, User));
        check(&[(User, Allow)], &[(User, Ask)], (Ask, User));
        check(&[(User, Deny)], &[(User, Allow)], (Allow, User));
        // A nearer layer comes before, whichever of the two it is about.
        check(&[(Chat, Ask)], &[(User, Allow)], (Ask, Chat));
        check(&[(User, Ask)], &[(Chat, Allow)], (Allow, Chat));
        // Denials stay.
        check(
            &[(Organisation, Deny)],
            &[(User, Allow)],
            (Deny, Organisation),
        );
        check(
            &[(User, Allow)],
            &[(Organisation, Deny)],
            (Deny, Organisation),
        );
        // Each of the two settings on its own.
        let off = ToolSetting {
            enabled: Some(false),
            policy: None,
        };
        let settings = ToolSettings::new([
            (User, SettingTarget::from(source.clone()), off),
            (User, SettingTarget::from(tool.clone()), policy(Ask)),
        ]);
        let expected = EffectiveSetting {
            enabled: Some((false, User)),
            policy: Some((Ask, User)),
        };
        assert_eq!(settings.effective(Some(&source), &tool), expected);
    }
}
