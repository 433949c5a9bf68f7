//! The JSON of prompts that tool servers offer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// `GET /api/prompts/servers`: a prompt of a tool server.
#[derive(Debug, Serialize, TS)]
pub struct ServerPromptView {
    pub name: String,
    /// "Git/Commit message"
    pub title: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

#[derive(Debug, Serialize, TS)]
pub struct PromptArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}

/// `POST /api/prompts/servers`: has its server fill it in.
#[derive(Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct FillPrompt {
    pub name: String,
    #[serde(default)]
    #[ts(optional, type = "Record<string, string>")]
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Serialize, TS)]
pub struct FilledPrompt {
    pub text: String,
}
