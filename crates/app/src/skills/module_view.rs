//! Code that becomes a skill, as clients send it and see it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenon_domain::{ErrorDetail, SourceId, Visibility};
use tenon_sources::skill::package::module::{
    ModuleDescription, ModuleFaultKind, ModuleWarningKind,
};
use tenon_sources::skill::package::script::ModuleLanguage;
use ts_rs::TS;

use super::view::SkillDetail;

/// Code of a tool that somebody writes.
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct ModuleCode {
    /// Open WebUI calls it `content`.
    #[serde(alias = "content")]
    pub code: String,
    #[ts(optional, type = "\"python\" | \"node\"")]
    #[serde(default)]
    pub language: Option<ModuleLanguage>,
}

/// A tool to be made of code.
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct NewModule {
    #[serde(flatten)]
    pub module: ModuleCode,
    #[serde(default)]
    pub name: Option<String>,
    /// A skill that gets the code as its next version.
    #[serde(default)]
    pub skill_id: Option<SourceId>,
    #[serde(default)]
    pub visibility: Option<Visibility>,
    #[serde(default)]
    pub allow_network: Option<bool>,
    /// As Open WebUI exports it.
    #[serde(default)]
    pub meta: Option<ModuleMeta>,
}

#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ModuleMeta {
    /// Of the whole module, where its code has none.
    #[serde(default)]
    pub description: Option<String>,
}

/// A call of a tool that is not installed yet.
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct TryModule {
    #[serde(flatten)]
    pub module: ModuleCode,
    pub tool: String,
    #[ts(type = "unknown")]
    #[serde(default)]
    pub arguments: Value,
    #[ts(optional, type = "Record<string, unknown>")]
    #[serde(default)]
    pub settings: Option<Map<String, Value>>,
    /// Whether it may use the network in the trial, as for a tool that is saved.
    #[serde(default)]
    pub allow_network: Option<bool>,
}

/// Which tools code has.
#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase")]
pub struct ModuleView {
    #[ts(type = "\"python\" | \"node\"")]
    pub language: ModuleLanguage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub requirements: Vec<String>,
    pub tools: Vec<ModuleFunctionView>,
    #[ts(optional, type = "unknown")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Value>,
    #[ts(optional, type = "unknown")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_settings: Option<Value>,
    /// What will not work although it can be saved.
    pub warnings: Vec<ModuleWarningView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ModuleFaultView>,
}

#[derive(Debug, Clone, Serialize, TS)]
pub struct ModuleFunctionView {
    pub name: String,
    pub description: String,
    #[ts(type = "unknown")]
    pub parameters: Value,
}

#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
pub struct ModuleFaultView {
    #[ts(type = "\"syntax\" | \"missing_module\" | \"internals\" | \"load\" | \"no_tools\"")]
    pub kind: ModuleFaultKind,
    /// A sentence that says what to do.
    pub message: String,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub modules: Vec<String>,
}

#[derive(Debug, Clone, Serialize, TS)]
#[ts(optional_fields)]
pub struct ModuleWarningView {
    #[ts(type = "\"internals\" | \"parameter\"")]
    pub kind: ModuleWarningKind,
    /// A sentence that says what will not work.
    pub message: String,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Modules or parameters.
    pub names: Vec<String>,
    /// The tool with such a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// What happens while a skill is made of code; the last is the skill or an error.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum CreateEvent {
    /// Said by what installs its packages.
    Line {
        line: String,
    },
    Created {
        skill: Box<SkillDetail>,
    },
    Error {
        detail: ErrorDetail,
    },
}

/// What happens while code is tried; the last is a result or an error.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum TryEvent {
    /// The code printed it.
    Line { line: String },
    /// The code emitted it.
    Event {
        #[ts(type = "unknown")]
        event: Value,
    },
    Result {
        #[ts(type = "unknown")]
        result: Value,
        #[ts(type = "number")]
        duration_ms: u64,
    },
    Error {
        message: String,
        /// The same as data, where Tenon itself says it.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<ErrorDetail>,
        #[ts(optional, type = "number")]
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
        #[ts(type = "number")]
        duration_ms: u64,
    },
}

impl ModuleView {
    pub(super) fn new(language: ModuleLanguage, description: ModuleDescription) -> Self {
        let error = description.error.map(|fault| ModuleFaultView {
            kind: fault.kind,
            message: fault.to_string(),
            line: fault.line,
            modules: fault.modules,
        });
        let warnings = description
            .warnings
            .into_iter()
            .map(|warning| ModuleWarningView {
                kind: warning.kind,
                message: warning.to_string(),
                line: warning.line,
                names: warning.names,
                tool: warning.tool,
            });
        let tools = description
            .tools
            .into_iter()
            .map(|tool| ModuleFunctionView {
                name: tool.name,
                description: tool.description,
                parameters: tool.parameters,
            });
        Self {
            language,
            title: description.title,
            description: description.description,
            requirements: description.requirements,
            tools: tools.collect(),
            settings: description.settings,
            user_settings: description.user_settings,
            warnings: warnings.collect(),
            error,
        }
    }
}
