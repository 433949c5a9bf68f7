//! Files that people attach to their messages.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::FileId;

/// A file of a message: what is known of it without its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AttachedFile {
    pub id: FileId,
    pub name: String,
    pub media_type: String,
    #[ts(type = "number")]
    pub size: u64,
    pub kind: FileKind,
    /// How many characters of text a model can be told of it.
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text_chars: Option<u64>,
    /// Its text is longer than is kept.
    #[serde(default)]
    pub truncated: bool,
}

/// What a model can do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Seen, by models that see.
    Image,
    /// Read as it is.
    Text,
    /// Read after its text was extracted: PDF, office documents.
    Document,
    /// Only tools can do something with it.
    Other,
}

/// What a model is told of a file of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFile {
    pub name: String,
    /// Shared: every step tells the model again. None: there is no text, only the file in the
    /// workspace.
    pub text: Option<Arc<str>>,
}
