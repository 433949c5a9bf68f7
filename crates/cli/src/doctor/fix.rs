//! Suggested fixes: the lines that make a server usable for a page. All of them are in the table
//! `fixes.json`, by the problems they mend.

use anyhow::Context;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};
use tenon_server::guard::csp_allows;
use url::Url;

use super::address::with_scheme;
use super::problem::ProblemKind;
use super::rules::{origin, values};

const FIXES: &str = include_str!("fixes.json");

/// One way to mend it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fix {
    /// What to do with the lines.
    pub(super) what: String,
    pub(super) lines: Vec<String>,
}

/// A row of the table.
#[derive(Debug, Deserialize)]
struct FixTemplate {
    #[serde(rename = "for")]
    kinds: Vec<ProblemKind>,
    /// Of which it is; of any without.
    #[serde(default)]
    frameworks: Vec<ServerFramework>,
    when: Option<FixCondition>,
    #[serde(flatten)]
    fix: Fix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum FixCondition {
    /// Tenon's policy lets its page use the server over https.
    TlsAllowed,
    KeyGiven,
    NoKeyGiven,
}

/// The framework a server was made with, as far as its responses show. It decides which fix is
/// printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ServerFramework {
    #[default]
    Unknown,
    Mcpo,
    FastMcp,
    FastApi,
    Express,
}

impl ServerFramework {
    /// By the headers of a response.
    pub(super) fn of(headers: &HeaderMap, in_python: Self) -> Self {
        let says = |name: &str, word: &str| {
            let values = values(headers, name).join(",");
            values.to_ascii_lowercase().contains(word)
        };
        if says("x-powered-by", "express") {
            Self::Express
        } else if says("server", "uvicorn") {
            in_python
        } else {
            Self::Unknown
        }
    }
}

/// The server that was examined, and for whom.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) framework: ServerFramework,
    /// A key was given along.
    pub(super) has_key: bool,
    pub(super) url: &'a Url,
    pub(super) page: &'a Url,
}

impl Case<'_> {
    pub(super) fn fixes(&self, kind: ProblemKind) -> anyhow::Result<Vec<Fix>> {
        let table: Vec<FixTemplate> = serde_json::from_str(FIXES).context("fixes.json")?;
        let rows = table.into_iter().filter(|row| {
            let is_made_so = || row.frameworks.contains(&self.framework);
            row.kinds.contains(&kind)
                && (row.frameworks.is_empty() || is_made_so())
                && row.when.is_none_or(|condition| self.meets(condition))
        });
        Ok(rows.map(|row| self.fill(row.fix)).collect())
    }

    fn meets(&self, condition: FixCondition) -> bool {
        match condition {
            FixCondition::TlsAllowed => csp_allows(&with_scheme(self.url, "https")),
            FixCondition::KeyGiven => self.has_key,
            FixCondition::NoKeyGiven => !self.has_key,
        }
    }

    fn fill(&self, fix: Fix) -> Fix {
        let port = self.url.port_or_known_default().unwrap_or_default();
        let local = match self.url.port() {
            Some(port) => format!("http://localhost:{port}"),
            None => "http://localhost".to_owned(),
        };
        let values = [
            ("{page}", origin(self.page)),
            ("{port}", port.to_string()),
            ("{local}", local),
            ("{http}", with_scheme(self.url, "http").to_string()),
            ("{https}", with_scheme(self.url, "https").to_string()),
        ];
        let filled = |line: String| {
            let replace = |line: String, (name, value): &(&str, String)| line.replace(name, value);
            values.iter().fold(line, replace)
        };
        Fix {
            what: fix.what,
            lines: fix.lines.into_iter().map(filled).collect(),
        }
    }
}
