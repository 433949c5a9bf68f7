//! What people send to add, change and import sources, and to set secrets.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tenon_domain::SourceCredential;
use ts_rs::TS;

use super::read_model::MaskedValues;
use crate::json::double_option;

/// A source that somebody adds. What belongs to another transport is refused.
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AddSource {
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
    /// `{"type": "basic", "user", "password"}` or
    /// `{"type": "client", "id", "secret", "tokenUrl"?, "scopes"?}`.
    #[ts(optional, type = "Record<string, unknown>")]
    pub credentials: Option<BTreeMap<String, SourceCredential>>,
    #[ts(optional, type = "number")]
    pub timeout_ms: Option<u64>,
    #[ts(optional, type = "Record<string, number>")]
    pub tool_timeouts_ms: Option<BTreeMap<String, u64>>,
    #[ts(optional, type = "number")]
    pub sleep_after_ms: Option<u64>,
    #[ts(optional, type = "number")]
    pub start_timeout_ms: Option<u64>,
    /// Whether it runs once in a cluster of several servers.
    #[ts(optional)]
    pub exclusive: Option<bool>,
    /// What Tenon is known by where people log in, if somebody has registered it there.
    #[ts(optional)]
    pub client_id: Option<String>,
    #[ts(optional)]
    pub client_secret: Option<String>,
    #[ts(optional)]
    pub enabled: Option<bool>,
    /// Whether what it says of its own tools is believed: one that "only reads" needs no approval
    /// then. An admin's to say; left out, an admin trusts what they add.
    #[ts(optional)]
    pub trust_hints: Option<bool>,
}

/// The fields that only MCP servers have.
macro_rules! mcp_only_field {
    ($($request:ident),*) => {$(
        impl $request {
            /// One of them, if any is there.
            pub fn mcp_only_field(&self) -> Option<&'static str> {
                let fields = [
                    ("transport", self.transport.is_some()),
                    ("command", self.command.is_some()),
                    ("args", self.args.is_some()),
                    ("env", self.env.is_some()),
                    ("cwd", self.cwd.is_some()),
                    ("sleepAfterMs", self.sleep_after_ms.is_some()),
                    ("startTimeoutMs", self.start_timeout_ms.is_some()),
                    ("exclusive", self.exclusive.is_some()),
                    ("clientId", self.client_id.is_some()),
                    ("clientSecret", self.client_secret.is_some()),
                ];
                let found = fields.into_iter().find(|(_, is_there)| *is_there);
                found.map(|(field, _)| field)
            }
        }
    )*};
}

mcp_only_field!(AddSource, SourceChange);

/// A change of a source: what is left out stays as it is.
#[derive(Debug, Clone, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SourceChange {
    #[ts(optional)]
    pub title: Option<String>,
    #[ts(optional)]
    pub enabled: Option<bool>,
    /// An admin's to say.
    #[ts(optional)]
    pub trust_hints: Option<bool>,
    #[ts(optional)]
    pub transport: Option<String>,
    #[ts(optional)]
    pub command: Option<String>,
    #[ts(optional)]
    pub args: Option<Vec<String>>,
    /// All of them from now on; `null` keeps the value that is stored under that name.
    #[ts(optional, type = "Record<string, string | null>")]
    pub env: Option<MaskedValues>,
    /// Null: none.
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "double_option")]
    pub cwd: Option<Option<String>>,
    #[ts(optional)]
    pub url: Option<String>,
    /// As `env`.
    #[ts(optional, type = "Record<string, string | null>")]
    pub headers: Option<MaskedValues>,
    #[ts(optional, type = "unknown")]
    pub document: Option<Value>,
    /// Null: none.
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "double_option")]
    pub base_url: Option<Option<String>>,
    /// As `env`.
    #[ts(optional, type = "Record<string, unknown>")]
    pub credentials: Option<BTreeMap<String, Option<SourceCredential>>>,
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "double_option")]
    pub timeout_ms: Option<Option<u64>>,
    #[ts(optional, type = "Record<string, number>")]
    pub tool_timeouts_ms: Option<BTreeMap<String, u64>>,
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "double_option")]
    pub sleep_after_ms: Option<Option<u64>>,
    #[ts(optional, type = "number | null")]
    #[serde(deserialize_with = "double_option")]
    pub start_timeout_ms: Option<Option<u64>>,
    #[ts(optional)]
    pub exclusive: Option<bool>,
    /// Null: none.
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "double_option")]
    pub client_id: Option<Option<String>>,
    #[ts(optional, type = "string | null")]
    #[serde(deserialize_with = "double_option")]
    pub client_secret: Option<Option<String>>,
}

/// A text people have from elsewhere: an
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

/// A secret that is set.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSecret {
    pub value: String,
    /// For this person alone; everybody's are an admin's to set.
    #[serde(default)]
    pub mine: bool,
}
