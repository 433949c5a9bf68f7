//! What is said, in parts that no provider owns.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{CallId, ChatId, MessageId, ToolId, TurnId};
use crate::tool::{ToolCall, ToolResult};

/// One thing said to or by a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    User {
        text: String,
    },
    /// What a model said in one step: text, thinking and calls, in the order they came.
    Assistant {
        parts: Vec<Part>,
    },
    /// The answers to all calls of the step before, in the order of the calls.
    Tools {
        answers: Vec<ToolAnswer>,
    },
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
    Text { text: String },
    Thinking { text: String },
    Call(ToolCall),
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
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    #[ts(type = "number")]
    pub input_tokens: u64,
    #[ts(type = "number")]
    pub output_tokens: u64,
}

impl MessageRecord {
    /// The words alone, without thinking and calls.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

impl Part {
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Thinking { .. } | Self::Call(_) => None,
        }
    }

    pub fn as_call(&self) -> Option<&ToolCall> {
        match self {
            Self::Call(call) => Some(call),
            Self::Text { .. } | Self::Thinking { .. } => None,
        }
    }
}
