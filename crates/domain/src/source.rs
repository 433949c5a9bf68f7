//! What offers tools, and how it is configured.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{SourceId, UserId};
use crate::tool::RunsOn;

/// Who a source is, for the registry, the API and the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceInfo {
    pub id: SourceId,
    pub kind: SourceKind,
    /// Part of the tools' ids: "filesystem" in `mcp_filesystem_read_file`.
    pub name: String,
    /// Part of the tools' display names.
    pub title: String,
    /// Only this person sees and calls its tools; nobody in particular means everybody.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<UserId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    Builtin,
    Skill,
    Mcp,
    Openapi,
    Browser,
}

impl SourceKind {
    /// Where calls to such a source are executed.
    pub fn runs_on(self) -> RunsOn {
        match self {
            Self::Builtin | Self::Skill | Self::Mcp | Self::Openapi => RunsOn::Server,
            Self::Browser => RunsOn::Browser,
        }
    }
}

/// Whether a source can be called now. A dead source shortens the list; it never breaks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum SourceState {
    Starting,
    Ready,
    Failed { why: String },
}

/// How a source is reached, as a person or a file configures it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SourceConfig {
    /// The tools that come with Tenon.
    Builtin(BuiltinConfig),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BuiltinConfig {
    /// Whether `fetch_url` may reach loopback and private addresses. An admin's decision.
    pub allow_private_networks: bool,
}
