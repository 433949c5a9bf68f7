//! A server that was found, and which framework it was made with.

use reqwest::header::{HeaderMap, SERVER};

use super::problem::{DoctorProblem, ProblemKind};

/// A server that a page can use.
#[derive(Debug, Default)]
pub(super) struct UsableServer {
    pub(super) tools: usize,
    /// What a person should know besides.
    pub(super) notes: Vec<DoctorProblem>,
}

impl UsableServer {
    pub(super) fn note(&mut self, kind: ProblemKind, message: impl Into<String>) {
        self.notes.push(DoctorProblem::new(kind, message));
    }
}

/// What a server was made with, as far as it shows. It decides which line mends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ServerFramework {
    #[default]
    Unknown,
    Mcpo,
    FastMcp,
    FastApi,
    Express,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerProtocol {
    Openapi,
    Mcp,
}

impl ServerFramework {
    pub(super) fn of(headers: &HeaderMap, speaks: ServerProtocol) -> Self {
        let says = |name: &str, word: &str| {
            let value = headers.get(name).map(|value| value.as_bytes());
            let value = String::from_utf8_lossy(value.unwrap_or_default());
            value.to_ascii_lowercase().contains(word)
        };
        match speaks {
            _ if says("x-powered-by", "express") => Self::Express,
            ServerProtocol::Openapi if says(SERVER.as_str(), "uvicorn") => Self::FastApi,
            ServerProtocol::Mcp if says(SERVER.as_str(), "uvicorn") => Self::FastMcp,
            ServerProtocol::Openapi | ServerProtocol::Mcp => Self::Unknown,
        }
    }
}
