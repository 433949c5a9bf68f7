//! The JSON of Tenon's own API, request by request. TypeScript is generated from it.

mod models;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{
    Annotations, CallRecord, ChatId, Content, Delta, Event, MessageId, ModelId, Part, Policy, Role,
    RunsOn, SourceId, SourceKind, SourceState, ToolError, ToolId, TurnId, Waiting,
};
use ts_rs::TS;

pub use models::{
    Discover, Discovered, EndpointView, ModelChange, ModelOrigin, ModelView, NewModel,
    OfferedModel, TestFrame,
};

/// `GET /api/info`: what this is, and which model answers where none is named.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    pub version: String,
    pub model: ModelInfo,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    pub id: ModelId,
    pub name: String,
    /// The built-in assistant: no language model is connected.
    pub builtin: bool,
}

/// `GET /api/chats`, newest first.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChatSummary {
    pub id: ChatId,
    /// Empty until the first message gives it one.
    pub title: String,
    #[ts(type = "number")]
    pub created_at: i64,
    #[ts(type = "number")]
    pub updated_at: i64,
    /// The turn that is running now.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<TurnId>,
}

/// `POST /api/chats`, `PATCH /api/chats/{id}`
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChatChange {
    #[ts(optional)]
    pub title: Option<String>,
}

/// `POST /api/chats/{id}/turns`
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartTurn {
    pub text: String,
    /// These tools alone; left out, all of them.
    #[ts(optional)]
    pub tool_ids: Option<Vec<ToolId>>,
    /// Left out, the default one.
    #[ts(optional)]
    pub model_id: Option<ModelId>,
}

/// 202 of `POST /api/chats/{id}/turns`
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    pub turn_id: TurnId,
}

/// `GET /api/chats/{id}/messages`
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    pub id: MessageId,
    pub turn_id: TurnId,
    pub role: Role,
    pub text: String,
    pub parts: Vec<Part>,
    pub tool_calls: Vec<CallRecord>,
    #[ts(type = "number")]
    pub created_at: i64,
}

/// `GET /api/tools`
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    pub tool_id: ToolId,
    pub display_name: String,
    pub tool_name: String,
    pub title: String,
    pub description: String,
    #[ts(type = "unknown")]
    pub parameters: Value,
    pub annotations: Annotations,
    pub source: SourceView,
    pub runs_on: RunsOn,
    pub enabled: bool,
    pub policy: Policy,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceView {
    pub id: SourceId,
    pub kind: SourceKind,
    pub name: String,
    pub title: String,
    #[serde(flatten)]
    pub state: SourceState,
}

/// `POST /api/tools/{toolId}/call`
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallTool {
    #[ts(type = "unknown")]
    pub arguments: Value,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallToolAnswer {
    pub ok: bool,
    pub content: Vec<Content>,
    #[ts(optional, type = "unknown")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    #[ts(type = "number")]
    pub duration_ms: u64,
}

/// The body of every answer that is not a success.
#[derive(Debug, Serialize, TS)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Debug, Serialize, TS)]
pub struct ErrorDetail {
    pub code: String,
    /// One sentence that says what to do.
    pub message: String,
}

/// `WS /api/ws`, server to page.
#[derive(Debug, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ServerFrame {
    Event(Event),
    /// A piece of a message in progress; also, after `subscribe`, all of it so far at offset 0.
    Delta(Delta),
    Waiting(Waiting),
    /// Everything up to `seq` has been sent; from here on it is live.
    CaughtUp {
        chat_id: ChatId,
        #[ts(type = "number")]
        seq: i64,
    },
    Error {
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        chat_id: Option<ChatId>,
        error: ErrorDetail,
    },
}

/// `WS /api/ws`, page to server.
#[derive(Debug, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ClientFrame {
    /// Send what happened in this chat after number `after`, then what happens.
    Subscribe {
        chat_id: ChatId,
        #[serde(default)]
        #[ts(type = "number")]
        after: i64,
    },
    Unsubscribe {
        chat_id: ChatId,
    },
}
