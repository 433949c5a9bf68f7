//! The nouns every other room speaks in. No IO, no clock, no task.
//!
//! Read in this order: what a tool is, where it comes from, what is said
//! about it, and who may do what.

pub mod id;
pub mod input_schema;
pub mod tool;
pub mod tool_id;

pub mod source;

pub mod event;
pub mod form;
pub mod message;
pub mod model;

pub mod access;
pub mod account;
pub mod pattern;
pub mod search;

pub use access::{Access, Layer, Policy, ToolSetting, ToolSettings, Verdict};
pub use account::{Account, Door, KeyAccess, KeyScope, SwitchedOff, UserRole};
pub use event::{
    Branch, CallProgress, Delta, DeltaKind, Event, EventBody, TitledBy, TurnOutcome, Waiting,
};
pub use form::{Form, FormAnswer, FormOutcome, FormWants};
pub use id::{
    BlobId, CallId, ChatId, FormId, InviteId, KeyId, MessageId, ModelId, SessionId, SourceId,
    ToolId, TurnId, UserId,
};
pub use input_schema::InputSchema;
pub use message::{Kept, Message, MessageRecord, Part, Role, StopReason, ToolAnswer, Usage};
pub use model::{Cost, LeftOut, ModelConfig, ModelRef, Prices, ToolMode, ToolUse, WireFormat};
pub use source::{
    Credential, McpClient, McpConfig, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig,
    SourceInfo, SourceKind, SourceState,
};
pub use tool::{
    Annotations, CallRecord, CallStatus, Content, ErrorKind, RunsOn, SHOWN_PAGE, ToolCall,
    ToolDefinition, ToolError, ToolOutput, ToolResult, ToolSpec,
};
