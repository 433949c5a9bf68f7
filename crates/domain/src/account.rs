//! User accounts, API keys, and how a request came in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::id::{KeyId, UserId};
use crate::pattern::Pattern;

/// A person who can log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    pub id: UserId,
    pub email: String,
    pub name: String,
    pub role: UserRole,
    /// Cannot log in; nothing of theirs is lost.
    pub disabled: bool,
    #[ts(type = "number")]
    pub created_at: i64,
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_login_at: Option<i64>,
}

/// Tells the owner of an e-mail address what was switched off in their account when they took
/// it over from somebody else who had used it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct HandoverNotice {
    #[ts(type = "number")]
    pub at: i64,
    /// By their names. They are still there and can be switched on again.
    pub servers: Vec<String>,
    /// What follows is gone, and was so many.
    #[ts(type = "number")]
    pub server_log_ins: u64,
    #[ts(type = "number")]
    pub secrets: u64,
    #[ts(type = "number")]
    pub shares: u64,
    /// Tools that were used without asking.
    #[ts(type = "number")]
    pub allowed_tools: u64,
    /// Found by browsers on the machines they were on.
    #[ts(type = "number")]
    pub local_servers: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum UserRole {
    /// Also adds models and servers, and looks after accounts.
    Admin,
    #[default]
    User,
}

/// What a key may do of what its owner may.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct KeyScope {
    pub access: KeyAccess,
    /// Tools that it may call, and a model that works for it, although their policy is to ask:
    /// nobody can be asked there.
    pub allow: Vec<Pattern>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum KeyAccess {
    /// Everything its owner may.
    #[default]
    Full,
    /// Chats and tools, no administration.
    Use,
    /// Look at things, change nothing and call nothing.
    Read,
}

/// How a request came in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(into = "String", try_from = "String")]
#[ts(type = "string")]
pub enum EntryPoint {
    #[default]
    Page,
    Key(KeyId),
    Shell,
}

/// By which of Tenon's interfaces a call outside of any chat came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallInterface {
    Page,
    /// `/api` with a key.
    Api,
    /// `/v1`, where a model calls.
    V1,
    Mcp,
    Mcpo,
    Shell,
}

/// A text that names no entry point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no entry point called {0:?}")]
pub struct UnknownEntryPoint(pub String);

impl EntryPoint {
    /// Whether a person is there who can be asked for approval.
    pub fn is_interactive(&self) -> bool {
        matches!(self, Self::Page)
    }
}

impl From<&EntryPoint> for CallInterface {
    /// The one that is there for whoever comes in so.
    fn from(entry: &EntryPoint) -> Self {
        match entry {
            EntryPoint::Page => Self::Page,
            EntryPoint::Key(_) => Self::Api,
            EntryPoint::Shell => Self::Shell,
        }
    }
}

impl fmt::Display for EntryPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page => f.write_str("page"),
            Self::Key(id) => write!(f, "key:{id}"),
            Self::Shell => f.write_str("shell"),
        }
    }
}

impl FromStr for EntryPoint {
    type Err = UnknownEntryPoint;

    fn from_str(text: &str) -> Result<Self, UnknownEntryPoint> {
        match text.split_once(':') {
            None if text == "page" => Ok(Self::Page),
            None if text == "shell" => Ok(Self::Shell),
            Some(("key", id)) => Ok(Self::Key(KeyId::new(id))),
            _ => Err(UnknownEntryPoint(text.to_owned())),
        }
    }
}

impl From<EntryPoint> for String {
    fn from(door: EntryPoint) -> Self {
        door.to_string()
    }
}

impl TryFrom<String> for EntryPoint {
    type Error = UnknownEntryPoint;

    fn try_from(text: String) -> Result<Self, UnknownEntryPoint> {
        text.parse()
    }
}

impl UserRole {
    pub fn is_admin(self) -> bool {
        self == Self::Admin
    }
}
