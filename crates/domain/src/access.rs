//! What a user may see and call, and what was said about each tool.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{ToolId, UserId};
use crate::pattern::Pattern;
use crate::source::{SourceInfo, SourceKind};
use crate::tool::Annotations;

/// What happens when a *model* wants to call a tool. A person who calls one by hand has decided already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    Allow,
    Ask,
    Deny,
}

/// What a person decided about a call that waited for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// This call alone.
    Once,
    /// This tool, for the rest of this chat.
    Chat,
    /// This tool, from now on.
    Always,
    Denied,
}

/// Who says something about a tool. A later one is nearer to the conversation
/// and overrules the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    Organisation,
    User,
    Expert,
    Chat,
}

/// What one layer says about one tool. None: nothing, ask the layer before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSetting {
    pub enabled: Option<bool>,
    pub policy: Option<Policy>,
}

/// What all layers together say, for one user in one chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSettings {
    tools: HashMap<ToolId, Said>,
}

/// The last word about a tool, and whose it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    pub enabled: Option<(bool, Layer)>,
    pub policy: Option<(Policy, Layer)>,
}

/// What one user may see and call in one turn.
#[derive(Debug, Clone)]
pub struct Access {
    pub user: UserId,
    /// These tools alone. None means all.
    pub only: Option<HashSet<ToolId>>,
    /// None: what is switched off counts too.
    pub settings: Option<Arc<ToolSettings>>,
    /// Tools that are used without asking this time.
    pub granted: Arc<[Pattern]>,
}

impl Policy {
    /// Where nobody said anything: what comes with Tenon and what says that it
    /// only reads may be used, the rest is asked about.
    pub fn by_default(source: SourceKind, annotations: Annotations) -> Self {
        match source {
            SourceKind::Builtin => Self::Allow,
            _ if annotations.read_only => Self::Allow,
            _ => Self::Ask,
        }
    }

    /// Where nobody said anything, and the call goes to an address of the model's choice that
    /// neither the user wrote nor a result showed.
    pub fn by_default_to_new_address() -> Self {
        Self::Ask
    }
}

impl Verdict {
    pub fn allows(self) -> bool {
        self != Self::Denied
    }
}

impl ToolSettings {
    /// Layers may come in any order.
    pub fn new(said: impl IntoIterator<Item = (Layer, ToolId, ToolSetting)>) -> Self {
        let mut tools: HashMap<ToolId, Said> = HashMap::new();
        for (layer, tool, setting) in said {
            let last = tools.entry(tool).or_default();
            if let Some(enabled) = setting.enabled
                && last.enabled.is_none_or(|(_, by)| by <= layer)
            {
                last.enabled = Some((enabled, layer));
            }
            let Some(policy) = setting.policy else {
                continue;
            };
            // What the organisation forbids nobody else can allow.
            let is_final = |said| said == (Policy::Deny, Layer::Organisation);
            let overrules = match last.policy {
                None => true,
                Some(former) => {
                    !is_final(former) && (is_final((policy, layer)) || former.1 <= layer)
                }
            };
            if overrules {
                last.policy = Some((policy, layer));
            }
        }
        Self { tools }
    }

    pub fn about(&self, tool: &ToolId) -> Said {
        self.tools.get(tool).copied().unwrap_or_default()
    }
}

impl Access {
    /// Everything this user can see, with nothing said about any of it.
    pub fn all(user: &UserId) -> Self {
        Self {
            user: user.clone(),
            only: None,
            settings: None,
            granted: Arc::default(),
        }
    }

    /// The same, narrowed to these tools.
    pub fn only(self, tools: impl IntoIterator<Item = ToolId>) -> Self {
        Self {
            only: Some(tools.into_iter().collect()),
            ..self
        }
    }

    pub fn with_settings(self, settings: ToolSettings) -> Self {
        Self {
            settings: Some(Arc::new(settings)),
            ..self
        }
    }

    pub fn granting(self, granted: impl Into<Arc<[Pattern]>>) -> Self {
        Self {
            granted: granted.into(),
            ..self
        }
    }

    /// Whether the tool is this user's to call now.
    pub fn sees(&self, source: &SourceInfo, tool: &ToolId, annotations: Annotations) -> bool {
        source
            .owner
            .as_ref()
            .is_none_or(|owner| *owner == self.user)
            && self.only.as_ref().is_none_or(|only| only.contains(tool))
            && self.enabled(tool, annotations)
    }

    /// Whether it is switched on. A tool nobody spoke of is, unless its source advises against it.
    pub fn enabled(&self, tool: &ToolId, annotations: Annotations) -> bool {
        match self.said(tool).enabled {
            Some((enabled, _)) => enabled,
            None => self.settings.is_none() || !annotations.deprecated,
        }
    }

    pub fn said(&self, tool: &ToolId) -> Said {
        let settings = self.settings.as_deref();
        settings.map(|all| all.about(tool)).unwrap_or_default()
    }

    pub fn policy(&self, source: &SourceInfo, tool: &ToolId, annotations: Annotations) -> Policy {
        let said = self.said(tool).policy;
        let policy = said.map_or_else(
            || Policy::by_default(source.kind, annotations),
            |(policy, _)| policy,
        );
        match policy {
            Policy::Ask if self.is_granted(tool) => Policy::Allow,
            other => other,
        }
    }

    /// Whether somebody said what happens when a model calls it. Otherwise the default holds.
    pub fn is_policy_set(&self, tool: &ToolId) -> bool {
        self.said(tool).policy.is_some() || self.is_granted(tool)
    }

    fn is_granted(&self, tool: &ToolId) -> bool {
        self.granted.iter().any(|pattern| pattern.matches(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(said: &[(Layer, Option<bool>, Option<Policy>)]) -> Said {
        let tool = ToolId::new("t");
        let all = said.iter().map(|(layer, enabled, policy)| {
            let (enabled, policy) = (*enabled, *policy);
            (*layer, tool.clone(), ToolSetting { enabled, policy })
        });
        let forwards = ToolSettings::new(all.clone()).about(&tool);
        let backwards = ToolSettings::new(all.rev()).about(&tool);
        assert_eq!(forwards, backwards, "the order they come in means nothing");
        forwards
    }

    #[test]
    fn the_nearest_layer_that_says_something_has_the_last_word() {
        use Layer::{Chat, Expert, Organisation, User};
        let check = |said: &[(Layer, Option<bool>, Option<Policy>)], enabled, policy| {
            assert_eq!(settle(said), Said { enabled, policy }, "{said:?}");
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
    }
}
