//! The JSON of `/api/sources` and `/api/secrets`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{Credential, FormAnswer, FormId, SourceId, SourceKind, SourceState};
use ts_rs::TS;

use super::{CauseView, DocumentView, StartupView, present};

/// `GET /api/sources`: the servers this person has tools from, shared ones and
/// their own. `POST` and `PATCH` answer with one of these too, `GET /api/sources/{id}` as well.
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
    /// For this person: where everybody logs in for themself, it is as their own connection is.
    #[serde(flatten)]
    pub state: SourceState,
    pub tools: usize,
    /// What is listed is what it offered when it last worked.
    pub stale: bool,
    /// Tools that could not be taken, and other things worth knowing, as sentences.
    pub problems: Vec<String>,
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
pub type Hidden = BTreeMap<String, Option<String>>;

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
        env: Hidden,
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        #[serde(flatten)]
        limits: SourceLimits,
    },
    Http {
        url: String,
        #[ts(type = "Record<string, string | null>")]
        headers: Hidden,
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
        headers: Hidden,
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
        headers: Hidden,
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
}

/// `POST /api/sources` (201). What belongs to another transport is refused.
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewSource {
    /// "mcp" or "openapi"
    pub kind: String,
    /// Letters, digits, `-` and `_`; part of its tools' ids.
    pub name: String,
    /// For people; the name where it is left out.
    #[ts(optional)]
    pub title: Option<String>,
    /// For this person alone. Who is no admin can do nothing else.
    #[ts(optional)]
    pub mine: Option<bool>,
    /// "stdio", "http" or "sse"; found out from `command` or `url` where it is left out.
    #[ts(optional)]
    pub transport: Option<String>,
    #[ts(optional)]
    pub command: Option<String>,
    #[ts(optional)]
    pub args: Option<Vec<String>>,
    #[ts(optional, type = "Record<string, string>")]
    pub env: Option<BTreeMap<String, String>>,
    #[ts(optional)]
    pub cwd: Option<String>,
    #[ts(optional)]
    pub url: Option<String>,
    #[ts(optional, type = "Record<string, string>")]
    pub headers: Option<BTreeMap<String, String>>,
    /// The OpenAPI document itself, as text or as JSON, in the place of `url`.
    #[ts(optional, type = "unknown")]
    pub document: Option<Value>,
    /// Where requests go, if not where the document says.
    #[ts(optional)]
    pub base_url: Option<String>,
    /// By the names of the document's security schemes: `{"type": "key", "value"}`,
    /// `{"type": "basic", "user", "password"}` or `{"type": "client", "id", "secret", "tokenUrl"?, "scopes"?}`.
    #[ts(optional, type = "Record<string, unknown>")]
    pub credentials: Option<BTreeMap<String, Credential>>,
    #[ts(optional, type = "number")]
    pub timeout_ms: Option<u64>,
    #[ts(optional, type = "Record<string, number>")]
    pub tool_timeouts_ms: Option<BTreeMap<String, u64>>,
    #[ts(optional, type = "number")]
    pub sleep_after_ms: Option<u64>,
    #[ts(optional, type = "number")]
    pub start_timeout_ms: Option<u64>,
    /// What Tenon is known by where people log in, if somebody has registered it there.
    #[ts(optional)]
    pub client_id: Option<String>,
    #[ts(optional)]
    pub client_secret: Option<String>,
    #[ts(optional)]
    pub enabled: Option<bool>,
}

/// The fields that only MCP servers have.
macro_rules! of_mcp_alone {
    ($($asked:ident),*) => {$(
        impl $asked {
            /// One of them, if any is said.
            pub fn of_mcp_alone(&self) -> Option<&'static str> {
                let said = [
                    ("transport", self.transport.is_some()),
                    ("command", self.command.is_some()),
                    ("args", self.args.is_some()),
                    ("env", self.env.is_some()),
                    ("cwd", self.cwd.is_some()),
                    ("sleepAfterMs", self.sleep_after_ms.is_some()),
                    ("startTimeoutMs", self.start_timeout_ms.is_some()),
                    ("clientId", self.client_id.is_some()),
                    ("clientSecret", self.client_secret.is_some()),
                ];
                let found = said.into_iter().find(|(_, is_said)| *is_said);
                found.map(|(field, _)| field)
            }
        }
    )*};
}

of_mcp_alone!(NewSource, SourceChange);

/// `PATCH /api/sources/{id}`: what is left out stays as it is.
#[derive(Debug, Clone, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SourceChange {
    #[ts(optional)]
    pub title: Option<String>,
    #[ts(optional)]
    pub enabled: Option<bool>,
    #[ts(optional)]
    pub transport: Option<String>,
    #[ts(optional)]
    pub command: Option<String>,
    #[ts(optional)]
    pub args: Option<Vec<String>>,
    /// All of them from now on; `null` keeps the value that is stored under that name.
    #[ts(optional, type = "Record<string, string | null>")]
    pub env: Option<Hidden>,
    /// Null: none.
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "present")]
    pub cwd: Option<Option<String>>,
    #[ts(optional)]
    pub url: Option<String>,
    /// As `env`.
    #[ts(optional, type = "Record<string, string | null>")]
    pub headers: Option<Hidden>,
    #[ts(optional, type = "unknown")]
    pub document: Option<Value>,
    /// Null: none.
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "present")]
    pub base_url: Option<Option<String>>,
    /// As `env`.
    #[ts(optional, type = "Record<string, unknown>")]
    pub credentials: Option<BTreeMap<String, Option<Credential>>>,
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "present")]
    pub timeout_ms: Option<Option<u64>>,
    #[ts(optional, type = "Record<string, number>")]
    pub tool_timeouts_ms: Option<BTreeMap<String, u64>>,
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "present")]
    pub sleep_after_ms: Option<Option<u64>>,
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "present")]
    pub start_timeout_ms: Option<Option<u64>>,
    /// Null: none.
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "present")]
    pub client_id: Option<Option<String>>,
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "present")]
    pub client_secret: Option<Option<String>>,
}

/// `GET /api/sources/{id}/logs`: what its process wrote to standard error, and
/// what Tenon noticed about it, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    #[ts(type = "number")]
    pub at: i64,
    /// Tenon's own words. Otherwise the server's.
    pub ours: bool,
    pub text: String,
}

/// `POST /api/sources/import`: a text people have from elsewhere, an
/// `mcpServers` or `servers` JSON, a YAML of Toolathlon, the connections of Open WebUI, a whole
/// OpenAPI document or the address of one.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportSources {
    pub text: String,
    /// Only say what would be added.
    #[serde(default)]
    pub preview: bool,
    /// For this person alone.
    #[ts(optional)]
    pub mine: Option<bool>,
    /// These of them alone, by name.
    #[ts(optional)]
    pub only: Option<Vec<String>>,
}

/// What is in it, server by server: one that cannot be used does not spoil the others.
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
    pub refused: Option<String>,
    /// Variables in it that nobody has set yet, `user.` before those of this person.
    pub unset: Vec<String>,
    /// What was left out or changed, as sentences.
    pub notes: Vec<String>,
}

/// `POST /api/sources/{id}/login`: where to log in. `DELETE` ends it and revokes it there.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoginStart {
    pub url: String,
}

/// `GET /api/secrets`: names only. `PUT /api/secrets/{name}` and `DELETE` (204).
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    pub name: String,
    /// This person's own, `${user.NAME}`. Otherwise everybody's, `${NAME}`.
    pub mine: bool,
    #[ts(type = "number")]
    pub updated_at: i64,
}

#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSecret {
    pub value: String,
    /// For this person alone; everybody's are an admin's to set.
    #[serde(default)]
    pub mine: bool,
}

/// `POST /api/calls/{id}/form` (204): what a person answers to a tool that asks.
/// 409 where the form no longer waits; 422 where a field does not fit, and then
/// it still does. Not for keys with less than full access.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerForm {
    pub form_id: FormId,
    #[serde(flatten)]
    pub answer: FormAnswer,
}

/// The frame `source:state`: a source has changed for those who see it.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceNews {
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
