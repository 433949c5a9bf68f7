//! What is said, in parts that no provider owns.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::attachment::{AttachedFile, UserFile};
use crate::id::{CallId, ChatId, MessageId, ToolId, TurnId};
use crate::tool::{ToolCall, ToolResult};

/// One thing said to or by a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    User {
        text: String,
        images: Vec<UserImage>,
        files: Vec<UserFile>,
    },
    /// What a model said in one step: text, thinking and calls, in the order they came.
    Assistant { parts: Vec<Part> },
    /// The answers to all calls of the step before, in the order of the calls.
    Tools { answers: Vec<ToolAnswer> },
}

/// A picture that the user shows. Shared: every step tells the model all of them again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UserImage {
    pub media_type: String,
    /// Base64.
    #[ts(type = "string")]
    pub data: Arc<str>,
    /// Of the file that it is. Not stored with a message: the file has its name.
    #[serde(skip)]
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    pub call_id: CallId,
    pub tool_id: ToolId,
    pub result: ToolResult,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Part {
    Text {
        text: String,
        #[ts(skip)]
        #[serde(rename = "kept", skip_serializing_if = "Option::is_none", default)]
        provider_block: Option<ProviderBlock>,
    },
    Thinking {
        text: String,
        #[ts(skip)]
        #[serde(rename = "kept", skip_serializing_if = "Option::is_none", default)]
        provider_block: Option<ProviderBlock>,
    },
    Call {
        #[serde(flatten)]
        call: ToolCall,
        #[ts(skip)]
        #[serde(rename = "kept", skip_serializing_if = "Option::is_none", default)]
        provider_block: Option<ProviderBlock>,
    },
    /// In messages of the user alone.
    Image(UserImage),
    /// In messages of the user alone: one that is kept beside the message.
    File { file: AttachedFile },
    /// Something only its maker can read: redacted thinking, the provider's own tools.
    Opaque {
        #[ts(skip)]
        #[serde(rename = "kept")]
        provider_block: ProviderBlock,
    },
}

/// What a provider said, as it wants to be told it again: signatures,
/// citations, its own ids. Only the wire format that made it looks inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderBlock {
    /// The model, at its address, that made it: to all others it means nothing.
    pub maker: String,
    pub block: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

/// A message as history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageRecord {
    pub id: MessageId,
    pub chat_id: ChatId,
    pub turn_id: TurnId,
    pub role: Role,
    pub parts: Vec<Part>,
    /// Milliseconds since 1970.
    #[ts(type = "number")]
    pub created_at: i64,
}

/// Why a model stopped speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It has nothing left to say.
    End,
    /// It waits for the results of its calls.
    ToolCalls,
    /// It ran into its own limit of length.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// The provider took a break; told back what it said, it goes on.
    Paused,
}

/// What was counted, by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// All that was read, from the cache or not.
    #[ts(type = "number")]
    pub input_tokens: u64,
    /// All that was written, thinking included.
    #[ts(type = "number")]
    pub output_tokens: u64,
    /// How much of the input came from the provider's cache, and how much was put there.
    #[ts(type = "number")]
    pub cache_read_tokens: u64,
    #[ts(type = "number")]
    pub cache_write_tokens: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, more.input_tokens);
        add(&mut self.output_tokens, more.output_tokens);
        add(&mut self.cache_read_tokens, more.cache_read_tokens);
        add(&mut self.cache_write_tokens, more.cache_write_tokens);
    }
}

impl Message {
    /// Something that the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User {
            text: text.into(),
            images: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl MessageRecord {
    /// The words alone, without thinking and calls.
    pub fn text(&self) -> String {
        Part::words(&self.parts)
    }

    pub fn images(&self) -> Vec<UserImage> {
        let images = self.parts.iter().filter_map(|part| match part {
            Part::Image(image) => Some(image.clone()),
            Part::Text { .. }
            | Part::Thinking { .. }
            | Part::Call { .. }
            | Part::File { .. }
            | Part::Opaque { .. } => None,
        });
        images.collect()
    }

    /// What was attached.
    pub fn files(&self) -> impl Iterator<Item = &AttachedFile> {
        self.parts.iter().filter_map(Part::as_file)
    }
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            provider_block: None,
        }
    }

    pub fn thinking(text: impl Into<String>) -> Self {
        Self::Thinking {
            text: text.into(),
            provider_block: None,
        }
    }

    pub fn call(call: ToolCall) -> Self {
        Self::Call {
            call,
            provider_block: None,
        }
    }

    /// The words among parts. Texts that follow on each other are one text,
    /// which a provider cut to hang its citations on.
    pub fn words(parts: &[Self]) -> String {
        let mut words = String::new();
        let mut follows = false;
        for part in parts {
            let text = part.as_text();
            if let Some(text) = text {
                if !follows && !words.is_empty() {
                    words.push_str("\n\n");
                }
                words.push_str(text);
            }
            follows = text.is_some();
        }
        words
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Thinking { .. }
            | Self::Call { .. }
            | Self::Image(_)
            | Self::File { .. }
            | Self::Opaque { .. } => None,
        }
    }

    pub fn as_file(&self) -> Option<&AttachedFile> {
        match self {
            Self::File { file } => Some(file),
            Self::Text { .. }
            | Self::Thinking { .. }
            | Self::Call { .. }
            | Self::Image(_)
            | Self::Opaque { .. } => None,
        }
    }

    pub fn as_call(&self) -> Option<&ToolCall> {
        match self {
            Self::Call { call, .. } => Some(call),
            Self::Text { .. }
            | Self::Thinking { .. }
            | Self::Image(_)
            | Self::File { .. }
            | Self::Opaque { .. } => None,
        }
    }
}
