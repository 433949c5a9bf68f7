//! What was found at an address.

use reqwest::header::{HeaderMap, SERVER};

use super::trouble::{Kind, Trouble};

/// A server that a page can use.
#[derive(Debug, Default)]
pub(super) struct Finding {
    pub(super) tools: usize,
    /// What a person should know besides.
    pub(super) notes: Vec<Trouble>,
}

impl Finding {
    pub(super) fn note(&mut self, kind: Kind, message: impl Into<String>) {
        self.notes.push(Trouble::new(kind, message));
    }
}

/// What a server was made with, as far as it shows. It decides which line mends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Maker {
    #[default]
    Unknown,
    Mcpo,
    FastMcp,
    FastApi,
    Express,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    Openapi,
    Mcp,
}

impl Maker {
    pub(super) fn of(headers: &HeaderMap, speaks: Speaks) -> Self {
        let says = |name: &str, word: &str| {
            let value = headers.get(name).map(|value| value.as_bytes());
            let value = String::from_utf8_lossy(value.unwrap_or_default());
            value.to_ascii_lowercase().contains(word)
        };
        match speaks {
            _ if says("x-powered-by", "express") => Self::Express,
            Speaks::Openapi if says(SERVER.as_str(), "uvicorn") => Self::FastApi,
            Speaks::Mcp if says(SERVER.as_str(), "uvicorn") => Self::FastMcp,
            Speaks::Openapi | Speaks::Mcp => Self::Unknown,
        }
    }
}
