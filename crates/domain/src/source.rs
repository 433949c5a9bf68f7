//! What offers tools, and how it is configured.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::error::ErrorDetail;
use crate::id::{SourceId, ToolId, UserId};
use crate::tool::{RunsOn, ToolDefinition, ToolSpec};

/// Who a source is, for the registry, the API and the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceInfo {
    pub id: SourceId,
    pub kind: SourceKind,
    /// Part of the tools' ids: "filesystem" in `mcp_filesystem_read_file`.
    pub name: String,
    /// Part of the tools' display names.
    pub title: String,
    /// Only this person sees and calls its tools; nobody in particular means everybody.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<UserId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    Builtin,
    Skill,
    Mcp,
    Openapi,
    Browser,
}

impl SourceKind {
    /// Where calls to such a source are executed.
    pub fn runs_on(self) -> RunsOn {
        match self {
            Self::Builtin | Self::Skill | Self::Mcp | Self::Openapi => RunsOn::Server,
            Self::Browser => RunsOn::Browser,
        }
    }
}

/// Whether a source can be called now. A dead source shortens the list; it never breaks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum SourceState {
    /// On its way up. What it offered last time is listed meanwhile, and calls wait for it.
    Starting,
    Ready,
    /// It works, or will in a moment, but not as it should.
    Degraded {
        why: ErrorDetail,
    },
    /// It cannot be used. What it offered last time is listed, but not to models.
    Failed {
        why: ErrorDetail,
    },
    /// It was not needed for a while. The next call wakes it.
    Sleeping,
    /// A person switched it off.
    Off,
    /// Whoever runs it is away: a browser that has no page of Tenon open.
    Offline,
}

impl SourceInfo {
    /// One of its tools, under the id that it was given.
    pub fn spec(&self, id: ToolId, definition: ToolDefinition) -> ToolSpec {
        let title = definition.title.unwrap_or_else(|| definition.name.clone());
        ToolSpec {
            id,
            display_name: format!("{}/{title}", self.title),
            title,
            name: definition.name,
            description: definition.description,
            input_schema: definition.input_schema,
            annotations: definition.annotations,
            runs_on: self.kind.runs_on(),
        }
    }
}

impl SourceState {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Degraded { .. } => "degraded",
            Self::Failed { .. } => "failed",
            Self::Sleeping => "sleeping",
            Self::Off => "off",
            Self::Offline => "offline",
        }
    }

    /// Whether a call has a chance.
    pub fn can_be_called(&self) -> bool {
        match self {
            Self::Starting | Self::Ready | Self::Degraded { .. } | Self::Sleeping => true,
            Self::Failed { .. } | Self::Off | Self::Offline => false,
        }
    }
}

/// How a source is reached, as a person or a file configures it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SourceConfig {
    Mcp(McpConfig),
    Openapi(OpenapiConfig),
}

/// The tools that come with Tenon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BuiltinConfig {
    /// Whether `fetch_url` may reach loopback and private addresses. An admin's decision.
    pub allow_private_networks: bool,
    /// Where `web_search` searches. None: there is no such tool.
    #[serde(skip)]
    pub web_search: Option<WebSearchConfig>,
}

/// A search service with the API of serper.dev.
#[derive(Clone, PartialEq, Eq)]
pub struct WebSearchConfig {
    pub url: String,
    pub key: String,
}

impl WebSearchConfig {
    /// At serper.dev itself.
    pub fn new(key: impl Into<String>) -> Self {
        Self {
            url: "https://google.serper.dev".into(),
            key: key.into(),
        }
    }
}

/// Without the key.
impl fmt::Debug for WebSearchConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSearchConfig")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// An MCP server. Its texts may hold `${NAME}`s, which are filled in when it is started.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpConfig {
    #[serde(flatten)]
    pub transport: McpTransport,
    /// How long a call may take without a sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The same for single tools, by their native names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_timeouts_ms: BTreeMap<String, u64>,
    /// How long it may be idle before it is put to sleep. None: it stays awake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep_after_ms: Option<u64>,
    /// How long it may take to come up, if not as long as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_timeout_ms: Option<u64>,
    /// It runs once in a cluster of several servers, and not once at each of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclusive: bool,
    /// Who Tenon is where people log in, if somebody has registered it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<McpClient>,
}

/// What an authorisation server knows Tenon by.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpClient {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A transport of MCP, without what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpTransportKind {
    Stdio,
    Http,
    Sse,
}

/// How an MCP server is talked to.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "lowercase")]
pub enum McpTransport {
    /// A program on this machine, over its standard input and output.
    Stdio {
        command: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Streamable HTTP, or legacy SSE where the address turns out to be that.
    Http {
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// Legacy HTTP with SSE.
    Sse {
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// An OpenAPI server, or an mcpo with several behind it. Its texts may hold
/// `${NAME}`s, which are filled in when it is started.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenapiConfig {
    #[serde(flatten)]
    pub origin: OpenapiOrigin,
    /// Where requests go, if not where the document says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Sent for its document and with every request, to these two addresses alone.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// By the names of the document's security schemes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, SourceCredential>,
    /// How long a call may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The same for single tools, by their native names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_timeouts_ms: BTreeMap<String, u64>,
}

impl OpenapiConfig {
    /// With an origin and no other setting.
    pub fn new(origin: OpenapiOrigin) -> Self {
        Self {
            origin,
            base_url: None,
            headers: BTreeMap::new(),
            credentials: BTreeMap::new(),
            timeout_ms: None,
            tool_timeouts_ms: BTreeMap::new(),
        }
    }
}

/// Where the document is.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum OpenapiOrigin {
    /// The address of a document, or of a server that has one at `/openapi.json`.
    Url { url: String },
    /// A document that was uploaded, by its hash.
    Uploaded { document_hash: String },
}

/// What satisfies a security scheme.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum SourceCredential {
    /// An API key or a bearer token.
    Key {
        value: String,
    },
    Basic {
        user: String,
        password: String,
    },
    /// OAuth client credentials. The document says where, unless this does.
    Client {
        id: String,
        secret: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scopes: Option<String>,
    },
}

impl SourceCredential {
    /// Everything it is shown with, but not where.
    pub fn texts(&self) -> Vec<&String> {
        match self {
            Self::Key { value } => vec![value],
            Self::Basic { user, password } => vec![user, password],
            Self::Client {
                id,
                secret,
                token_url: _,
                scopes,
            } => [id, secret].into_iter().chain(scopes).collect(),
        }
    }

    /// Where it is taken to for a token, where it says so itself.
    pub fn token_url(&self) -> Option<&String> {
        match self {
            Self::Client { token_url, .. } => token_url.as_ref(),
            Self::Key { .. } | Self::Basic { .. } => None,
        }
    }
}

impl fmt::Debug for OpenapiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenapiConfig").finish_non_exhaustive()
    }
}

impl fmt::Debug for OpenapiOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { .. } => f.write_str("Url"),
            Self::Uploaded { document_hash } => {
                f.debug_tuple("Uploaded").field(document_hash).finish()
            }
        }
    }
}

impl fmt::Debug for SourceCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceCredential").finish_non_exhaustive()
    }
}

/// Values of variables and headers, and addresses, may be secrets.
impl fmt::Debug for McpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpConfig")
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpClient").field(&self.id).finish()
    }
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, .. } => f.debug_tuple("Stdio").field(command).finish(),
            Self::Http { .. } => f.write_str("Http"),
            Self::Sse { .. } => f.write_str("Sse"),
        }
    }
}
