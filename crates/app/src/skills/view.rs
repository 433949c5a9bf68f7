//! Skills as clients see, install and change them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenon_domain::{SourceId, SourceState, ToolId, Visibility};
use tenon_sources::skill::package::SkillPermissions;
use tenon_sources::skill::package::diff::SkillDiff;
use tenon_sources::skill::package::package::SkillFile;
use tenon_sources::skill::package::script::ModuleLanguage;
use tenon_sources::skill::package::source::RefusedSkill;
use ts_rs::TS;

/// An installed skill.
#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct SkillView {
    pub id: SourceId,
    pub name: String,
    pub title: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Of its files: the identity of this version.
    pub hash: String,
    pub visibility: Visibility,
    /// Whether whoever asks installed it.
    pub mine: bool,
    pub can_change: bool,
    pub enabled: bool,
    #[serde(flatten)]
    pub state: SourceState,
    /// The last line of what installs its packages, while it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    pub tools: Vec<SkillToolView>,
    pub permissions: SkillPermissions,
    /// Whether an admin agreed that its scripts use the network.
    pub network_allowed: bool,
    /// The folder or archive on the server that it was installed from, and can be read from again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// It is one module, which can be edited as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<SkillCodeView>,
    /// The tool that gives its instructions to a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_tool_id: Option<ToolId>,
}

#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SkillToolView {
    pub tool_id: ToolId,
    pub name: String,
    pub title: String,
    pub description: String,
    pub kind: SkillToolKind,
    /// A command line, "GET https://…", or a built-in tool.
    pub target: String,
    #[ts(type = "unknown")]
    pub parameters: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SkillToolKind {
    Http,
    Script,
    Builtin,
    /// Gives the instructions to a model.
    Instructions,
    /// Runs the skill's scripts.
    Runner,
}

#[derive(Debug, Clone, Serialize, TS)]
pub struct SkillCodeView {
    #[ts(type = "\"python\" | \"node\"")]
    pub language: ModuleLanguage,
    pub file: String,
}

/// An installed skill with everything there is to know about it.
#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct SkillDetail {
    #[serde(flatten)]
    pub skill: SkillView,
    /// Markdown.
    pub instructions: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Names of the tools that its instructions were written for, as they stand there.
    pub allowed_tools: Vec<String>,
    pub files: Vec<SkillFile>,
    /// The newest first.
    pub versions: Vec<SkillVersionView>,
    /// What its variables and secrets are set to.
    pub values: Vec<SkillValueView>,
    /// JSON Schemas of settings, for everybody and for each user.
    #[ts(optional, type = "unknown")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Value>,
    #[ts(type = "Record<string, unknown>")]
    pub setting_values: Map<String, Value>,
    #[ts(optional, type = "unknown")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_settings: Option<Value>,
    #[ts(type = "Record<string, unknown>")]
    pub user_setting_values: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct SkillVersionView {
    pub hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[ts(type = "number")]
    pub installed_at: i64,
    /// The one that is used.
    pub current: bool,
}

#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct SkillValueView {
    pub name: String,
    pub is_set: bool,
    /// Never of a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Where skills are to be read: one of the three.
#[derive(Debug, Clone, Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", default)]
pub struct SkillInput {
    /// A folder or an archive on the server.
    pub path: Option<String>,
    /// The name of an uploaded file: .zip, .skill, .tar.gz, .md.
    pub file_name: Option<String>,
    /// The file, in Base64.
    pub content: Option<String>,
    /// The folder that this skill was installed from.
    pub skill_id: Option<SourceId>,
}

#[derive(Debug, Clone, Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", default)]
pub struct SkillInstall {
    #[serde(flatten)]
    pub input: SkillInput,
    /// Which of the skills that were shown; absent: all of them.
    pub hashes: Option<Vec<String>>,
    pub visibility: Option<Visibility>,
    /// Lets scripts use the network where the skill asks for it.
    pub allow_network: Option<bool>,
}

/// What installing would do.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SkillPreview {
    pub skills: Vec<SkillPreviewItem>,
    pub refused: Vec<RefusedSkillView>,
}

#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct SkillPreviewItem {
    pub name: String,
    pub title: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its folder in the source.
    pub folder: String,
    pub hash: String,
    /// What it would be a new version of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<SourceId>,
    /// It runs programs, so only an admin can install it.
    pub needs_admin: bool,
    pub permissions: SkillPermissions,
    pub diff: SkillDiff,
}

#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct RefusedSkillView {
    pub folder: String,
    pub file: String,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub message: String,
}

/// A change of a skill: what is left out stays as it is.
#[derive(Debug, Default, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SkillChange {
    pub enabled: Option<bool>,
    pub visibility: Option<Visibility>,
    pub network_allowed: Option<bool>,
    /// By name; null takes a value back.
    pub variables: Option<BTreeMap<String, Option<String>>>,
    #[ts(optional, type = "Record<string, unknown>")]
    pub settings: Option<Map<String, Value>>,
    /// Of whoever asks.
    #[ts(optional, type = "Record<string, unknown>")]
    pub user_settings: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize, TS)]
pub struct SkillVersionChoice {
    pub hash: String,
}

/// A file of a skill.
#[derive(Debug, Serialize, TS)]
#[ts(optional_fields)]
pub struct SkillFileView {
    pub path: String,
    /// Absent where it is none, or too long to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[ts(type = "number")]
    pub bytes: u64,
}

/// The walls around programs of skills on this machine.
#[derive(Debug, Serialize, TS)]
#[ts(optional_fields)]
pub struct SandboxView {
    pub walls: Vec<WallView>,
    /// Why there is no sandbox at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Debug, Serialize, TS)]
pub struct WallView {
    #[ts(type = "\"files\" | \"network\" | \"processes\" | \"system-calls\" | \"limits\"")]
    pub wall: tenon_sources::skill::Wall,
    #[ts(type = "\"none\" | \"partial\" | \"full\"")]
    pub strength: tenon_sources::skill::WallStrength,
}

impl From<RefusedSkill> for RefusedSkillView {
    fn from(refused: RefusedSkill) -> Self {
        Self {
            folder: refused.folder,
            file: refused.error.file,
            line: refused.error.line,
            message: refused.error.problem.to_string(),
        }
    }
}
