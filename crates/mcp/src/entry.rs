//! Entries of the lists that a server has beside that of its tools.

use serde_json::{Map, Value};

/// A list of entries that are no tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    Resources,
    ResourceTemplates,
    Prompts,
}

/// An entry of a list, as the server wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListEntry {
    /// The URI, the URI template or the name.
    pub key: String,
    pub fields: Map<String, Value>,
}

/// How often each list may have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListVersions {
    pub resources: u64,
    pub prompts: u64,
}

impl EntryKind {
    /// The field that an entry is asked for by.
    pub fn key(self) -> &'static str {
        match self {
            Self::Resources => "uri",
            Self::ResourceTemplates => "uriTemplate",
            Self::Prompts => "name",
        }
    }

    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::Resources | Self::ResourceTemplates => "resources",
            Self::Prompts => "prompts",
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }
}
