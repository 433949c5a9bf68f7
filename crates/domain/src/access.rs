//! What a user may see and call.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{ToolId, UserId};
use crate::source::SourceInfo;

/// What happens when a *model* wants to call a tool. A person who calls one by hand has decided already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    #[default]
    Allow,
    Ask,
    Deny,
}

/// What one user may see and call in one turn.
#[derive(Debug, Clone)]
pub struct Access {
    pub user: UserId,
    /// The chat's switches: these tools alone. None means all.
    pub only: Option<HashSet<ToolId>>,
    /// Policies that differ from [`Policy::Allow`].
    pub policies: HashMap<ToolId, Policy>,
}

impl Access {
    /// Everything this user can see.
    pub fn all(user: &UserId) -> Self {
        Self {
            user: user.clone(),
            only: None,
            policies: HashMap::new(),
        }
    }

    /// The same, narrowed to the tools that are switched on.
    pub fn only(self, tools: impl IntoIterator<Item = ToolId>) -> Self {
        Self {
            only: Some(tools.into_iter().collect()),
            ..self
        }
    }

    pub fn sees(&self, source: &SourceInfo, tool: &ToolId) -> bool {
        source
            .owner
            .as_ref()
            .is_none_or(|owner| *owner == self.user)
            && self.only.as_ref().is_none_or(|only| only.contains(tool))
    }

    pub fn policy(&self, tool: &ToolId) -> Policy {
        self.policies.get(tool).copied().unwrap_or_default()
    }
}
