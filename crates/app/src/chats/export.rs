//! A chat as a file that Tenon can read again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tenon_domain::{
    AttachedFile, CallRecord, Cost, FileId, MessageId, ModelRef, Part, Role, TurnId, TurnOutcome,
    Usage,
};
use tenon_store::{FileContent, Transcript};
use ts_rs::TS;

use super::exported_settings::ExportedSettings;

/// What an exported chat says it is.
pub(super) const FORMAT: &str = "tenon.chat";
pub(super) const VERSION: u32 = 1;

/// A chat as a file that Tenon can read again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportedChat {
    /// "tenon.chat"
    pub format: String,
    /// 1
    pub version: u32,
    pub title: String,
    #[ts(type = "number")]
    pub created_at: i64,
    /// All branches; a turn comes after its parent.
    pub turns: Vec<ExportedTurn>,
    /// The last turn of the branch on show.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<TurnId>,
    /// Absent where nothing is set.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settings: Option<ExportedSettings>,
    /// The attached files, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[ts(optional, as = "Option<Vec<ExportedFile>>")]
    pub files: Vec<ExportedFile>,
}

/// A file that was attached to a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportedFile {
    pub file: AttachedFile,
    /// Base64.
    pub data: String,
    /// What models are told of it.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportedTurn {
    pub id: TurnId,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<TurnId>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// The user's first, then the model's.
    pub messages: Vec<ExportedMessage>,
    /// Absent while it runs.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<TurnOutcome>,
    #[serde(default)]
    pub usage: Usage,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<Cost>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportedMessage {
    pub id: MessageId,
    pub role: Role,
    pub parts: Vec<Part>,
    #[serde(default)]
    pub tool_calls: Vec<CallRecord>,
    #[ts(type = "number")]
    pub created_at: i64,
}

/// Without what only the provider who gave it can read.
pub fn export(transcript: Transcript) -> ExportedChat {
    let turns = transcript.turns.into_iter().map(|turn| ExportedTurn {
        id: turn.id,
        parent: turn.parent,
        model: turn.model,
        messages: turn
            .messages
            .into_iter()
            .map(|(message, tool_calls)| ExportedMessage {
                id: message.id,
                role: message.role,
                parts: without_provider_parts(message.parts),
                tool_calls,
                created_at: message.created_at,
            })
            .collect(),
        outcome: turn.outcome,
        usage: turn.usage,
        cost: turn.cost,
    });
    ExportedChat {
        format: FORMAT.into(),
        version: VERSION,
        title: transcript.chat.title,
        created_at: transcript.chat.created_at,
        turns: turns.collect(),
        head: transcript.head,
        settings: None,
        files: Vec::new(),
    }
}

impl ExportedChat {
    /// The ids of the files that its messages have.
    pub fn file_ids(&self) -> Vec<FileId> {
        let messages = self.turns.iter().flat_map(|turn| &turn.messages);
        let parts = messages.flat_map(|message| &message.parts);
        let mut ids: Vec<FileId> = parts
            .filter_map(Part::as_file)
            .map(|file| file.id.clone())
            .collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

impl From<FileContent> for ExportedFile {
    fn from(content: FileContent) -> Self {
        Self {
            file: content.file,
            data: STANDARD.encode(content.data),
            text: content.text,
        }
    }
}

pub(super) fn without_provider_parts(parts: Vec<Part>) -> Vec<Part> {
    let plain = parts.into_iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(Part::text(text)),
        Part::Thinking { text, .. } => Some(Part::thinking(text)),
        Part::Call { call, .. } => Some(Part::call(call)),
        shown @ (Part::Image(_) | Part::File { .. }) => Some(shown),
        Part::Opaque { .. } => None,
    });
    plain.collect()
}
