//! Models and endpoints as clients see and change them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenon_domain::{ErrorDetail, ModelId, Prices, ToolMode, ToolUse, WireFormat, coded_errors};
use ts_rs::TS;

use crate::auth::CurrentUser;
use crate::json::double_option;

/// A model that can be chosen.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelView {
    pub id: ModelId,
    pub name: String,
    pub origin: ModelOrigin,
    /// The endpoint it is offered by: "OpenAI", "Ollama".
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Not there for the built-in assistant.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<WireFormat>,
    /// For admins alone: it may name a host that others need not know of.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// What the endpoint calls it.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub has_key: bool,
    #[ts(type = "Record<string, unknown>")]
    pub parameters: Map<String, Value>,
    /// False: it takes no pictures. Absent: that is not known before it is asked.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sees_images: Option<bool>,
    /// What a chat can set for it.
    pub takes: Vec<ModelParameter>,
    pub tool_mode: ToolMode,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_seen: Option<ToolUse>,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// How many tokens its tools may take, where somebody has set it.
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_budget: Option<u64>,
    /// Whether its tools are described briefly, because it is a small model.
    pub compact_tools: bool,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Used where a message names no model.
    pub is_default: bool,
    /// Has settings of its own here, which `DELETE` removes.
    pub saved: bool,
    /// Why it cannot be asked now.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unusable: Option<ErrorDetail>,
}

/// What a chat can set for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ModelParameter {
    Temperature,
    TopP,
    MaxTokens,
    Effort,
}

impl ModelParameter {
    /// By the wire format: whether one model in particular takes it comes out when it is asked.
    pub(super) fn taken_by(format: WireFormat) -> Vec<Self> {
        let mut taken = vec![Self::Temperature, Self::TopP, Self::MaxTokens];
        if format != WireFormat::Anthropic {
            taken.push(Self::Effort);
        }
        taken
    }
}

/// How a model came to be in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ModelOrigin {
    Builtin,
    /// Somebody added it.
    Added,
    /// Offered by an endpoint that the environment names.
    Environment,
    /// Offered by a server that was found on this machine.
    Local,
}

/// A model to add.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewModel {
    /// The model's own name where it is left out.
    #[ts(optional)]
    pub name: Option<String>,
    pub provider: WireFormat,
    pub base_url: String,
    #[ts(optional)]
    pub key: Option<String>,
    pub model: String,
    #[ts(optional, type = "Record<string, unknown>")]
    #[serde(default)]
    pub parameters: Map<String, Value>,
    #[ts(optional)]
    pub tool_mode: Option<ToolMode>,
    #[ts(optional, type = "number")]
    pub context_tokens: Option<u64>,
    #[ts(optional, type = "number")]
    pub tool_budget: Option<u64>,
    #[ts(optional)]
    pub prices: Option<Prices>,
    #[ts(optional)]
    pub is_default: Option<bool>,
}

/// A change of a model: what is left out stays as it is.
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ModelChange {
    #[ts(optional)]
    pub name: Option<String>,
    #[ts(optional)]
    pub provider: Option<WireFormat>,
    #[ts(optional)]
    pub base_url: Option<String>,
    /// An empty one removes it.
    #[ts(optional)]
    pub key: Option<String>,
    #[ts(optional)]
    pub model: Option<String>,
    #[ts(optional, type = "Record<string, unknown>")]
    pub parameters: Option<Map<String, Value>>,
    #[ts(optional)]
    pub tool_mode: Option<ToolMode>,
    /// Null forgets it.
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "double_option")]
    pub context_tokens: Option<Option<u64>>,
    /// Null: a tenth of its context.
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "double_option")]
    pub tool_budget: Option<Option<u64>>,
    /// Null forgets them.
    #[ts(optional, type = "Prices | null")]
    #[serde(deserialize_with = "double_option")]
    pub prices: Option<Option<Prices>>,
    #[ts(optional)]
    pub is_default: Option<bool>,
}

/// An address, to find out what it offers.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelDiscoveryRequest {
    pub base_url: String,
    /// Left out, it is found out.
    #[ts(optional)]
    pub provider: Option<WireFormat>,
    #[ts(optional)]
    pub key: Option<String>,
    /// Use the key that is stored with this model.
    #[ts(optional)]
    pub model_id: Option<ModelId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelDiscoveryResponse {
    pub provider: WireFormat,
    /// As it should be saved: `http://localhost:11434` becomes `http://localhost:11434/v1`.
    pub base_url: String,
    pub models: Vec<OfferedModel>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OfferedModel {
    pub model: String,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

/// Where models are looked for without anybody adding them.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EndpointView {
    pub id: String,
    /// "OpenAI", "Ollama"
    pub name: String,
    pub origin: ModelOrigin,
    pub provider: WireFormat,
    /// For admins alone: it may name a host that others need not know of.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    pub models: usize,
    /// Why it offers nothing now; only an admin is told more than that it does not. A server on
    /// this machine that is not running is not listed at all.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
}

coded_errors! {
    /// Why an endpoint offers nothing, where it did not say so itself.
    #[derive(Debug)]
    pub enum EndpointFault {
        Unanswered { address } = "endpoint_unanswered" => "{address} has not answered yet.",
        /// For those who are not told its address.
        NoModels { name } = "endpoint_no_models" => "{name} offers no models now. An admin sees why in the settings.",
    }
}

/// One event of the test of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum TestFrame {
    /// A piece of the short answer.
    Text { text: String },
    /// The answer is there; now its tool calls are tried.
    TryingTools { mode: ToolUse },
    /// The last one.
    Finished {
        /// Whether it answered at all.
        ok: bool,
        /// What went wrong. Where it answered, what was seen could not be stored.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ErrorDetail>,
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        tools: Option<ToolUse>,
        /// The server left the call in the text, where Tenon read it.
        is_in_text: bool,
        /// From the question to the first word.
        #[ts(optional, type = "number")]
        #[serde(skip_serializing_if = "Option::is_none")]
        first_word_ms: Option<u64>,
    },
}

impl ModelView {
    /// Hides the address from non-admins: it may be the name of an internal host, or contain a key.
    pub fn shown_to(self, user: &CurrentUser) -> Self {
        if user.administers() {
            return self;
        }
        let (at, format) = (self.base_url.as_deref(), self.provider);
        let endpoint = self.endpoint.map(|name| hide_host(name, at, format));
        Self {
            endpoint,
            base_url: None,
            ..self
        }
    }
}

impl EndpointView {
    pub fn shown_to(self, user: &CurrentUser) -> Self {
        if user.administers() {
            return self;
        }
        let name = hide_host(self.name, self.base_url.as_deref(), Some(self.provider));
        // Why it failed names its address.
        let error = self.error.map(|_why| {
            let name = (&name).into();
            EndpointFault::NoModels { name }.into()
        });
        Self {
            name,
            base_url: None,
            error,
            ..self
        }
    }
}

/// Names an endpoint that has no better name after its host.
fn hide_host(name: String, base_url: Option<&str>, format: Option<WireFormat>) -> String {
    if !base_url.is_some_and(|url| url.contains(&name)) {
        return name;
    }
    match format {
        Some(WireFormat::Anthropic) => "Anthropic-compatible".into(),
        Some(WireFormat::Openai | WireFormat::Responses) | None => "OpenAI-compatible".into(),
    }
}
