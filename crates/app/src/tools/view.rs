//! Tools as people see them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{
    Annotations, Content, InputSchema, Layer, Policy, RunsOn, SourceId, SourceKind, SourceState,
    ToolError, ToolId,
};
use tenon_sources::browser::{LocalProtocol, LocalStatus};
use ts_rs::TS;

/// A tool, as it is set for a user or for one of their chats.
#[derive(Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    pub tool_id: ToolId,
    pub display_name: String,
    /// The skill that it is of.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skill_name: Option<String>,
    pub tool_name: String,
    pub title: String,
    pub description: String,
    /// Further words to find it by.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keywords: Option<String>,
    /// The schema of its input, where the list has schemas.
    #[ts(optional, type = "unknown")]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parameters: Option<InputSchema>,
    pub annotations: Annotations,
    pub source: SourceView,
    pub runs_on: RunsOn,
    /// About how many tokens it takes to tell a model of it.
    #[ts(type = "number")]
    pub tokens: usize,
    pub enabled: bool,
    /// Who switched it on or off; absent where nobody did.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled_by: Option<Layer>,
    /// It was switched on by itself: a model hears of it before others.
    pub pinned: bool,
    pub policy: Policy,
    /// Who chose the policy; absent where nobody did.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_by: Option<Layer>,
}

/// The source of a tool.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceView {
    pub id: SourceId,
    pub kind: SourceKind,
    pub name: String,
    pub title: String,
    #[serde(flatten)]
    pub state: SourceState,
    /// Of one that runs on somebody's own machine.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalView>,
    /// Whether all of its tools were switched on or off at once, those that come later included.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub switched: Option<SourceSwitch>,
    /// What was decided about all of its tools at once, those that come later included.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decided: Option<SourcePolicy>,
}

/// How all tools of a source were switched, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceSwitch {
    pub enabled: bool,
    pub by: Layer,
}

/// The policy of all tools of a source, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourcePolicy {
    pub policy: Policy,
    pub by: Layer,
}

/// Where a tool runs that runs on somebody's own machine.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LocalView {
    pub device_id: String,
    pub device_name: String,
    pub url: String,
    pub via: LocalProtocol,
}

/// What came of a call that a person made.
#[derive(Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallToolAnswer {
    pub ok: bool,
    pub content: Vec<Content>,
    #[ts(optional, type = "unknown")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    #[ts(type = "number")]
    pub duration_ms: u64,
}

impl From<LocalStatus> for LocalView {
    fn from(server: LocalStatus) -> Self {
        Self {
            device_id: server.device.id,
            device_name: server.device.name,
            url: server.url,
            via: server.via,
        }
    }
}
