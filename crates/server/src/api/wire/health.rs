//! How far a server's start is, and why it failed, in the JSON of `/api/sources`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenon_sources::mcp::StartupStep;
use ts_rs::TS;

/// A start that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartupView {
    #[ts(type = "number")]
    pub since: i64,
    pub step: StartupStep,
    /// What it wrote last. For those who may read its log.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// Why a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CauseView {
    /// "`npx` exited with code 1."
    pub how: String,
    /// The lines of its log that say so, oldest first.
    pub lines: Vec<String>,
    /// What usually helps.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<AdviceView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AdviceView {
    /// "runtime_too_old", "variable_missing", …: what words are made of.
    pub code: String,
    #[ts(type = "Record<string, string>")]
    pub params: BTreeMap<String, String>,
    /// In English.
    pub message: String,
}
