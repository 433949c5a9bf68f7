//! The numbered events of a chat.
//!
//! Chats are event-sourced: the tables of `store` and the view of the page are projections of the
//! same events. Events are idempotent: each can arrive twice. [`Delta`]s and progress are live
//! only, never stored.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::account::EntryPoint;
use crate::error::ErrorDetail;
use crate::form::{Form, FormOutcome};
use crate::id::{CallId, ChatId, FormId, MessageId, ToolId, TurnId};
use crate::message::{MessageRecord, Part, Usage};
use crate::model::{Cost, ModelRef, OmittedTool};
use crate::tool::Verdict;
use crate::tool::{CallRecord, CallStatus, ToolOutput};
use crate::tool_error::ToolError;

/// One numbered, durable fact about a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub chat_id: ChatId,
    /// 1, 2, 3 … within the chat, without gaps.
    #[ts(type = "number")]
    pub seq: i64,
    /// Milliseconds since 1970.
    #[ts(type = "number")]
    pub at: i64,
    pub body: EventBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum EventBody {
    /// The chat has a new name.
    ChatTitled {
        title: String,
        #[serde(default)]
        by: TitledBy,
    },
    /// A person said something and a turn began.
    TurnStarted {
        turn_id: TurnId,
        message: MessageRecord,
        /// Where it does not follow the turn at the end of the branch on show.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<Branch>,
        /// These tools alone, where the person said so.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tools: Option<Vec<ToolId>>,
        /// How it came in: the page, a key or a shell.
        #[serde(default)]
        door: EntryPoint,
        /// Who is asked.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        model: Option<ModelRef>,
    },
    /// The branch on show now ends with this turn.
    BranchChosen {
        turn_id: TurnId,
    },
    /// These tools could not be put before the model; the others were.
    ToolsLeftOut {
        turn_id: TurnId,
        tools: Vec<OmittedTool>,
    },
    /// A model began to speak.
    MessageStarted {
        message: MessageRecord,
    },
    /// A model has said all of this message; its calls follow.
    MessageFinished {
        message_id: MessageId,
        parts: Vec<Part>,
    },
    /// A call is on record and will be dispatched.
    CallRequested {
        call: CallRecord,
    },
    /// The call waits until a person has allowed or refused it.
    CallAsked {
        call_id: CallId,
    },
    /// A person has decided about a call that waited.
    CallAnswered {
        call_id: CallId,
        verdict: Verdict,
    },
    CallStarted {
        call_id: CallId,
    },
    /// The tool asks a person something and waits for the answer.
    FormShown {
        call_id: CallId,
        form: Form,
    },
    /// It has its answer, which is not kept.
    FormAnswered {
        call_id: CallId,
        form_id: FormId,
        outcome: FormOutcome,
    },
    CallFinished {
        call_id: CallId,
        status: CallStatus,
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        output: Option<ToolOutput>,
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error: Option<ToolError>,
        #[ts(type = "number")]
        duration_ms: u64,
    },
    /// Nothing of this turn is still running.
    TurnFinished {
        turn_id: TurnId,
        outcome: TurnOutcome,
        usage: Usage,
        /// Where the model has prices.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cost: Option<Cost>,
    },
}

/// The place of a turn that does not follow the branch on show: beside another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// The turn before it. None: it begins the chat anew.
    pub after: Option<TurnId>,
}

/// Who gave a chat its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum TitledBy {
    /// Nobody: it is the beginning of the first message. A better one may replace it.
    #[default]
    Cut,
    Model,
    Person,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum TurnOutcome {
    /// The model had nothing left to ask.
    Done,
    /// A person stopped it.
    Stopped,
    /// The step limit stopped it.
    StepLimit,
    /// It broke off: Tenon was restarted, or the model's stream died. What was said stands.
    Interrupted(ErrorDetail),
    /// The model could not be used; the error says what to do.
    Failed(ErrorDetail),
}

/// A piece of a message that is still being spoken.
///
/// `offset` is the length of the part before this piece, in UTF-16 units as
/// the page counts them, so that a piece that arrives twice is seen to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    pub chat_id: ChatId,
    pub message_id: MessageId,
    /// Which part of the message this belongs to.
    pub part: usize,
    pub kind: DeltaKind,
    pub offset: usize,
    pub text: String,
}

/// Nothing has been said yet: the model's server is busy, and is asked again
/// after this long. Live only, like a delta.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelWait {
    pub chat_id: ChatId,
    pub message_id: MessageId,
    #[ts(type = "number")]
    pub wait_ms: u64,
}

/// Nothing has been said yet: the model's server is still reading what it was sent, and has read so
/// many tokens of it. Live only, like a delta.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PromptProgress {
    pub chat_id: ChatId,
    pub message_id: MessageId,
    #[ts(type = "number")]
    pub processed: u64,
    #[ts(type = "number")]
    pub total: u64,
}

/// How far a running call has come, as its tool tells it. Live only, like a delta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallProgress {
    pub chat_id: ChatId,
    pub call_id: CallId,
    pub progress: f64,
    /// What `progress` is at the end, where that is known.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<f64>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum DeltaKind {
    Text,
    Thinking,
    /// The input of a call, being written.
    Input {
        display_name: String,
    },
}
