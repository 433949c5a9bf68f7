//! The JSON of Tenon's own API, request by request. TypeScript is generated from it.

mod accounts;
mod chats;
mod devices;
mod prompts;
mod sources;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_app::cluster::ClusterState;
use tenon_app::json::double_option;
use tenon_app::storage::StorageState;
use tenon_app::user_feed::UserTopic;
use tenon_domain::{
    CallId, CallProgress, ChatId, Delta, ErrorDetail, Event, ExpertId, Layer, ModelId, ModelWait,
    Policy, PromptProgress, SourceId, ToolId,
};
use tenon_sources::browser::{
    ExecuteTool, LocalCallResult, Registration, RegistrationResult, RemoteCallProgress,
};
use ts_rs::TS;

pub use accounts::{
    AuditView, AuthState, CreatedInvite, Invitation, InviteView, LogIn, LogOutEverywhere, MeChange,
    NewInvite, SessionView, SettingsView, Setup, SignUp,
};
pub use chats::{
    AnswerCall, ChatChange, ChooseBranch, ContextQuery, ContextView, MessageView, NewShare,
    OwnShare, SearchHit, SearchHitKind, ShareView, SharedChat, SnippetPiece, StartTurn,
    TurnStarted, UserInstructions,
};
pub use devices::{
    DeviceView, EndpointKind, LocalEndpoint, LocalServerView, McpoDiscoveryRequest, McpoServer,
};
pub use prompts::{FillPrompt, FilledPrompt, PromptArgument, ServerPromptView};
pub use sources::{AnswerForm, LoginStart};
pub use tenon_app::accounts::{CreatedKey, KeyView, NewAccount, NewKey, UserChange};
pub use tenon_app::chats::{
    ChatSummary, ExportedChat, ExportedFile, ExportedMessage, ExportedSettings, ExportedTurn,
};
pub use tenon_app::experts::{ExpertChange, ExpertFile, ExpertView};
pub use tenon_app::files::FileLimits;
pub use tenon_app::folders::{ChatFolderChange, FolderView};
pub use tenon_app::models::{
    EndpointView, EvaluationFrame, EvaluationRequest, ModelChange, ModelDiscoveryRequest,
    ModelDiscoveryResponse, ModelOrigin, ModelParameter, ModelView, NewModel, OfferedModel,
    TestFrame,
};
pub use tenon_app::prompts::{NewPrompt, PromptChange, PromptView};
pub use tenon_app::skills::{
    CreateEvent, ModuleCode, ModuleFaultView, ModuleFunctionView, ModuleMeta, ModuleView,
    ModuleWarningView, NewModule, RefusedSkillView, SandboxView, SkillChange, SkillCodeView,
    SkillDetail, SkillFileView, SkillInput, SkillInstall, SkillPreview, SkillPreviewItem,
    SkillToolKind, SkillToolView, SkillValueView, SkillVersionChoice, SkillVersionView, SkillView,
    TryEvent, TryModule, WallView,
};
pub use tenon_app::sources::{
    AddSource, CauseView, CredentialKind, DocumentChange, DocumentView, ImportSources,
    ImportedSource, LogLine, LoginState, NewSecret, SchemeKindView, SchemeView, SecretView,
    ServerAbout, SkippedView, SourceChange, SourceDetail, SourceLimits, SourceOrigin,
    SourcePreview, SourceReach, SourceUpdate, StartupView, ToolPreview,
};
pub use tenon_app::statistics::{
    CallStats, ModelStats, PersonStats, SourceStats, StatsRange, StatsView, TimeStats, ToolStats,
    UsageStats,
};
pub use tenon_app::tools::{
    CallToolAnswer, LocalView, SourcePolicy, SourceSwitch, SourceView, ToolView,
};
pub use tenon_app::traces::{
    FormWait, ModelCallTrace, ModelRequestView, RecentCallView, ToolCallTrace, TurnTrace,
};

/// `GET /api/info`: what this is, and which model answers where none is named.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    pub version: String,
    pub model: ModelInfo,
    pub files: FileLimits,
}

#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    pub id: ModelId,
    pub name: String,
    /// The built-in assistant: no language model is connected.
    pub builtin: bool,
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
    /// For the layers of an expert, which may switch tools on and off, ask and deny.
    #[ts(optional)]
    pub expert_id: Option<ExpertId>,
    pub tools: Vec<ToolSettingPatch>,
    /// For all tools of a source, also those that come later; a tool's own setting in the same
    /// layer comes before it.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<SourceSettingPatch>>")]
    pub sources: Vec<SourceSettingPatch>,
}

/// A field that is left out stays as it is; null takes back what the layer said.
#[derive(Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolSettingPatch {
    pub tool_id: ToolId,
    #[serde(
        default,
        deserialize_with = "double_option",
        skip_serializing_if = "Option::is_none"
    )]
    #[ts(optional, type = "boolean | null")]
    pub enabled: Option<Option<bool>>,
    #[serde(
        default,
        deserialize_with = "double_option",
        skip_serializing_if = "Option::is_none"
    )]
    #[ts(optional, type = "Policy | null")]
    pub policy: Option<Option<Policy>>,
}

/// The same for all tools of a source.
#[derive(Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceSettingPatch {
    pub source_id: SourceId,
    #[serde(
        default,
        deserialize_with = "double_option",
        skip_serializing_if = "Option::is_none"
    )]
    #[ts(optional, type = "boolean | null")]
    pub enabled: Option<Option<bool>>,
    #[serde(
        default,
        deserialize_with = "double_option",
        skip_serializing_if = "Option::is_none"
    )]
    #[ts(optional, type = "Policy | null")]
    pub policy: Option<Option<Policy>>,
}

/// `POST /api/tools/{toolId}/call`
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallTool {
    #[ts(type = "unknown")]
    pub arguments: Value,
}

/// The body of every answer that is not a success.
#[derive(Debug, Serialize, Deserialize, TS)]
pub struct ErrorBody {
    pub error: ErrorDetail,
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
    /// Several events of one chat, in order, for a page that subscribed with `batched`.
    Events {
        chat_id: ChatId,
        events: Vec<Event>,
    },
    /// A piece of a message in progress; also, after `subscribe`, all of it so far at offset 0.
    Delta(Delta),
    Waiting(ModelWait),
    #[serde(rename = "prompt:progress")]
    PromptProgress(PromptProgress),
    /// How far a running call has come; also, after `subscribe`, of those that run.
    Progress(CallProgress),
    #[serde(rename = "source:state")]
    Source(SourceUpdate),
    /// Everything up to `seq` has been sent; from here on it is live.
    CaughtUp {
        chat_id: ChatId,
        #[ts(type = "number")]
        seq: i64,
    },
    /// A call that this page is to make, on its own machine.
    #[serde(rename = "execute:tool")]
    Execute(Box<ExecuteTool>),
    /// Nobody waits for that call any more.
    #[serde(rename = "cancel:tool")]
    Cancel {
        #[serde(rename = "call_id")]
        call_id: CallId,
    },
    /// What came of `tools:register`.
    #[serde(rename = "tools:registered")]
    Registered(RegistrationResult),
    /// The answer to `ping`.
    Pong,
    /// Anything may have changed: read again what is shown. The answer to `subscribe:user`,
    /// and sent again where something was missed.
    Resync,
    /// A chat came or changed; this and the next two after `subscribe:user`.
    #[serde(rename = "chat:changed")]
    ChatChanged {
        chat: ChatSummary,
    },
    #[serde(rename = "chat:gone")]
    ChatGone {
        chat_id: ChatId,
    },
    /// What is shown of it may be old.
    Changed {
        topic: UserTopic,
    },
    /// Whether what is written arrives; told when it does not, and when it does again.
    Storage {
        state: StorageState,
    },
    /// Whether what other servers do arrives at once; told when it does not, and when it does
    /// again.
    Cluster {
        state: ClusterState,
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
        /// What is past may come as `events`: a long chat is thousands of them, and a browser takes
        /// longer for the frames than for what is in them.
        #[serde(default)]
        batched: bool,
    },
    Unsubscribe {
        chat_id: ChatId,
    },
    /// Send what changes for this user, in whatever chat, on whatever device.
    #[serde(rename = "subscribe:user")]
    SubscribeUser,
    /// Answer with `pong`: a browser cannot send the pings of WebSocket.
    Ping,
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
    ToolProgress(RemoteCallProgress),
    /// A call has ended.
    #[serde(rename = "tool:result")]
    ToolResult(LocalCallResult),
}
