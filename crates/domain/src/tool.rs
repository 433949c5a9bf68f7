//! A tool, a call to it, and what comes back.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::id::{BlobId, CallId, MessageId, ToolId};
use crate::input_schema::InputSchema;
use crate::tool_error::{ErrorKind, ToolError};

/// A tool as its source describes it, before it has an id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The native name; only the source uses it.
    pub name: String,
    /// For people. The name stands in where a source has no title.
    pub title: Option<String>,
    pub description: String,
    pub input_schema: InputSchema,
    pub annotations: Annotations,
}

/// A tool as everybody but its source sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    pub id: ToolId,
    pub name: String,
    pub title: String,
    /// "Time/Current time": source title, slash, tool title.
    pub display_name: String,
    pub description: String,
    #[ts(type = "unknown")]
    pub input_schema: InputSchema,
    pub annotations: Annotations,
    pub runs_on: RunsOn,
}

/// Hints by the source about what a tool does. Hints, not promises: they choose defaults, never
/// overrule a setting, and are believed in the tool's favour only where an admin trusts its source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    /// Reaches beyond this machine.
    pub open_world: bool,
    /// A successful call means the work is done: the turn ends after it.
    pub ends_turn: bool,
    /// Its source advises against it: off until somebody switches it on.
    pub deprecated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum RunsOn {
    Server,
    Browser,
}

impl RunsOn {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Browser => "browser",
        }
    }
}

/// A wish to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    pub id: CallId,
    pub tool_id: ToolId,
    /// The arguments. What a model sent that was no JSON stands here as the
    /// string it sent: no tool accepts a bare string, so validation answers it.
    #[ts(type = "unknown")]
    pub input: Value,
}

/// What a tool said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolOutput {
    pub content: Vec<Content>,
}

/// The media type of a `File`, and of the `Blob` it becomes, that is a page in
/// UTF-8 which its tool wants people to see at once. It stands wherever media
/// types are kept; any other page is a file like others.
pub const SHOWN_PAGE: &str = "text/html; disposition=inline";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Content {
    Text {
        text: String,
    },
    Image {
        media_type: String,
        /// Base64.
        data: String,
    },
    Json {
        #[ts(type = "unknown")]
        value: Value,
    },
    /// A sound, a document, an archive. A source gives it; nobody else sees it,
    /// for it is kept aside at once and becomes a `Blob`.
    File {
        media_type: String,
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
        /// Base64.
        data: String,
    },
    /// A file, or the whole of something that was too long to show, kept aside.
    Blob {
        blob_id: BlobId,
        media_type: String,
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
        #[ts(type = "number")]
        bytes: u64,
    },
}

/// What a call ends in. A failed tool is a result the model reads, not a failed turn.
pub type ToolResult = Result<ToolOutput, ToolError>;

/// Where a call stands. A row is written as `Pending` before it is dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    Pending,
    Running,
    Done,
    Failed,
    Cancelled,
    Lost,
}

/// A call as history keeps it: complete without its tool, which may be gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    pub id: CallId,
    pub message_id: MessageId,
    pub tool_id: ToolId,
    /// The display name at that time.
    pub display_name: String,
    pub runs_on: RunsOn,
    #[ts(type = "unknown")]
    pub input: Value,
    pub status: CallStatus,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<ToolOutput>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ToolError>,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// It waits for a person to allow it.
    #[serde(default)]
    pub asked: bool,
    /// What a person decided about it.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
}

impl Content {
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. } | Self::Json { .. } | Self::File { .. } | Self::Blob { .. } => None,
        }
    }
}

impl ToolOutput {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text { text: text.into() }],
        }
    }

    pub fn json(value: Value) -> Self {
        Self {
            content: vec![Content::Json { value }],
        }
    }

    /// Bytes that claim to be text. What is not UTF-8 is replaced and said so:
    /// a wrong byte from a tool must not lose the rest of its answer.
    pub fn text_from_bytes(bytes: &[u8]) -> Self {
        match String::from_utf8_lossy(bytes) {
            std::borrow::Cow::Borrowed(text) => Self::text(text),
            std::borrow::Cow::Owned(text) => Self::text(format!(
                "[not valid UTF-8: the bytes that could not be read are shown as \u{FFFD}]\n{text}"
            )),
        }
    }

    /// The output as one text, for a model or a terminal that can show nothing else.
    pub fn to_text(&self) -> String {
        let parts: Vec<String> = self.content.iter().map(Content::to_text).collect();
        parts.join("\n")
    }

    /// The structured part of the output, where it has one.
    pub fn structured(&self) -> Option<&Value> {
        self.content.iter().find_map(|part| match part {
            Content::Json { value } => Some(value),
            _ => None,
        })
    }
}

impl Content {
    pub fn to_text(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::Json { value } => value.to_string(),
            Self::Image { media_type, data } => {
                format!("[image, {media_type}, {} bytes]", data.len() / 4 * 3)
            }
            Self::Blob {
                blob_id,
                media_type,
                name,
                bytes,
            } => {
                let name = name.as_ref().map(|name| format!("{name}, "));
                let name = name.unwrap_or_default();
                format!("[{name}{bytes} bytes of {media_type}, kept as {blob_id}]")
            }
            Self::File {
                media_type, data, ..
            } => format!("[file, {media_type}, {} bytes]", data.len() / 4 * 3),
        }
    }
}

impl CallStatus {
    /// How a call that ended this way is filed.
    pub fn of(result: &ToolResult) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(error) => match error.kind {
                ErrorKind::Cancelled => Self::Cancelled,
                ErrorKind::Lost => Self::Lost,
                ErrorKind::UnknownTool
                | ErrorKind::InvalidInput
                | ErrorKind::Denied
                | ErrorKind::TimedOut
                | ErrorKind::Unavailable
                | ErrorKind::Failed => Self::Failed,
            },
        }
    }

    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Running)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}

impl CallRecord {
    /// A call that is on record and has not begun.
    pub fn requested(
        call: ToolCall,
        message_id: MessageId,
        display_name: impl Into<String>,
        runs_on: RunsOn,
    ) -> Self {
        Self {
            id: call.id,
            message_id,
            tool_id: call.tool_id,
            display_name: display_name.into(),
            runs_on,
            input: call.input,
            status: CallStatus::Pending,
            output: None,
            error: None,
            duration_ms: None,
            asked: false,
            verdict: None,
        }
    }

    /// What was asked for.
    pub fn request(&self) -> ToolCall {
        ToolCall {
            id: self.id.clone(),
            tool_id: self.tool_id.clone(),
            input: self.input.clone(),
        }
    }

    /// Whether it was asked about and has not begun: it can still be made, however
    /// often Tenon was restarted since.
    pub fn is_paused(&self) -> bool {
        self.status == CallStatus::Pending && (self.asked || self.verdict.is_some())
    }

    /// What to tell the model. A call that never ended is answered as lost, so
    /// that every provider accepts the history.
    pub fn result(&self) -> ToolResult {
        match (&self.output, &self.error) {
            (_, Some(error)) => Err(error.clone()),
            (Some(output), None) => Ok(output.clone()),
            (None, None) => Err(ToolError::lost()),
        }
    }
}

impl fmt::Display for CallStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
/// What a person decided about a call that waited for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// This call alone.
    Once,
    /// This tool, for the rest of this chat.
    Chat,
    /// This tool, from now on.
    Always,
    Denied,
}

impl Verdict {
    pub fn allows(self) -> bool {
        self != Self::Denied
    }
}
