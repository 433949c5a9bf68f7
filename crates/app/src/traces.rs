//! The trace of a turn: its model calls and tool calls in the order of time, from the events of its
//! chat and from what is on record of model calls.
//!
//! Inputs and outputs are shown by their beginnings, and what was sent to a model is read for one
//! call at a time: the trace of a long turn stays small.

mod builder;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{
    CallId, CallStatus, ChatId, Cost, ErrorDetail, FormOutcome, MessageId, ModelCallId, ModelRef,
    RunsOn, StopReason, ToolError, ToolId, TurnId, TurnOutcome, Usage, UserId, Verdict,
};
use tenon_store::{Error, Result, Store, now};
use ts_rs::TS;

use builder::TraceBuilder;

/// The trace of a turn, also of one that is still running.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct TurnTrace {
    pub turn_id: TurnId,
    pub chat_id: ChatId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// "page", "shell", or "key:" and the key's id.
    pub door: String,
    #[ts(type = "number")]
    pub started_at: i64,
    /// Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub ended_at: Option<i64>,
    /// The server's time, while the turn runs: open items last until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub now: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
    pub usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    pub model_calls: Vec<ModelCallTrace>,
    pub tool_calls: Vec<ToolCallTrace>,
    /// Whether this is all: a turn of thousands of calls is shown as far as its first ones.
    pub is_whole: bool,
}

/// One attempt to have a model answer.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ModelCallTrace {
    /// Absent while the call runs, and once its record has expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ModelCallId>,
    pub message_id: MessageId,
    /// 1, 2, 3 … for one message.
    #[ts(type = "number")]
    pub attempt: u64,
    #[ts(type = "number")]
    pub started_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub first_token_ms: Option<u64>,
    /// Absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub duration_ms: Option<u64>,
    /// How long was waited before the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub wait_ms: Option<u64>,
    pub usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
    /// HTTP status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether what was sent can be read: `GET /api/model-calls/{id}`.
    pub has_request: bool,
    /// The beginning of what it said.
    pub output: String,
    /// The tools it asked for.
    pub calls: Vec<ToolId>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ToolCallTrace {
    pub call_id: CallId,
    pub message_id: MessageId,
    pub tool_id: ToolId,
    pub display_name: String,
    pub runs_on: RunsOn,
    /// The computer, where that is not the server and the call belongs to no chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    pub status: CallStatus,
    #[ts(type = "number")]
    pub requested_at: i64,
    /// Since when it waited for a person to allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub asked_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub answered_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub started_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub ended_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub duration_ms: Option<u64>,
    pub forms: Vec<FormWait>,
    /// As JSON; its beginning where it is long.
    pub input: String,
    /// Its beginning, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The length of the whole output.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub output_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// A time in which a tool waited for a person to fill in its form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct FormWait {
    #[ts(type = "number")]
    pub shown_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub answered_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<FormOutcome>,
}

/// What was sent to a model's server, without secrets, and how the answer began.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ModelRequestView {
    pub id: ModelCallId,
    /// Absent where no server was asked, or it was not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The JSON of the request; a text where it was too long to be kept as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub request: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
}

/// A call of a tool that somebody made before.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RecentCallView {
    pub call_id: CallId,
    /// Where it was made in a chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// When it ended.
    #[ts(type = "number")]
    pub at: i64,
    pub status: CallStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub duration_ms: Option<u64>,
    /// "page", "shell", or "key:" and the key's id.
    pub door: String,
}

/// How a turn of this user went.
pub async fn turn_trace(store: &Store, user: &UserId, turn: &TurnId) -> Result<TurnTrace> {
    let events = store.turn_events(user, turn).await?;
    let model_calls = store.model_calls_of(turn).await?;
    Ok(TraceBuilder::new(events, model_calls).build(now()))
}

/// A call in one of this user's chats.
pub(crate) async fn call_in_chat(
    store: &Store,
    user: &UserId,
    call: &CallId,
) -> Result<ToolCallTrace> {
    let turn = store.turn_of_call(user, call).await?;
    let mut calls = turn_trace(store, user, &turn).await?.tool_calls.into_iter();
    let found = calls.find(|found| found.call_id == *call);
    found.ok_or(Error::NotFound("call"))
}

/// What was sent in a model call of this user.
pub async fn model_request(
    store: &Store,
    user: &UserId,
    id: &ModelCallId,
) -> Result<ModelRequestView> {
    let (stored, exchange) = store.model_call(user, id).await?;
    let (url, request, response) = match exchange {
        Some(exchange) => (
            Some(exchange.url),
            Some(exchange.request),
            Some(exchange.response),
        ),
        None => (None, None, None),
    };
    Ok(ModelRequestView {
        id: stored.id,
        url,
        request,
        response,
    })
}

/// The last calls of a tool that this user made.
pub async fn recent_calls(
    store: &Store,
    user: &UserId,
    tool: &ToolId,
    limit: u64,
) -> Result<Vec<RecentCallView>> {
    let calls = store.recent_calls(user, tool, limit).await?.into_iter();
    let views = calls.map(|call| RecentCallView {
        call_id: call.call,
        chat_id: call.chat,
        turn_id: call.turn,
        at: call.at,
        status: call.status,
        duration_ms: call.duration_ms,
        door: call.door,
    });
    Ok(views.collect())
}
