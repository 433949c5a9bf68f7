//! The types that all crates share: ids, tools, sources, messages, events, access. No IO, no
//! clock, no task.
//!
//! In reading order: what a tool is, where it comes from, the events of a chat, and who may do
//! what.

pub mod attachment;
pub mod error;
pub mod id;
pub mod input_schema;
pub mod language;
pub mod tool;
pub mod tool_error;
pub mod tool_id;

pub mod source;

pub mod evaluation;
pub mod event;
pub mod expert;
pub mod form;
pub mod message;
pub mod model;
pub mod parameters;

pub mod access;
pub mod account;
pub mod caller;
pub mod pattern;
pub use tenon_text as text;
pub use tenon_text::search;
pub use tenon_text::tokenizer;

pub use access::{
    EffectiveSetting, Layer, Policy, SettingTarget, ToolAccess, ToolSetting, ToolSettings,
};
pub use account::{
    Account, CallInterface, EntryPoint, HandoverNotice, KeyAccess, KeyScope, UnknownEntryPoint,
    UserRole,
};
pub use attachment::{AttachedFile, FileKind, UserFile};
pub use caller::Caller;
pub use error::{CodedError, ErrorDetail, ErrorParam, ErrorTemplate, OtherError};
pub use evaluation::{
    EvaluationReport, KindScore, ModeScore, PromptKind, PromptOutcome, PromptResult,
};
pub use event::{
    Branch, CallProgress, Delta, DeltaKind, Event, EventBody, ModelWait, PromptProgress, TitledBy,
    TurnOutcome,
};
pub use expert::{EXPERT_ICONS, ExpertDefinition, ToolFilter, Visibility};
pub use form::{Form, FormAnswer, FormAnswerError, FormOutcome, FormRequest};
pub use id::{
    BlobId, CallId, ChatId, ExpertId, FileId, FolderId, FormId, InviteId, KeyId, MessageId,
    ModelCallId, ModelId, PromptId, SessionId, SourceId, ToolId, TurnId, UserId,
};
pub use input_schema::InputSchema;
pub use language::PageLanguage;
pub use message::{
    Message, MessageRecord, Part, ProviderBlock, Role, StopReason, ToolAnswer, Usage, UserImage,
};
pub use model::{Cost, ModelConfig, ModelRef, OmittedTool, Prices, ToolMode, ToolUse, WireFormat};
pub use parameters::{ChatSettings, ModelParameters, ReasoningEffort};
pub use source::{
    McpClient, McpConfig, McpTransport, McpTransportKind, OpenapiConfig, OpenapiOrigin,
    SourceConfig, SourceCredential, SourceInfo, SourceKind, SourceState,
};
pub use tool::{
    Annotations, CallRecord, CallStatus, Content, RunsOn, SHOWN_PAGE, ToolCall, ToolDefinition,
    ToolOutput, ToolResult, ToolSpec, Verdict,
};
pub use tool_error::{CallEndError, ErrorKind, ToolError};
