//! Elicitation: what a tool asks a person while it runs.

pub mod fields;

mod check;

pub use check::FormAnswerError;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::id::FormId;

/// A question in the middle of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Form {
    pub id: FormId,
    /// What it is about, in the words of the tool. Comes from outside: show it as text.
    pub message: String,
    #[serde(rename = "wants")]
    pub request: FormRequest,
}

/// What would answer it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FormRequest {
    /// Fields to fill in: a flat JSON Schema of strings, numbers, booleans and choices.
    Fields {
        #[ts(type = "unknown")]
        schema: Value,
    },
    /// A page to go to. What is done there stays there.
    Visit { url: String },
}

/// What a person made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "action", rename_all = "camelCase")]
pub enum FormAnswer {
    Accept {
        /// The fields by their names.
        #[ts(type = "unknown")]
        #[serde(default)]
        content: Value,
    },
    /// They will not say.
    Decline,
    /// They closed it without deciding, or nobody was there.
    Cancel,
}

/// The same without what was said, which is between them and the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FormOutcome {
    Accepted,
    Declined,
    Cancelled,
}

impl FormAnswer {
    pub fn outcome(&self) -> FormOutcome {
        match self {
            Self::Accept { .. } => FormOutcome::Accepted,
            Self::Decline => FormOutcome::Declined,
            Self::Cancel => FormOutcome::Cancelled,
        }
    }
}
