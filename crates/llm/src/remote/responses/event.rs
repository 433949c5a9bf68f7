//! The events of a streamed response, and the items that they are about.

use serde::Deserialize;
use serde_json::{Map, Value};
use tenon_domain::Usage;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseEvent {
    pub(super) r#type: String,
    pub(super) output_index: Option<u64>,
    pub(super) item_id: Option<String>,
    pub(super) delta: Value,
    pub(super) arguments: Value,
    pub(super) item: Option<Map<String, Value>>,
    pub(super) response: Option<ResponseObject>,
    pub(super) error: Option<Value>,
    /// `error` has its members here.
    pub(super) code: Option<Value>,
    pub(super) message: Option<Value>,
    pub(super) param: Option<Value>,
    /// `response` where nothing is streamed.
    pub(super) object: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseObject {
    pub(super) model: Option<Value>,
    pub(super) status: Option<String>,
    pub(super) output: Option<Vec<Map<String, Value>>>,
    pub(super) usage: Option<ResponseUsage>,
    pub(super) incomplete_details: Option<IncompleteDetails>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct IncompleteDetails {
    pub(super) reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseUsage {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) input_tokens_details: Option<InputTokenDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InputTokenDetails {
    pub(super) cached_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemKind {
    Message,
    Thought,
    Call,
    Other,
}

impl ResponseEvent {
    /// The kind of the item that it is about.
    pub(super) fn kind(&self) -> Option<ItemKind> {
        match self.r#type.as_str() {
            "response.output_item.added" | "response.output_item.done" => {
                self.item.as_ref().map(ItemKind::of)
            }
            "response.output_text.delta" | "response.refusal.delta" => Some(ItemKind::Message),
            "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary_part.added" => Some(ItemKind::Thought),
            "response.function_call_arguments.delta" | "response.function_call_arguments.done" => {
                Some(ItemKind::Call)
            }
            _ => None,
        }
    }
}

impl ItemKind {
    pub(super) fn of(item: &Map<String, Value>) -> Self {
        match word(item, "type") {
            "message" => Self::Message,
            "reasoning" => Self::Thought,
            "function_call" => Self::Call,
            _ => Self::Other,
        }
    }
}

impl From<ResponseUsage> for Usage {
    fn from(count: ResponseUsage) -> Self {
        let details = count.input_tokens_details.unwrap_or_default();
        Self {
            input_tokens: count.input_tokens.unwrap_or(0),
            output_tokens: count.output_tokens.unwrap_or(0),
            cache_read_tokens: details.cached_tokens.unwrap_or(0),
            cache_write_tokens: 0,
        }
    }
}

pub(super) fn word<'a>(item: &'a Map<String, Value>, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What the parts in a member of an item say.
pub(super) fn texts(item: &Map<String, Value>, member: &str, separator: &str) -> String {
    let parts = item.get(member).and_then(Value::as_array);
    let texts = parts.into_iter().flatten().filter_map(|part| {
        let text = part.get("text").or_else(|| part.get("refusal"));
        text?.as_str()
    });
    texts.collect::<Vec<_>>().join(separator)
}

/// Arguments are text, or the JSON itself.
pub(super) fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
