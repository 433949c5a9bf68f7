//! The JSON of Tenon's own API, request by request. TypeScript is generated from it.

mod accounts;
mod chats;
mod devices;
mod documents;
mod health;
mod models;
mod sources;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tenon_domain::{
    Annotations, CallId, CallProgress, ChatId, Content, Delta, Event, InputSchema, Layer, ModelId,
    Policy, RunsOn, SourceId, SourceKind, SourceState, ToolError, ToolId, Waiting,
};
use tenon_sources::browser::{Answered, Execute, Registered, Registration, Sign};
use ts_rs::TS;

use crate::storage::StorageState;

pub use accounts::{
    AuditView, AuthState, CreatedInvite, CreatedKey, Invitation, InviteView, KeyView, LogIn,
    LogOutEverywhere, MeChange, NewInvite, NewKey, NewUser, SessionView, SettingsView, Setup,
    SignUp, UserChange,
};
pub use chats::{
    AnswerCall, ChatChange, ChatSummary, ChooseBranch, ExportedChat, ExportedMessage, ExportedTurn,
    HitKind, MessageView, NewShare, OwnShare, SearchHit, ShareView, SharedChat, SnippetPiece,
    StartTurn, TurnStarted,
};
pub use devices::{
    Behind, DeviceView, EndpointKind, LocalEndpoint, LocalServerView, LocalView, LookBehind,
};
pub use documents::{
    DocumentChange, DocumentView, SchemeKindView, SchemeView, SkippedView, SourcePreview,
    ToolPreview,
};
pub use models::{
    Discover, Discovered, EndpointView, ModelChange, ModelOrigin, ModelView, NewModel,
    OfferedModel, TestFrame,
};

pub use health::{AdviceView, CauseView, StartupView};
pub use sources::{
    AnswerForm, CredentialKind, Hidden, ImportSources, ImportedSource, LogLine, LoginStart,
    LoginState, NewSecret, NewSource, SecretView, ServerAbout, SourceChange, SourceDetail,
    SourceLimits, SourceNews, SourceOrigin, SourceReach,
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

/// `GET /api/tools?chatId=`: all a user can see, as they are set for this chat.
#[derive(Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    pub tool_id: ToolId,
    pub display_name: String,
    pub tool_name: String,
    pub title: String,
    pub description: String,
    #[ts(type = "unknown")]
    pub parameters: InputSchema,
    pub annotations: Annotations,
    pub source: SourceView,
    pub runs_on: RunsOn,
    pub enabled: bool,
    /// Who switched it on or off; absent where nobody did.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled_by: Option<Layer>,
    pub policy: Policy,
    /// Who chose the policy; absent where nobody did.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_by: Option<Layer>,
}

/// `PATCH /api/tools`: what one layer says about tools from now on (204).
/// The organisation's are an admin's to change.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolsChange {
    pub layer: Layer,
    /// For the layers of a chat.
    #[ts(optional)]
    pub chat_id: Option<ChatId>,
    pub tools: Vec<ToolChange>,
}

/// A field that is left out stays as it is; null takes back what the layer said.
#[derive(Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolChange {
    pub tool_id: ToolId,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[ts(optional, type = "boolean | null")]
    pub enabled: Option<Option<bool>>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[ts(optional, type = "Policy | null")]
    pub policy: Option<Option<Policy>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceView {
    pub id: SourceId,
    pub kind: SourceKind,
    pub name: String,
    pub title: String,
    #[serde(flatten)]
    pub state: SourceState,
    /// Of one that runs on somebody's own machine.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalView>,
}

/// `POST /api/tools/{toolId}/call`
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallTool {
    #[ts(type = "unknown")]
    pub arguments: Value,
}

#[derive(Debug, Serialize, Deserialize, TS)]
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
#[derive(Debug, Serialize, Deserialize, TS)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Debug, Serialize, Deserialize, TS)]
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
    /// How far a running call has come; also, after `subscribe`, of those that run.
    Progress(CallProgress),
    #[serde(rename = "source:state")]
    Source(SourceNews),
    /// Everything up to `seq` has been sent; from here on it is live.
    CaughtUp {
        chat_id: ChatId,
        #[ts(type = "number")]
        seq: i64,
    },
    /// A call that this page is to make, on its own machine.
    #[serde(rename = "execute:tool")]
    Execute(Box<Execute>),
    /// Nobody waits for that call any more.
    #[serde(rename = "cancel:tool")]
    Cancel {
        #[serde(rename = "call_id")]
        call_id: CallId,
    },
    /// What came of `tools:register`.
    #[serde(rename = "tools:registered")]
    Registered(Registered),
    /// The list of tools is not what it was.
    #[serde(rename = "tools:changed")]
    ToolsChanged,
    /// Whether what is written arrives; told when it does not, and when it does again.
    Storage {
        state: StorageState,
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
    /// What this page found on its own machine: this, and nothing else.
    #[serde(rename = "tools:register")]
    Register(Registration),
    /// What is at this address is not wanted any more.
    #[serde(rename = "tools:unregister")]
    Unregister {
        url: String,
    },
    /// A call has begun, or is this far.
    #[serde(rename = "tool:progress")]
    Sign(Sign),
    /// A call has ended.
    #[serde(rename = "tool:result")]
    Answered(Answered),
}

/// Tells "left out" from "null".
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
