//! Sources as people see them.

use std::collections::BTreeMap;

use serde::Serialize;
use tenon_domain::{ErrorDetail, SourceId, SourceKind, SourceState};
use ts_rs::TS;

use super::document_view::DocumentView;
use super::status_view::{CauseView, StartupView};

/// A source that this person has tools from, shared or their own.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceDetail {
    pub id: SourceId,
    pub kind: SourceKind,
    pub name: String,
    pub title: String,
    pub origin: SourceOrigin,
    /// Only this person sees it. Otherwise everybody does.
    pub mine: bool,
    /// Whether this person may change, restart and remove it.
    pub editable: bool,
    pub enabled: bool,
    /// What it says of its own tools is believed: one that "only reads" needs no approval. Only an
    /// admin changes it.
    pub trust_hints: bool,
    /// For this person: where everybody logs in for themself, it is as their own connection is.
    #[serde(flatten)]
    pub state: SourceState,
    pub tools: usize,
    /// What is listed is what it offered when it last worked.
    pub stale: bool,
    /// Tools that could not be taken, and other things worth knowing.
    pub problems: Vec<ErrorDetail>,
    /// How it is reached. For those who may change it.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<SourceReach>,
    /// What it said of itself, once it was talked to.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerAbout>,
    /// Where one has to log in to use it.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<LoginState>,
    /// Secrets of their own that this person has to set before it works for them.
    pub missing: Vec<String>,
    /// Variables that nobody has set and it does not start without, `user.` before those
    /// of this person.
    pub unset: Vec<String>,
    /// How often it was started again since Tenon was.
    #[ts(type = "number")]
    pub restarts: u64,
    /// The process, where it is one.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How far a start is that is under way.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup: Option<StartupView>,
    /// Why its program ended, where it has and is not up again. For those who may read its log.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<CauseView>,
    /// What its document says, where it has one.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentView>,
}

/// What satisfies a security scheme, without its secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    Key,
    Basic,
    Client,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SourceOrigin {
    /// Somebody added it.
    Added,
    /// It stands in a file of the watched folder, in the settings file or in the variable
    /// `TOOL_SERVER_CONNECTIONS`, and is changed there.
    File { file: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerAbout {
    pub name: String,
    pub version: String,
    /// "2025-11-25"
    pub protocol: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum LoginState {
    /// This person has not logged in there, or what they got has ended.
    Needed,
    Connected,
}

/// `null` stands for a value that is kept and not shown. One that is only made
/// of `${NAME}`s is shown.
pub type MaskedValues = BTreeMap<String, Option<String>>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(
    tag = "transport",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
pub enum SourceReach {
    Stdio {
        command: String,
        args: Vec<String>,
        #[ts(type = "Record<string, string | null>")]
        env: MaskedValues,
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(flatten)]
        limits: SourceLimits,
    },
    Http {
        url: String,
        #[ts(type = "Record<string, string | null>")]
        headers: MaskedValues,
        /// What Tenon is known by where people log in, if somebody has registered it there.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
        #[serde(flatten)]
        limits: SourceLimits,
    },
    Sse {
        url: String,
        #[ts(type = "Record<string, string | null>")]
        headers: MaskedValues,
        /// What Tenon is known by where people log in, if somebody has registered it there.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
        #[serde(flatten)]
        limits: SourceLimits,
    },
    /// An OpenAPI server.
    Openapi {
        /// Where its document is. Not there: somebody gave it.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// Where requests go, if not where the document says.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        base_url: Option<String>,
        #[ts(type = "Record<string, string | null>")]
        headers: MaskedValues,
        #[ts(type = "Record<string, CredentialKind>")]
        credentials: BTreeMap<String, CredentialKind>,
        #[serde(flatten)]
        limits: SourceLimits,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceLimits {
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[ts(type = "Record<string, number>")]
    pub tool_timeouts_ms: BTreeMap<String, u64>,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_after_ms: Option<u64>,
    /// How long it may take to come up. Left out: five minutes for a program, one for an address.
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_timeout_ms: Option<u64>,
    /// It runs once in a cluster of several servers.
    #[ts(as = "Option<bool>", optional)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclusive: bool,
}

/// A line of what its process wrote to standard error, or of what Tenon noticed about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    #[ts(type = "number")]
    pub at: i64,
    /// Tenon's own words. Otherwise the server's.
    pub ours: bool,
    pub text: String,
}

/// A source of an imported text: one that cannot be used does not spoil the others.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportedSource {
    pub name: String,
    /// "npx -y @modelcontextprotocol/server-memory", "https://…"
    pub summary: String,
    /// What was, or would be, added.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<SourceId>,
    /// Why it was not, or would not be.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<ErrorDetail>,
    /// Variables in it that nobody has set yet, `user.` before those of this person.
    pub unset: Vec<String>,
    /// What was left out or changed.
    pub notes: Vec<ErrorDetail>,
}

/// A secret: its name only.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    pub name: String,
    /// This person's own, `${user.NAME}`. Otherwise everybody's, `${NAME}`.
    pub mine: bool,
    #[ts(type = "number")]
    pub updated_at: i64,
}

/// A source has changed for those who see it.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceUpdate {
    pub source_id: SourceId,
    /// It is not there any more.
    pub gone: bool,
    #[serde(flatten)]
    pub state: SourceState,
    /// How far a start is that is under way.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup: Option<StartupView>,
    pub tools: usize,
    /// Changes whenever the list of tools does.
    #[ts(type = "number")]
    pub revision: u64,
}
