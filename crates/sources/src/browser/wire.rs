//! The messages between a page and the server about tools on the page's machine.
//!
//! `ts(rename)` keeps the names that the page knows them by.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{CallId, ChatId, ErrorDetail, MessageId, SourceId, ToolId};
use ts_rs::TS;

use super::wire_request::{WireBody, WireRequest};

/// `tools:register`: everything that a page has found, and nothing else.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    pub device: DeviceInfo,
    /// One load of a page, so that it is known again after its connection was away.
    pub page: String,
    pub servers: Vec<DiscoveredServer>,
    /// Addresses it has not finished looking at: nothing is said of them yet.
    #[serde(default)]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub looking: Vec<String>,
    /// The calls it still works on.
    #[serde(default)]
    #[ts(as = "Option<Vec<CallId>>", optional)]
    pub calls: Vec<CallId>,
}

/// One computer of one person: its browsers register under the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeviceInfo {
    pub id: String,
    /// The name that the person gave the computer.
    pub name: String,
}

/// A server that answers a page.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveredServer {
    /// The address that the person enabled. Nothing is sent anywhere else.
    pub url: String,
    /// Name of the server if several are behind one address; empty if there is only one.
    #[serde(default)]
    pub name: String,
    /// The title that the server gives itself.
    #[serde(default)]
    pub title: String,
    pub via: LocalProtocol,
    /// Hash of the description, computed by the page: equal hashes mean equal descriptions.
    pub hash: String,
    /// Left out where Tenon may have it already.
    #[ts(optional)]
    pub offered: Option<DiscoveredTools>,
}

/// How a page talks to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum LocalProtocol {
    /// OpenAPI, behind an mcpo.
    Mcpo,
    Openapi,
    Mcp,
}

impl LocalProtocol {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcpo => "mcpo",
            Self::Openapi => "openapi",
            Self::Mcp => "mcp",
        }
    }

    /// Restores the kind from its stored name.
    pub fn named(name: &str) -> Self {
        match name {
            "mcpo" => Self::Mcpo,
            "mcp" => Self::Mcp,
            _ => Self::Openapi,
        }
    }
}

/// The description of a server's tools: an OpenAPI document or an MCP tool list.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
pub enum DiscoveredTools {
    Openapi {
        /// JSON or YAML.
        document: String,
        /// Where it was read.
        url: String,
    },
    Mcp {
        /// Entries of the `tools/list` result.
        #[ts(type = "unknown[]")]
        tools: Vec<Value>,
    },
}

/// `tools:registered`: the outcome of a registration, in the order of the servers in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationResult {
    pub servers: Vec<RegisteredServer>,
    /// Why nothing of it was taken in.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ErrorDetail>,
}

impl RegistrationResult {
    pub fn refused(why: ErrorDetail) -> Self {
        Self {
            servers: Vec::new(),
            problem: Some(why),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredServer {
    pub url: String,
    pub name: String,
    pub source_id: SourceId,
    pub tools: usize,
    /// Tenon does not know this description, so the page has to send it.
    pub wanted: bool,
    /// Set if nothing of the description can be used.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ErrorDetail>,
    /// Parts of the description that were left out.
    pub notes: Vec<ErrorDetail>,
}

/// A command from Tenon to a page.
#[derive(Debug, Clone)]
pub enum PageCommand {
    Execute(Box<ExecuteTool>),
    Cancel { call_id: CallId },
}

/// `execute:tool`: a call, for a page to make.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
pub struct ExecuteTool {
    pub call_id: CallId,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_id: Option<ToolId>,
    /// The native name of the tool at its server.
    pub tool_name: String,
    #[ts(type = "Record<string, unknown>")]
    pub tool_args: Value,
    /// The address that the person enabled.
    pub server_url: String,
    /// The HTTP request to send. None if the tool is called over MCP.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<WireRequest>,
    /// How long the call may take without progress.
    #[ts(type = "number")]
    pub deadline_ms: u64,
}

/// `tool:result`: a call has ended.
#[derive(Debug, Clone, Deserialize, TS)]
pub struct LocalCallResult {
    pub call_id: CallId,
    #[serde(flatten)]
    pub outcome: LocalCallOutcome,
}

#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum LocalCallOutcome {
    /// An HTTP response, whatever its status.
    Http {
        status: u16,
        headers: Vec<(String, String)>,
        #[ts(optional)]
        body: Option<WireBody>,
    },
    /// The result of `tools/call`, unchanged.
    Mcp {
        #[ts(type = "unknown")]
        result: Value,
    },
    Failed {
        error: LocalCallFailure,
    },
}

impl LocalCallOutcome {
    /// The length of its body as a string.
    pub(super) fn body_bytes(&self) -> usize {
        match self {
            Self::Http { body, .. } => match body {
                Some(WireBody::Text { text }) => text.len(),
                Some(WireBody::Base64 { data }) => data.len(),
                None => 0,
            },
            // It is a value already.
            Self::Mcp { .. } | Self::Failed { .. } => 0,
        }
    }
}

/// Why a page could not do it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LocalCallFailure {
    pub kind: LocalFailureKind,
    /// A sentence.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LocalFailureKind {
    /// The server was not reached: most likely nothing has been done.
    Unreachable,
    /// The browser or the person does not allow it: nothing has been done.
    Refused,
    /// The call exceeded its deadline.
    TimedOut,
    /// The request was sent, but its outcome is unknown.
    Broken,
    /// The server said that it failed.
    Failed,
    /// Another page has begun with it.
    Taken,
}
